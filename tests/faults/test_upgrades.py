"""Results of releases from 1.0.0 on: each record has a format, a study of each is rendered, and found where it was."""

import csv
import gzip
import json
import re
import tarfile
from pathlib import Path

import pytest

from scripts.build.compilation import compiler_calls, toolchain
from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.sources import working_tree
from scripts.jobs import collect_runs, compare_variants, export_tables, plot_figures, render_report
from scripts.lib import json_record
from scripts.measure.sql import server_answers
from scripts.report.analysis import dictionary
from scripts.report.analysis import run_tables as runs
from scripts.report.analysis.run_tables import read_csv
from scripts.study.config.loading import load
from scripts.study.plan.order import keys_in_order
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.known_paths import digests_of_run
from tests.made.studies import CHECKOUT, config
from tests.workflow import stubbed

pytestmark = pytest.mark.slow

FORMATS = CHECKOUT / "tests" / "data" / "formats"
KINDS = {
    "facts": "builds/*/*/facts.json",
    "audits": "builds/*/*/audit.json",
    "checks": "checks/*/*/check.json",
    "proofs": "studies/*/proofs.json",
    "profiles": "profiles/*/*/profile.json",
    "sources": "sources/*/source.json",
    "datasets": "datasets/*/*/dataset.json",
}


def unpacked(name, folder):
    """Unpack the results in an archive of `formats`, and return the description of their study."""
    with tarfile.open(FORMATS / f"{name}.tar.xz") as stored:
        stored.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (study,) = folder.glob("results/studies/*/study.json")
    return study


# Of each format and of each release from 1.0.0 on; what 1.tar.xz holds was compiled and measured before.
@pytest.mark.parametrize("name", [*map(str, range(1, json_record.FORMAT + 1)), "1.0.0"])
def test_results_of_each_format_and_release_are_rendered_with_their_own_figures(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study, results = unpacked(name, tmp_path), tmp_path / "results"
    home, declared = study.parent, json_record.read(study)
    tables, figures, listed = dictionary.files(home / "tables"), home / "figures", home / "runs.txt"
    collect_runs.main(study, listed, tables)
    compare_variants.main(study, tables["runs"], tables["executions"], tables)
    export_tables.main(study, tables, *(home / name for name in export_tables.OUTPUTS))
    plot_figures.main(study, tables, figures)
    records = {kind: sorted(results.glob(pattern)) for kind, pattern in KINDS.items()}
    made = (home / name for name in ("report.html", "summary.md", "answer.json"))
    render_report.main(study, listed, tables, figures, *made, **records)

    measured = [json_record.read(path) for path in runs.listed(listed)]
    assert sorted(read_csv(tables["runs"])["tps"].dropna()) == pytest.approx(
        sorted(run["window"]["tps"] for run in measured if run["outcome"] == "ok")
    )
    page = (home / "report.html").read_text(encoding="utf-8")
    assert declared["question"] in page
    assert not [name for name in declared["variants"] if name not in page]
    assert len(read_csv(tables["overall"])) > len(declared["variants"])


def rows(table):
    with table.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_records_of_the_first_release_give_the_same_values_in_every_column_of_then(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = unpacked("1.0.0", tmp_path)
    tables = dictionary.files(Path("after"))
    collect_runs.main(study, study.parent / "runs.txt", tables)
    compare_variants.main(study, tables["runs"], tables["executions"], tables)
    for table in ("runs", "series", "overall"):
        before, after = rows(study.parent / "tables" / f"{table}.csv"), rows(tables[table])
        assert [{name: row[name] for name in before[0]} for row in after] == before


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What the study of stubs has made when its report is there."""
    return stubbed.finished(tmp_path_factory, "formats").root / "results"


def test_every_json_of_a_study_says_its_format(results):
    files = [path for path in results.rglob("*.json") if ".snakemake" not in path.parts]
    assert {path.name for path in files} >= {
        "source.json",
        "facts.json",
        "identity.json",
        "dataset.json",
        "results.json",
    }
    assert [path for path in files if json.loads(path.read_text()).get("format") != json_record.FORMAT] == []


def test_what_is_kept_compressed_or_remembered_says_its_format(tmp_path, monkeypatch):
    call = CompilerCall("a.o", ("cc", "-c"), links=False, said="")
    compiler_calls.write_calls([call], tmp_path / "calls.json.gz")
    told = json.loads(gzip.decompress((tmp_path / "calls.json.gz").read_bytes()))
    assert told["format"] == json_record.FORMAT
    assert compiler_calls.read_kept_calls(tmp_path / "calls.json.gz") == [call]
    (tmp_path / "old.json.gz").write_bytes(gzip.compress(json.dumps(told["calls"]).encode()))
    with pytest.raises(
        ValueError, match=f"old.json.gz: a list without a format, .* {json_record.LAST_BEFORE_BLOCKS}; "
    ):
        compiler_calls.read_kept_calls(tmp_path / "old.json.gz")
    monkeypatch.setattr(working_tree, "cache_directory", lambda: tmp_path)
    (tmp_path / "digests").mkdir()
    (tmp_path / "some").write_text("some")
    working_tree.digest_of_state(tmp_path / "some")
    assert all(json.loads(path.read_text())["format"] for path in (tmp_path / "digests").iterdir())
    server_answers.write_answers(tmp_path / "answers.json.gz", {"server": "tiny"})
    assert server_answers.read_answers(tmp_path / "answers.json.gz") == {"format": json_record.FORMAT, "server": "tiny"}


# A study that takes nothing of the catalog but the builds behind its own; the toolchain is that of no machine.
SERVERS = {
    family: {
        "family": family,
        "product": family,
        "version": "1.2",
        "sources": [{"file": "/nowhere", "sha256": "ab" * 32}],
    }
    for family in ("postgresql", "mariadb", "mysql")
}
ARMS = {
    f"{family}-{build}": {"server": family, "build": build} for family in SERVERS for build in ("baseline", "trained")
}
FROZEN = {
    "servers": SERVERS,
    "builds": {"trained": {"profile": "own", "lto": True, "flags": "-O3 -g"}},
    "trainings": {"own": {"workloads": ["mine"], "clients": 4, "seconds": 20}},
    "workloads": {
        "mine": {"script": "oltp_read_write", "dataset": "own", "options": {"point_selects": 1, "skip_trx": True}}
    },
    "datasets": {"own": {"tables": 4, "rows": 1000}},
    "variants": {
        **ARMS,
        "optioned": {**ARMS["mariadb-trained"], "options": {"innodb_page_size": "8k"}, "storage": "disk"},
    },
    "storage": {"disk": "/var/tmp"},
    "reference": "postgresql-baseline",
    "clients": [8, 64],
    "repetitions": 1,
}


def test_results_of_earlier_releases_are_found_where_they_are(monkeypatch):
    """A list that differs says that finished studies would be compiled, trained or measured again; was it meant?"""
    tools = dict.fromkeys(toolchain.COMMANDS["gcc"], "/usr/bin/gcc")
    monkeypatch.setattr(toolchain, "find", lambda name, entry: toolchain.Toolchain(name, "gcc", "12.2.0", tools))
    paths = Schedule(Plan(load(config(**FROZEN), CHECKOUT, "frozen"), CHECKOUT))
    arms = paths.plan.study.arms
    runs = [digests_of_run(paths, name, key) for key in keys_in_order(paths.plan.study) for name in arms]
    made = [*paths.builds, *paths.stages, *paths.profiles, *paths.datasets, *runs]
    made += [paths.source(server) for server in SERVERS]
    assert sorted(made) == (FORMATS / "paths.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.search("-[0-9a-f]{12}(/|$)", path) for path in made)
