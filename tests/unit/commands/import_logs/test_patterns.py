"""Names in a pattern file are texts as written, and one that matches nothing is an error that lists what there is."""

import re

import pytest

from scripts.commands.import_logs.imported_description import study_description
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern import NamedRun
from scripts.commands.import_logs.pattern_file import read_pattern
from tests.made.logs import LAID_OUT, log, write

TIERED = "{variant}/{tier}/{workload}_{clients}.log"
OPTIONAL = r"regex: '(?P<variant>[^/]+)/bench\.(?P<workload>ro|rw)\.(?:(?P<mix>[0-9]+)\.)?(?P<clients>[0-9]+)\.log'"


def rules(here, *lines):
    return read_pattern(write(here, "p.yaml", "\n".join(lines)))


def study(here, *lines):
    pattern = rules(here, *lines)
    return study_description("x", here / "logs", pattern, read_tree(here / "logs", pattern))


def logs(here, *files):
    for count, file in enumerate(files, 1):
        write(here / "logs", file, log(4, 1000 + count))


def test_names_that_yaml_would_take_for_numbers_stay_as_written(tmp_path):
    logs(tmp_path, "01/8.10/on_4.log", "02/8.10/on_4.log", "1e3/8.10/on_4.log", "no/8.9/on_4.log")
    found = study(tmp_path, f'path: "{TIERED}"', "reference: 01", "rename: {variant: {02: 0o7, no: null}}",
                  "order: {tier: [8.10, 8.9]}", "leave_out: {variant: 1e3}", "title: 2024-01-01")  # fmt: skip
    assert list(found.variants) == ["01", "0o7", "null"]
    assert (found.reference, found.title) == ("01", "2024-01-01")
    assert found.imported.axes["tier"]["levels"] == ["8.10", "8.9"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("only: {variant: [pgo, basline]}", "only: variant: 'basline' matches nothing; there are base and pgo"),
        ("leave_out: {tier: 2g}", "leave_out: tier: '2g' matches nothing; there are 2G and 12G"),
        ("rename: {tier: {Tier2G: small}}", "rename: tier: 'Tier2G' matches nothing; there are 2G and 12G"),
        ("order: {workload: [oltp, ro]}", "order: workload: 'ro' matches nothing; there are oltp"),
        ("only: {clients: [08]}", "only: clients: '08' matches nothing; there are 4"),
        ("leave_out: {path: ['*.md']}", "leave_out: path: '*.md' matches nothing; there are base/2G/oltp_4.log"),
        ("reference: bas", "reference: 'bas' has no log, expected one of base, pgo"),
        ("reference: 1", "reference: '1' has no log"),
    ],
)
def test_a_name_that_matches_nothing_is_an_error_with_what_there_is(tmp_path, line, message):
    logs(tmp_path, "base/2G/oltp_4.log", "base/12G/oltp_4.log", "pgo/2G/oltp_4.log")
    more = [] if line.startswith("reference") else ["reference: base"]
    with pytest.raises(ValueError, match=re.escape(message)):
        study(tmp_path, f'path: "{TIERED}"', *more, line)


def test_names_of_logs_that_are_left_out_are_there(tmp_path):
    logs(tmp_path, "base/2G/oltp_4.log", "pgo/2G/oltp_4.log", "o3/12G/oltp_4.log")
    found = study(tmp_path, f'path: "{TIERED}"', "reference: base", "only: {variant: [base, pgo]}",
                  "rename: {variant: {o3: fast}, tier: {12G: large}}", "order: {tier: [large, 2G]}")  # fmt: skip
    assert list(found.variants) == ["base", "pgo"]


def test_names_that_are_put_together_can_be_renamed_and_ordered(tmp_path):
    logs(tmp_path, "8.0-base/oltp_4_1.log", "8.0-pgo/oltp_4_1.log")
    lines = ['path: "{version}-{build}/{workload}_{clients}_{repetition}.log"', 'variant: "{build} of {version}"']
    found = study(tmp_path, *lines, "reference: base of 8.0", "rename: {variant: {pgo of 8.0: PGO}}")
    assert list(found.variants) == ["base of 8.0", "PGO"]
    message = "rename: variant: 'pgo' matches nothing; there are base of 8.0 and pgo of 8.0"
    with pytest.raises(ValueError, match=re.escape(message)):
        study(tmp_path, *lines, "reference: base of 8.0", "rename: {variant: {pgo: PGO}}")


def test_a_reference_may_be_named_as_in_the_path_or_as_renamed(tmp_path):
    logs(tmp_path, "mysql-base/oltp_4_1.log", "mysql-pgo/oltp_4_1.log")
    rename = "rename: {variant: {mysql-base: base, mysql-pgo: pgo}}"
    for name in ("base", "mysql-base"):
        assert study(tmp_path, f'path: "{LAID_OUT}"', rename, f"reference: {name}").reference == "base"


def test_an_optional_group_that_took_no_part_is_left_out_of_names(tmp_path):
    pattern = rules(tmp_path, OPTIONAL, "reference: a")
    with_mix = pattern.place(pattern.parts("a/bench.rw.50.8.log"))
    without = pattern.place(pattern.parts("a/bench.ro.8.log"))
    assert (with_mix.workload, with_mix.axes) == ("rw 50", {"workload": "rw", "mix": "50"})
    assert (without.workload, without.axes, without.clients) == ("ro", {"workload": "ro"}, 8)


@pytest.mark.parametrize(
    ("template", "with_mix", "without"),
    [
        ("{workload}-{mix}", "rw-50", "ro"),
        ("{mix}_{workload}", "50_rw", "ro"),
        ("bench {mix} {workload}", "bench 50 rw", "bench ro"),
        ("{workload} mix {mix}", "rw mix 50", "ro"),
    ],
)
def test_a_part_without_a_level_goes_with_the_text_beside_it(tmp_path, template, with_mix, without):
    pattern = rules(tmp_path, OPTIONAL, f"workload: '{template}'")
    places = [pattern.place(pattern.parts(f"a/bench.{name}.8.log")) for name in ("rw.50", "ro")]
    assert [place.workload for place in places] == [with_mix, without]
    assert isinstance(places[0], NamedRun)
