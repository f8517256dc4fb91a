"""Which failures are results: those of builds that may fail, and never those of the host or of ourselves."""

import errno
import gzip
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from scripts.build.compilation import toolchain
from scripts.jobs import audit_build, build_server, measure_block, prove_builds, train_server
from scripts.lib import json_record, version
from scripts.lib.build_records import Audit, BuildIdentity
from scripts.lib.host import outcome
from scripts.lib.host.process import CommandFailed, CommandKilled
from scripts.lib.vocabulary import FailureKind
from scripts.measure.engine import group, planned
from scripts.measure.engine.planned import PlannedBlock
from scripts.measure.loadgen import sysbench
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.loadgen.run_sysbench import SysbenchKilled
from scripts.measure.servers.server import ServerFailed
from tests.made import studies
from tests.made.declared import compiled, trained

RECIPE = compiled(family="postgresql", build="fragile")
TRAINED = trained(instrumented={"name": "instrumented_gcc-12", "digest": "0" * 12})
FULL = "as: x.o: No space left on device"


@pytest.fixture
def folder(tmp_path):
    """The folder of a build that may fail."""
    (tmp_path / "fragile").mkdir()
    return tmp_path / "fragile"


def failing(error):
    def make(*_, **__):
        raise error

    return make


def fails(file, **changed):
    json_record.write(
        file, {"server": "tiny", "build": "stage", **outcome.failure_facts("no such flag\nat all"), **changed}
    )
    return file


def kept(folder, error, *kinds, may_fail=True):
    reasons = []
    with outcome.as_result(folder, may_fail, lambda mark: reasons.append(mark.reason), *kinds):
        raise error
    return reasons


@pytest.mark.parametrize("error", [outcome.Refused("too little"), CommandFailed("no such flag"), ServerFailed("died")])
def test_failure_of_what_may_fail_is_kept_with_its_reason(folder, error):
    assert kept(folder, error, CommandFailed, ServerFailed) == [str(error)]


@pytest.mark.parametrize(
    "error",
    [
        *(CommandFailed("failed", code) for code in FailureKind if code.of_host),
        CommandKilled("ninja -j2 mysqld was killed by SIGKILL"),
        ServerFailed("died", FailureKind.FULL_DISK),
        ServerFailed("died"),
        ValueError("the recipe is wrong"),
        OSError("no such file"),
        OSError(errno.ENOSPC, FULL),
    ],
    ids=repr,
)
def test_failure_of_the_host_or_of_us_is_raised_though_the_build_may_fail(folder, error):
    is_result = isinstance(error, ServerFailed) and error.cause.code is FailureKind.SERVER
    kinds = () if is_result else (CommandFailed, ServerFailed, OSError)
    if type(error) is OSError and error.errno is None:
        kinds = (CommandFailed, ServerFailed)
    with pytest.raises(type(error)):
        kept(folder, error, *kinds)


def test_failure_of_what_must_not_fail_is_raised(folder):
    with pytest.raises(CommandFailed):
        kept(folder.parent / "strict", CommandFailed("no such flag"), CommandFailed, may_fail=False)


def test_record_of_a_failure_is_refused_with_the_folder_to_remove(tmp_path):
    with pytest.raises(outcome.Refused, match=f"no such flag at all\n.that was {tmp_path}: remove this folder"):
        outcome.usable(BuildIdentity, fails(tmp_path / "identity.json"))


def built(folder, monkeypatch, error):
    """Run the entry script of a build whose making raises an error; returns its outputs."""
    json_record.write(folder.parent / "source.json", {"release": "1.2", "tree_sha256": "ab"})
    monkeypatch.setattr(build_server, "make", failing(error))
    files = {"install": "install", "headers": "headers", "calls": "calls.json.gz", "identity": "identity.json",
             "facts": "facts.json"}  # fmt: skip
    out = {name: folder / file for name, file in files.items()}
    build_server.main(RECIPE, folder.parent / "source.json", None, 2, folder / "log", may_fail=True, **out)
    return out


def test_build_that_failed_has_all_its_outputs_and_they_say_so(folder, monkeypatch):
    out = built(folder, monkeypatch, CommandFailed("no such flag"))
    expected = {"server": "tiny", "family": "postgresql", "build": "fragile", "release": "1.2", "outcome": "failed",
                "reason": "no such flag", "failure": {"kind": "command", "cause": ""}, "format": 1}  # fmt: skip
    assert json_record.read(out["identity"]) == expected
    signed = {"workflow": version.workflow(), "stage": "plain", "recipe": RECIPE.dump()}
    assert json_record.read(out["facts"]) == {**expected, **signed}
    assert [list(out[name].iterdir()) for name in ("install", "headers")] == [[], []]
    assert json.loads(gzip.decompress(out["calls"].read_bytes())) == {"format": 1, "calls": []}


def test_full_disk_while_building_writes_nothing(folder, monkeypatch):
    with pytest.raises(CommandFailed, match="No space left"):
        built(folder, monkeypatch, CommandFailed(FULL, FailureKind.FULL_DISK))
    assert not (folder / "identity.json").exists()


def test_profile_of_a_stage_that_failed_fails_likewise(folder, monkeypatch):
    identity = fails(folder.parent / "identity.json")
    monkeypatch.setattr(toolchain, "find", lambda *_: None)
    outputs = (folder / "counters", folder / "profile.json", folder / "log")
    train_server.main(TRAINED, identity, [], *outputs, {}, may_fail=True)
    profile = json_record.read(folder / "profile.json")
    assert (profile["outcome"], profile["training"], profile["trained"]) == ("failed", "mixed", "instrumented_gcc-12")
    assert "no such flag at all" in profile["reason"]
    assert list((folder / "counters").iterdir()) == []
    with pytest.raises(outcome.Refused, match="remove this folder to try it again"):
        train_server.main(TRAINED, identity, [], *outputs, {})


def trained(folder, monkeypatch, error):
    monkeypatch.setattr(train_server, "train", failing(error))
    outputs = (folder / "counters", folder / "profile.json", folder / "log")
    train_server.main(TRAINED, folder.parent / "identity.json", [], *outputs, {}, may_fail=True)


def test_training_whose_sysbench_failed_is_kept_and_one_whose_sysbench_was_killed_is_made_again(folder, monkeypatch):
    with pytest.raises(outcome.HostFailed, match="died of SIGKILL"):
        trained(folder, monkeypatch, SysbenchKilled("sysbench died of SIGKILL"))
    assert not (folder / "profile.json").exists()
    trained(folder, monkeypatch, SysbenchFailed("sysbench ended with status 1"))
    assert json_record.read(folder / "profile.json")["reason"] == "sysbench ended with status 1"


def test_audit_of_a_build_that_failed_says_so(folder):
    identity = fails(folder / "identity.json")
    nothing = folder / "nothing"
    audit_build.main(RECIPE, nothing, identity, nothing, nothing, folder / "audit.json", folder / "log", may_fail=True)
    assert json_record.read(folder / "audit.json")["outcome"] == "failed"


def test_audit_under_its_threshold_is_kept_with_its_figures(folder, monkeypatch):
    counts = {"training": "mixed", "units_matched": 1, "units_nonzero": 2, "matched_share": 0.5, "threshold": 0.99,
              "missing": [], "units_linked": None, "units_with_counters": 2}  # fmt: skip
    monkeypatch.setattr(audit_build, "judge", lambda *_: Audit.of(counts))
    json_record.write(folder / "identity.json", {"server": "tiny", "build": "fragile"})
    files = [folder / name for name in ("calls", "identity.json", "profile", "other", "audit.json", "log")]
    audit_build.main(RECIPE, *files, may_fail=True)
    audit = json_record.read(folder / "audit.json")
    assert (audit["outcome"], audit["matched_share"]) == ("failed", 0.5)
    assert "50.0%, expected 99% or more" in audit["reason"]
    with pytest.raises(ValueError, match="expected 99% or more"):
        audit_build.main(RECIPE, *files)


def test_proofs_leave_failed_builds_out(tmp_path):
    facts = fails(tmp_path / "facts.json", stage="plain")
    prove_builds.main([facts], [], tmp_path / "proofs.json", tmp_path / "log")
    assert json_record.read(tmp_path / "proofs.json")["proofs"] == []


@pytest.mark.parametrize("method", ["slices", "turns"])
@pytest.mark.parametrize("which", ["identity", "check"])
def test_arm_of_a_build_that_failed_is_a_failed_run_at_once_and_takes_no_host(tmp_path, monkeypatch, which, method):
    identity = {"server": "tiny", "family": "postgresql", "build": "fragile", "release": "1.2"}
    schedule = studies.paths()
    arm = schedule.planned(next(iter(schedule.to_measure.values()))).arms[0]
    for name in ("identity", "check"):
        json_record.write(tmp_path / f"{name}.json", {**identity, "build_id": "ab", "sha256": "cd"})
    fails(tmp_path / f"{which}.json", **identity)
    generator = SimpleNamespace(version="1.0.20", path="sysbench", sha256="5b")
    monkeypatch.setattr(sysbench, "read_capabilities", lambda: generator)
    monkeypatch.setattr(group, "hold_machine", failing(AssertionError("took the host")))
    arm = replace(arm, name="fragile", context=replace(arm.context, judged=[str(tmp_path / "check.json")]),
                  identity=str(tmp_path / "identity.json"), dataset=str(tmp_path / "dataset.json"))  # fmt: skip
    block = tmp_path / "blocks" / "oltp" / "block.json"
    about = {"folder": str(block.parent), "workload": "oltp", "clients": 8, "repetition": 1, "seed": "1"}
    how = PlannedBlock(**about, method=method, turns=["fragile"], arms=[arm])
    planned.write(tmp_path / "plan.json", [], [how.facts()], None)
    measure_block.main(tmp_path / "plan.json", block, {}, tmp_path / "logs" / "log")
    facts = json_record.read(block.with_name("fragile.json"))
    assert facts["outcome"] == "failed"
    assert facts["reason"] == f"build fragile failed, see {tmp_path / which}.json: no such flag at all"
    assert "judged" not in facts
    assert block.with_name("fragile.txt").read_text() == ""
    assert facts["times"]["ended_at"] >= facts["times"]["started_at"]
    assert json_record.read(block)["arms"]["fragile"]["outcome"] == "failed"
