"""Records of builds that earlier releases wrote are read without loss, and written again as they were."""

import json
import tarfile
from pathlib import Path

import pytest

from scripts.build.relink.kept_relinks import RelinkAnswers, RelinkRecord
from scripts.jobs import bolt_server, build_server, install_prebuilt
from scripts.lib.build_records import Audit, BuildFacts, BuildIdentity, Check, Failable, Proofs, TrainedProfile
from scripts.lib.failure_reasons import FailureFacts
from scripts.lib.recipe_models import StageKind

FORMATS = Path(__file__).parents[2] / "data" / "formats"
# The records of a finished study are those of stubs.
ARCHIVES = sorted(path.name for path in FORMATS.glob("[0-9]*.tar.xz"))
KINDS = {
    "facts.json": BuildFacts,
    "identity.json": BuildIdentity,
    "audit.json": Audit,
    "profile.json": TrainedProfile,
    "check.json": Check,
    "proofs.json": Proofs,
}
# Added by jobs of later releases.
ADDED = {"foreign_flags"}


def records(name):
    """Yield (path, content) of the records of builds in an archive."""
    with tarfile.open(FORMATS / name) as archive:
        for member in archive:
            is_run = "/blocks/" in member.name
            if not is_run and member.name.rpartition("/")[2] in (*KINDS, "relinked.json"):
                facts = json.loads(archive.extractfile(member).read())
                yield member.name, {key: value for key, value in facts.items() if key not in ("format", "workflow")}


def kind_of(path):
    if path.endswith("relinked.json"):
        return RelinkRecord if "/builds/" in path else RelinkAnswers
    return KINDS[path.rpartition("/")[2]]


def keys_of(record):
    """Return the keys that the job which writes a record passes."""
    match record:
        case BuildFacts(stage=stage):
            jobs = {StageKind.BOLTED: bolt_server, StageKind.BOLT_INSTRUMENTED: bolt_server}
            return jobs.get(stage, install_prebuilt if stage == StageKind.PREBUILT else build_server).IN_FACTS
        case BuildIdentity() | Audit():
            return record.ORDER
    return ()


def written(path, facts):
    """Return what is read of a record as it would be written again, without what later releases add."""
    record = kind_of(path).of(facts)
    again = record.to_json(*keys_of(record))
    return {key: again[key] for key in again if key not in ADDED - facts.keys()}


def test_records_of_this_layout_are_written_again_byte_for_byte():
    read = dict(records("1.0.0.tar.xz"))
    assert len(read) > 10
    assert [path for path, facts in read.items() if json.dumps(written(path, facts)) != json.dumps(facts)] == []


@pytest.mark.parametrize("name", ARCHIVES)
def test_records_of_all_releases_are_read_without_loss(name):
    def known(value):
        """Return JSON without its nulls, which mean the same as nothing."""
        if isinstance(value, dict):
            return {key: known(inner) for key, inner in value.items() if inner is not None}
        return [known(inner) for inner in value] if isinstance(value, list) else value

    read = dict(records(name))
    assert read
    assert [path for path, facts in read.items() if known(written(path, facts)) != known(facts)] == []


def test_mark_of_a_failure_comes_last_with_the_code_of_its_cause():
    mark = Failable(outcome="failed", reason="no such flag", failure=FailureFacts("command", "error: no such flag"))
    record = BuildFacts(server="s", build="pgo", stage="optimised").failed(mark)
    assert list(record.to_json()) == ["server", "build", "stage", "outcome", "reason", "failure"]
    assert BuildFacts.of(record.to_json()) == record
    assert record.has_failed
    assert not BuildFacts(server="s", build="pgo").has_failed
