"""A bad config is told with file and line, key, value, what was expected and what may be meant, all at once."""

import json
import os
import re
import shutil

import pytest
import yaml

from scripts.build.compilation import stages
from scripts.study.config.declared_builds import BuildDeclaration
from scripts.study.config.declared_study import ENTRIES
from scripts.study.config.loading import load
from scripts.study.config.scalars import as_written
from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import CHECKOUT, SMALL, config

TEXT = """\
study: small
title: Two builds
question: Which is faster?
variants:
  baseline: {server: postgresql-15, build: baseline}
  pgo: {server: postgresql-15, build: pgo}
reference: baseline
workloads:
  simple_select:
  oltp:
clients: [8]
repetitions: 3
warmup_s: 2
measure_s: 5
slice_s: 0.2
placement: automatic
seed: 1
campaign: 1
relinked: false
"""
# Mistakes to make in it by their kind: what is written for what, and how the line of the message begins.
MISTAKES = yaml.safe_load((CHECKOUT / "tests/unit/study/config/bad_config.yaml").read_text(encoding="utf-8"))


def refusal(root=CHECKOUT, **changes):
    with pytest.raises(ConfigError) as caught:
        load(config(**changes), root, "small.yaml")
    return str(caught.value)


def told(folder, text, overriding=None):
    """Return the lines of the message about a config file, read and merged as Snakemake does."""
    file = folder / "study.yaml"
    file.write_text(text)
    merged = yaml.load(text, Loader=yaml.FullLoader) | (overriding or {})
    with pytest.raises(ConfigError) as caught:
        load(merged, CHECKOUT, "study.yaml", [file])
    head, *lines = str(caught.value).replace(str(file), "study.yaml").splitlines()
    assert head == f"study.yaml: {len(lines)} mistake(s)"
    return [line.removeprefix("  ") for line in lines]


@pytest.mark.parametrize(
    "mistake", [one for kind in MISTAKES.values() for one in kind], ids=lambda mistake: mistake["told"][:70]
)
def test_mistake_is_told_alone_with_line_key_value_and_what_was_expected(tmp_path, mistake):
    assert mistake["for"] in TEXT
    (line,) = told(tmp_path, TEXT.replace(mistake["for"], mistake["write"], 1))
    assert line.startswith(f"study.yaml:{mistake['told']}")


def test_meaning_of_the_key_ends_the_line(tmp_path):
    (line,) = told(tmp_path, TEXT.replace("repetitions: 3", "repetitions: 0"))
    assert line.endswith("expected a whole number from 1 to 1000 (Blocks of every cell)")


def test_small_study_itself_is_accepted(tmp_path):
    (tmp_path / "study.yaml").write_text(TEXT)
    declared = load(yaml.safe_load(TEXT), CHECKOUT, "study.yaml", [tmp_path / "study.yaml"]).declared
    expected = {**SMALL, "slice_s": 0.2}
    assert declared.model_fields_set - ENTRIES.keys() == expected.keys() - ENTRIES.keys()
    assert {key: as_written(getattr(declared, key)) for key in expected.keys() - {"workloads"}} == {
        key: value for key, value in expected.items() if key != "workloads"
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed: 1", "seed: 1\noptions: {log_bin: on, fsync: no, name: 1e3, timezone: '010', big: 0x10}"),
        ("automatic", "{server: 0-3, client: 7}"),
        ("automatic", "{server: 'numa0,numa1', client: numa2}"),
        ("seed: 1", "seed: 1\nbuilds: {o3: {flags: -O3 -fno-lto -flto-partition=none}}"),
        ("seed: 1", "seed: 1\nbuilds: {as_published: {may_fail: true}}\npartial: false"),
        ("pgo: {server: postgresql-15,", "pgo: &pgo {server: postgresql-15,"),
        ("  pgo: {server: postgresql-15", "  old: &old {server: postgresql-15, build: lto}\n  pgo: {<<: *old"),
    ],
    ids=["switches", "one_cpu", "nodes", "flags", "new_keys", "anchor", "merge_key"],
)
def test_what_only_looks_odd_is_accepted(tmp_path, old, new):
    text = TEXT.replace(old, new, 1)
    (tmp_path / "study.yaml").write_text(text)
    load(yaml.safe_load(text), CHECKOUT, "study.yaml", [tmp_path / "study.yaml"])


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines(tmp_path):
    wrong = {"build: pgo": "build: pog, storag: x", "reference: baseline": "reference: basline", "oltp:": "oltpp:",
             "repetitions: 3": "repetitions: 010", "seed: 1": "sed: 1", "measure_s: 5": "measure_s: 2"}  # fmt: skip
    text = TEXT
    for old, new in wrong.items():
        text = text.replace(old, new, 1)
    lines = told(tmp_path, text)
    assert [re.match(r"study.yaml:(\d+): (\S+):", line).groups() for line in lines] == [
        ("6", "variants.pgo.build"),
        ("6", "variants.pgo.storag"),
        ("7", "reference"),
        ("10", "workloads.oltpp"),
        ("12", "repetitions"),
        ("14", "measure_s"),
        ("17", "sed"),
    ]


def test_value_of_the_command_line_is_not_blamed_on_the_file(tmp_path):
    assert told(tmp_path, TEXT, {"clients": 8})[0].startswith("--config: clients: 8, expected a list")
    (line,) = told(tmp_path, TEXT, {"clients": ["4"]})  # what Snakemake makes of clients=[4]
    assert line.startswith("--config: clients.0: '4', expected a whole number from 1 to 4096; it was read as text, a")
    assert told(tmp_path, TEXT, {"partail": True}) == ["--config: partail: unknown key, did you mean 'partial'?"]


def test_of_two_files_the_one_whose_value_counts_is_named(tmp_path):
    files = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for file, text in zip(files, (TEXT.replace("campaign: 1", "campain: 1"), "# own\nseed: -1\n"), strict=True):
        file.write_text(text)
    merged = {**yaml.safe_load(files[0].read_text()), "seed": -1}
    with pytest.raises(ConfigError) as caught:
        load(merged, CHECKOUT, "both", files)
    assert f"{files[0]}:18: campain: unknown key" in str(caught.value)
    assert f"{files[1]}:2: seed: -1, expected" in str(caught.value)


@pytest.mark.parametrize("indent", ["\t", 1, None], ids=["tabs", "spaces", "one_line"])
def test_config_in_json_is_told_with_its_lines(tmp_path, indent):
    file = tmp_path / "study.json"
    text = json.dumps({**SMALL, "title": "a/b \U0001f418 1e5", "seed": -1}, indent=indent).replace("a/b", "a\\/b")
    file.write_text(text)
    line = next(number for number, there in enumerate(text.splitlines(), 1) if '"seed"' in there)
    with pytest.raises(ConfigError) as caught:
        load(json.loads(text), CHECKOUT, "study.json", [file])
    assert f"{file}:{line}: seed: -1, expected a whole number" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"seed": 1', '"seed": 1,\n"seed": 2', "seed: written a second time, after line {before}"),
        ('"seed": 1', '"se\\u0065d": 3,\n"seed": 2', "seed: written a second time, after line {before}"),
        (
            '"clients": [',
            '"matrix": [{"a": 1,\n"a": 2}], "clients": [',
            "matrix.0.a: written a second time, after line",
        ),
        ('"build": "pgo"', '"build": "lto",\n"build": "pgo"', "variants.pgo.build: written a second time, after line"),
    ],
    ids=["top", "escaped", "list", "depth"],
)
def test_key_that_stands_twice_in_json_is_told_with_its_line(tmp_path, old, new, expected):
    text = json.dumps(SMALL, indent=1)
    assert old in text
    (tmp_path / "study.json").write_text(text.replace(old, new, 1))
    before = text[: text.index(old)].count("\n") + 1
    with pytest.raises(ConfigError) as caught:
        load(SMALL, CHECKOUT, "study.json", [tmp_path / "study.json"])
    (line,) = str(caught.value).splitlines()[1:]
    assert line.startswith(f"  {tmp_path}/study.json:{before + 1}: {expected.format(before=before)}")


def test_two_files_that_both_name_a_study_are_refused(tmp_path):
    files = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for file, name in zip(files, ("small", "other"), strict=True):
        file.write_text(TEXT.replace("study: small", f"study: {name}"))
    with pytest.raises(ConfigError) as caught:
        load({**yaml.safe_load(TEXT), "study": "other"}, CHECKOUT, "both", files)
    (line,) = str(caught.value).splitlines()[1:]
    assert line == (
        f"  {files[1]}:1: study: 'other', but {files[0]}:1 names a study too; "
        "expected one study, and other files without"
    )


def test_value_of_the_command_line_that_no_file_can_hold_is_refused(tmp_path):
    (line,) = told(tmp_path, TEXT, {"title": "M\udcfcller"})  # what Python makes of an argument in Latin-1
    assert line.startswith("--config: title: 'M\\udcfcller' holds the lone surrogate U+DCFC")


def test_storage_that_is_no_folder_or_not_writable_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    (tmp_path / "mine").mkdir()
    paths = {name: str(tmp_path / name) for name in ("pipe", "file", "mine", "missing", "far/missing")}
    paths = {name.replace("/", "_"): path for name, path in paths.items()}
    text = TEXT + yaml.safe_dump({"storage": paths})
    assert [line.partition(": ")[2] for line in told(tmp_path, text)] == [
        f"storage.file: '{tmp_path}/file' is a file, expected a folder that can be written to",
        f"storage.pipe: '{tmp_path}/pipe' is a named pipe, expected a folder that can be written to",
    ]
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path / "mine")
    assert any(f"may not write ({tmp_path}/mine), expected a folder" in line for line in told(tmp_path, text))


def test_script_that_is_a_pipe_is_refused_without_a_wait(tmp_path):
    os.mkfifo(tmp_path / "x.lua")
    (line,) = told(tmp_path, TEXT.replace("oltp:", f"oltp: {{script: {tmp_path}/x.lua}}"))
    assert f"workloads.oltp.script: '{tmp_path}/x.lua' is no file, expected the path of a Lua file" in line


def test_without_files_key_and_value_are_told_all_the_same():
    assert "\n  repetitons: unknown key, did you mean 'repetitions'?" in refusal(repetitons=3)
    assert "\n  variants.True: the key True is no text; write it in quotes" in refusal(
        variants={**SMALL["variants"], True: SMALL["variants"]["pgo"]}
    )


@pytest.fixture
def checkout_copy(tmp_path):
    """What a study is checked against, to be edited."""
    for folder in ("catalog", "rules", "workloads"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("servers", "family: postgresql", "famliy: postgresql", "famliy: unknown key, did you mean 'family'?"),
        (
            "servers",
            'version: "15"',
            "version: 15.10",
            "version: 15.1, expected a release or a series in",
        ),
        ("servers", "minutes: 6", "minutes: 006", "compile_cpu_minutes: YAML reads 006 as 6, in base 8; write 6, or"),
        ("builds", "profile: mixed", "profile: mxied", "profile: 'mxied' is unknown, did you mean 'mixed'?"),
        ("builds", "profile: mixed", "{profile: mixed, profile: read}", "profile: written a second time, after line"),
        ("workloads", "oltp_read_only", "oltp_read", "script: 'oltp_read' is neither sysbench's nor in workloads/"),
    ],
)
def test_mistake_in_the_catalog_is_told_with_the_catalogs_line(checkout_copy, file, old, new, expected):
    catalog = checkout_copy / "catalog" / f"{file}.yaml"
    text = catalog.read_text()
    catalog.write_text(text.replace(old, new, 1))
    line = text[: text.index(old)].count("\n") + 1
    (mistake,) = refusal(root=checkout_copy).splitlines()[1:]
    assert re.match(rf"  {re.escape(str(catalog))}:{line}: {file}\.[^:]+\.{re.escape(expected)}", mistake)


def test_catalog_that_is_no_yaml_is_told_with_its_line(checkout_copy):
    (checkout_copy / "catalog" / "builds.yaml").write_text("builds: [\n")
    assert f"{checkout_copy}/catalog/builds.yaml:2: this is not YAML" in refusal(root=checkout_copy)


def test_build_that_loads_datasets_is_the_one_that_is_kept_plain():
    builds = yaml.safe_load((CHECKOUT / "catalog" / "builds.yaml").read_text(encoding="utf-8"))["builds"]
    declared = {name: BuildDeclaration(**keys).compiled for name, keys in builds.items()}
    assert stages.Stages(declared).of(stages.LOADER) == stages.Stage("plain", stages.BuildKeys())
