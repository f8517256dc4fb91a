"""Every path with a digest that a study of the checkout leads to is the one that finished studies have."""

import pytest

from tests.made.known_paths import CONFIGS, KNOWN, known_paths, made_up_machine, sizes, stored

STORED = stored()
STUDIES = {(config.stem, size): config for config in CONFIGS for size in sizes(config)}


def test_every_study_has_its_paths_stored():
    assert STORED.keys() == STUDIES.keys(), f"a study is new or gone: `python -m tests.made.known_paths` writes {KNOWN}"


@pytest.mark.parametrize(("name", "size"), sorted(STORED.keys() & STUDIES.keys()))
def test_paths_of_a_study_are_those_of_its_finished_results(name, size):
    """A difference means that finished studies would compile, train or measure again; was it meant?"""
    with made_up_machine():
        found = known_paths(STUDIES[name, size], size)
    gone, new = sorted(set(STORED[name, size]) - set(found)), sorted(set(found) - set(STORED[name, size]))
    assert (gone, new) == ([], [])
