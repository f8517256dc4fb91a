"""`make retry` removes what failed with its reason, what stands on it, and nothing else."""

import shutil
from pathlib import Path

import pytest
import yaml

from scripts.commands import removal, retry
from scripts.lib import json_record
from scripts.lib.host import locks
from tests.made import laid_out
from tests.made.studies import config, paths

SERVER = "postgresql-15"
DIED = {"outcome": "failed", "reason": "server died with signal 11 during warm-up\nLOG:  starting\nLOG:  ready"}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A finished study of 18 runs with its config file, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies").mkdir()
    Path("studies/small.yaml").write_text(yaml.safe_dump(config()))
    planned = paths()
    laid_out.make(planned)
    return planned


@pytest.fixture
def retried(monkeypatch):
    """Return a function that retries and returns what the user was told."""
    # A held lock ends with its process only; it is tested by itself.
    monkeypatch.setattr(locks, "hold_checkout", lambda folder: None)

    def call(name="studies/small.yaml"):
        said = []
        monkeypatch.setattr(retry, "say", said.append)
        monkeypatch.setattr(removal, "say", said.append)
        retry.main(Path(name))
        return "\n".join(said)

    return call


def files() -> set[str]:
    return {str(path) for path in Path("results").rglob("*") if path.is_file() and path.name != ".lock"}


def test_blocks_with_failed_runs_go_and_all_others_stay(study, retried):
    lost = [list(study.runs)[4], list(study.runs)[11]]
    before = files()
    for path in lost:
        laid_out.measure(study, path, **DIED)
    text = retried()
    folders = tuple(f"{Path(path).parent}/" for path in lost)
    assert before - files() == {path for path in before if path.startswith(folders)}
    for path in lost:
        assert f"\n    {path}\n" in text
    assert text.count("server died with signal 11 during warm-up LOG:  starting LOG:  ready") == 1
    assert "[retry] removed 2 failed results and the report; `make report STUDY=small` makes" in text


def test_option_that_a_server_refuses_is_to_be_corrected_first(study, retried):
    path = next(path for path, run in study.runs.items() if run.variant == "pgo")
    laid_out.measure(study, path, **DIED, failure={"kind": "option", "cause": "unknown variable 'x=64M'"})
    assert "[retry] pgo: the server refuses an option, and will again; correct it in the study first" in retried()


def test_report_and_tables_go_or_snakemake_would_miss_nothing(study, retried):
    made = [Path(study.study, name) for name in ("report.html", "summary.md", "tables/runs.csv", "figures/tps.svg")]
    kept = [Path(study.study, "study.json"), Path("results/report.html")]
    for path in [*made, *kept]:
        path.parent.mkdir(exist_ok=True)
        path.write_text("made")
    retried()
    assert all(path.exists() for path in made), "nothing failed"
    laid_out.measure(study, next(iter(study.runs)), **DIED)
    retried()
    assert not any(path.exists() for path in made)
    assert all(path.exists() for path in kept), "the published report is another study's"


def test_default_study_is_made_again_without_its_name(study, retried):
    laid_out.measure(study, next(iter(study.runs)), **DIED)
    Path("config.yaml").write_text(Path("studies/small.yaml").read_text())
    assert "; `make report` makes them again" in retried("config.yaml")


def test_published_report_of_the_default_study_goes_with_its_own(study, retried):
    Path("config.yaml").write_text(yaml.safe_dump(config(study="default")))
    laid_out.measure(default := paths(study="default"), next(iter(default.runs)), **DIED)
    Path("results/report.html").write_text("report")
    retried("config.yaml")
    assert not Path("results/report.html").exists()


def test_nothing_failed_nothing_removed(study, retried):
    before = files()
    assert retried() == "[retry] no result of study small failed; nothing was removed"
    assert files() == before


def test_failed_build_goes_with_its_checks_and_the_runs_that_missed_it(study, retried):
    folder, before = study.build(SERVER, "pgo"), files()
    stage = study.build(SERVER, study.plan.stages.profile("pgo").stage)
    profile = study.profile(SERVER, "pgo")
    lost = [path for path, run in study.runs.items() if run.variant == "pgo"]
    for each, name in ((folder, "pgo"), (stage, "instrumented")):
        laid_out.build(each, SERVER, name, **DIED)
    json_record.write(Path(profile) / "profile.json", DIED)
    for path in [f"{study.answers(SERVER, 'pgo')}/check.json", *lost]:
        json_record.write(Path(path), DIED)
    text = retried()
    blocks = f"{study.study}/blocks/"
    gone = (folder, stage, profile, study.answers(SERVER, "pgo"), blocks)
    assert before - files() == {path for path in before if path.startswith(gone)}
    assert not any(Path(each).exists() for each in (folder, stage, profile, study.answers(SERVER, "pgo")))
    assert text.count("server died") == 1
    assert text.count("\n    results/") == len(lost) + 4


def test_failed_check_or_audit_leaves_its_build_alone(study, retried):
    before, check = files(), f"{study.answers(SERVER, 'pgo')}/check.json"
    (audit,) = study.audits
    for path in (check, audit):
        json_record.write(Path(path), DIED)
    retried()
    assert before - files() == {check, audit}


def test_results_of_other_studies_and_earlier_configs_stay(study, retried):
    others = [
        Path("results/studies/other/blocks/oltp/8/1/0123456789ab/pgo.json"),
        Path("results/studies/small/blocks/oltp/8/1/0123456789ab/pgo.json"),
        Path(f"results/builds/{SERVER}/pgo-0123456789ab/identity.json"),
    ]
    for path in others:
        json_record.write(path, DIED)
    assert "nothing was removed" in retried()
    assert all(path.exists() for path in others)


def test_results_of_before_blocks_are_named_and_nothing_is_removed(study, retried):
    shutil.rmtree(f"{study.study}/blocks")
    json_record.write(Path(study.study, "runs/pgo-0123456789ab/oltp-0123456789ab/8/1.json"), DIED)
    before = files()
    with pytest.raises(ValueError, match=f"^{study.study}/runs: .*{json_record.LAST_BEFORE_BLOCKS}"):
        retried()
    assert files() == before


def test_nothing_is_removed_while_a_snakemake_works_here(study, monkeypatch):
    laid_out.measure(study, next(iter(study.runs)), **DIED)
    before = files()
    monkeypatch.setattr(locks, "hold_checkout", refuse)
    with pytest.raises(ValueError, match="another Snakemake"):
        retry.main(Path("studies/small.yaml"))
    assert files() == before


def refuse(folder):
    raise ValueError(f"{folder}: another Snakemake (process 7) works here; wait for it, or use -d elsewhere")


def test_damaged_record_is_named_and_then_nothing_is_removed(study, monkeypatch, retried):
    laid_out.measure(study, next(iter(study.runs)), **DIED)
    damaged = list(study.runs)[5]
    Path(damaged).write_text("{")
    with pytest.raises(ValueError, match=f"{damaged}: not JSON"):
        retried()
    assert Path(next(iter(study.runs))).exists()


def test_study_without_results_makes_no_folder(tmp_path, monkeypatch, retried):
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(yaml.safe_dump(config()))
    assert "nothing was removed" in retried("config.yaml")
    assert not Path("results").exists()
