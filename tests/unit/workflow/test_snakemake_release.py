"""One release of Snakemake is named, and what another release lacks is refused by name before anything is changed."""

import re
from functools import partial
from types import SimpleNamespace

import pytest
import snakemake.api

from scripts.workflow import command_line, job_records
from scripts.workflow.ancient_inputs import patch_ancient_inputs
from scripts.workflow.announcing import before_jobs, forced_steps
from scripts.workflow.interrupts import forward_interrupts
from scripts.workflow.session import register_host, remove_rate_limit
from scripts.workflow.snakemake_release import RELEASE, OtherSnakemake
from tests.made.studies import CHECKOUT


class WithoutBfs:
    async def update_needrun(self, create_inventory=False):
        pass


class WithOtherBfs(WithoutBfs):
    def bfs(self, direction, *jobs):
        pass


class WithoutTheCall(WithoutBfs):
    bfs = snakemake.dag.DAG.bfs


def test_pin_smallest_release_and_package_name_the_same():
    pinned = re.search(r"^snakemake==(\S+)$", (CHECKOUT / "envs" / "requirements.in").read_text(), re.M)[1]
    smallest = re.search(r'^min_version\("(\S+)"\)$', (CHECKOUT / "rules" / "common.smk").read_text(), re.M)[1]
    assert pinned == smallest == RELEASE


@pytest.mark.parametrize(
    ("patch", "changed", "message"),
    [
        (patch_ancient_inputs, WithoutBfs, "class WithoutBfs has no bfs"),
        (patch_ancient_inputs, WithOtherBfs, "bfs takes self, direction, jobs, expected self, direction, jobs, stop"),
        (patch_ancient_inputs, WithoutTheCall, "DAG.update_needrun does not call self.bfs"),
        (forward_interrupts, SimpleNamespace(), "class SimpleNamespace has no exit_gracefully"),
        (forward_interrupts, SimpleNamespace(exit_gracefully=None), "class SimpleNamespace has no _open_jobs"),
        (remove_rate_limit, SimpleNamespace(), "has no job_rate_limiter"),
        (register_host, SimpleNamespace(global_resources={}), "has no register_resource"),
        (partial(before_jobs, announce=print), SimpleNamespace(), "class SimpleNamespace has no execute"),
        (partial(before_jobs, announce=print), SimpleNamespace(execute=len), "execute takes no executor_plugin"),
        (forced_steps, SimpleNamespace(dag_settings=SimpleNamespace()), "class SimpleNamespace has no forceall"),
        (command_line.config_files, SimpleNamespace(), "has no configfiles"),
    ],
)
def test_other_release_is_refused_by_name(patch, changed, message):
    with pytest.raises(
        OtherSnakemake, match=rf"^Snakemake \S+: .*{message}.*; this workflow was written for {RELEASE}, "
    ):
        patch(changed)


def test_other_place_of_records_is_refused_by_name(tmp_path, monkeypatch):
    class FilePersistence:
        def __init__(self):
            self.records = "elsewhere"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job_records, "FilePersistence", FilePersistence)
    with pytest.raises(OtherSnakemake, match="FilePersistence has no folder metadata"):
        job_records.follow(tmp_path)


def test_limit_of_the_command_line_wins():
    stated = SimpleNamespace(global_resources={"host": 5}, register_resource=lambda name, value: pytest.fail(name))
    register_host(stated)
    assert stated.global_resources == {"host": 5}


@pytest.mark.parametrize(
    ("arguments", "cores"),
    [
        (["-n"], 6),
        (["-np", "-d", "elsewhere"], 6),
        (["--dry-run", "results/report.html", "--config", "partial=true"], 6),
        (["-n", "--cores", "1"], 1),
        (["-n", "--cores=1"], 1),
        (["-n", "-c1"], 1),
        (["-n", "-j", "1"], 1),
    ],
)
def test_dry_run_without_cores_plans_with_those_of_the_machine(arguments, cores, monkeypatch):
    monkeypatch.setattr(command_line.os, "sched_getaffinity", lambda _: set(range(6)))
    assert command_line.planned_cores(SimpleNamespace(cores=1), True, arguments) == cores
    assert command_line.planned_cores(SimpleNamespace(cores=1), False, arguments) == 1


def test_cores_of_a_profile_are_planned_with():
    assert command_line.planned_cores(SimpleNamespace(cores=3), True, ["-n", "--profile", "mine"]) == 3
