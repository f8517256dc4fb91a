"""Where things are: what studies share, what a run is told, and which run goes first."""

import re

from tests.made.studies import SMALL, paths

VARIANTS = SMALL["variants"]


def test_studies_that_declare_the_same_build_share_its_path_and_dataset():
    ours, theirs = paths(), paths(study="theirs", reference="pgo", seed=9, clients=[1], measure_s=60)
    assert ours.builds == theirs.builds
    assert ours.datasets == theirs.datasets
    assert ours.profiles == theirs.profiles
    assert not set(ours.runs) & set(theirs.runs)


def test_path_of_a_run_names_its_block_and_its_variant():
    pattern = r"results/studies/small/blocks/(simple_select|oltp)/8/[123]/[0-9a-f]{12}/(pgo|aa|baseline)\.json"
    assert all(re.fullmatch(pattern, path) for path in paths().runs)
    assert len(paths().runs) == 18


def test_builds_are_those_of_the_variants_and_the_loaders():
    only_pgo = {"pgo": VARIANTS["pgo"]}
    names = [name for _, name in paths(variants=only_pgo, reference="pgo").builds.values()]
    assert sorted(names) == ["baseline", "pgo"]


def test_build_without_a_profile_needs_no_training():
    only_plain = {"baseline": VARIANTS["baseline"]}
    made = paths(variants=only_plain)
    assert (made.profiles, made.stages) == ({}, {})
    assert made.profile("postgresql-15", "baseline") is None


def test_training_reads_the_variants_dataset_unless_its_options_shape_another():
    assert len(paths().datasets) == 1
    assert len(paths(options={"data_checksums": True}).datasets) == 1
    declared = {"workloads": ["simple_select", "index_update", "oltp"], "clients": 4, "seconds": 20, "options": {}}
    apart = paths(options={"data_checksums": True}, trainings={"mixed": declared})
    options = [parts[2] for parts in apart.datasets.values()]
    assert sorted(options, key=len) == [{}, {"data_checksums": True}]


def test_option_without_a_part_in_the_data_directory_needs_no_other_dataset():
    assert paths(options={"work_mem": "8MB"}).datasets.keys() == paths().datasets.keys()


def test_run_is_told_its_place_in_the_study():
    made = paths()
    block, *_, last = made.blocks
    place = made.context(block, "aa")
    assert place.block == block.name
    assert (place.run_number, place.runs_total, place.position) == (2, 18, 2)
    assert made.context(last, "pgo").run_number == 18


def test_run_is_told_the_folder_of_its_storage_which_is_not_in_the_recipe():
    variants = {**VARIANTS, "fast": {**VARIANTS["pgo"], "storage": "memory"}}
    made = paths(variants=variants, storage={"memory": "/dev/shm/x"})
    moved = paths(variants=variants, storage={"memory": "/dev/shm/y"})
    assert made.context(made.blocks[0], "fast").storage == "/dev/shm/x"
    assert moved.context(moved.blocks[0], "fast").storage == "/dev/shm/y"
    assert made.plan.variant("fast").storage == "memory"


def test_variant_on_the_default_storage_is_told_none():
    made = paths()
    assert made.context(made.blocks[0], "pgo").storage is None
