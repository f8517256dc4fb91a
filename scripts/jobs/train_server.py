"""Train an instrumented build: run the training's workloads on it, stop it cleanly, keep its counters."""

import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

from scripts.build.compilation import audit, profiles, toolchain
from scripts.build.sources.tree import tree_sha256
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, Failable, TrainedProfile, TrainingRun
from scripts.lib.host import cpus as host_cpus
from scripts.lib.host import entry, outcome, workplace
from scripts.lib.host.entry import say
from scripts.lib.host.leftovers import hold_machine
from scripts.lib.host.process import CommandFailed
from scripts.lib.recipe_models import ProfileRecipe, TrainedWorkload
from scripts.measure.loadgen import gated, sysbench
from scripts.measure.loadgen import run_sysbench as loadgen_run
from scripts.measure.loadgen.lua import find_outside_scripts, script_path, why_no_gate
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers import data_directory, families
from scripts.measure.servers.options import server_options
from scripts.measure.servers.server import Server, ServerFailed, running

ABOUT_COUNTERS = re.compile(r"profiling|libgcov|gcda|LLVM Profile|BOLT", re.I)
TIMEOUT_FACTOR = 3


def main(
    recipe: ProfileRecipe,
    identity: Path,
    datasets: list[Path],
    counters: Path,
    profile: Path,
    log: Path,
    scripts: dict[str, str],
    may_fail: bool = False,
) -> None:
    """Inputs: `identity` of the instrumented build, and `datasets`. Outputs: `counters`, a folder, then `profile`.

    `profile` is the record of the counters. Raises ServerFailed if the server did not stop cleanly (a killed server
    leaves no profile), SysbenchFailed if a load failed, HostFailed if sysbench was killed, Refused if no counter is
    above zero or the instrumented build failed. If only builds that may fail use the profile, the outputs record the
    failure instead, unless the host is at fault.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    find_outside_scripts(scripts)

    def give_up(mark: Failable) -> None:
        shutil.rmtree(counters, ignore_errors=True)
        counters.mkdir(parents=True)
        names = TrainedProfile(
            server=recipe.server, training=recipe.training, trained=recipe.instrumented.name, recipe=recipe.dump()
        )
        json_record.write_signed(profile, names.failed(mark).to_json("server", "training", "trained", "recipe", "tool"))

    with outcome.as_result(profile.parent, may_fail, give_up, CommandFailed, ServerFailed, SysbenchFailed):
        try:
            trained = train(recipe, identity, datasets, counters, log)
        except loadgen_run.SysbenchKilled as killed:
            raise outcome.HostFailed(str(killed)) from killed
        json_record.write_signed(profile, replace(trained, recipe=recipe.dump()).to_json())


def train(recipe: ProfileRecipe, identity: Path, datasets: list[Path], counters: Path, log: Path) -> TrainedProfile:
    """Run the training and copy its counters to `counters`; return the record of the profile without its recipe."""
    begin_s = time.monotonic()
    chosen = toolchain.find(recipe.toolchain.name, recipe.toolchain.commands)
    described = outcome.usable(BuildIdentity, identity)
    with hold_machine(), data_directory.workspace(None) as folder:
        written = profiles.folder_to_write(identity, folder)
        environment = profiles.TOOLS[chosen.kind].environment(written)
        runs = [run for dataset in datasets for run in train_on(recipe, identity, dataset, environment, log)]
        with outcome.refusing():
            profiles.keep(written, counters, chosen, log)
    trained = replace(
        profiles.summary(counters, chosen.kind, chosen.commands),
        server=recipe.server,
        training=recipe.training,
        trained=described.build,
        tool=chosen.kind,
        compiler=f"{chosen.name} {chosen.version}",
        source_path=described.source_path,
        counters_sha256=tree_sha256(counters),
        log_lines=[line for line in log.read_text(errors="replace").splitlines() if ABOUT_COUNTERS.search(line)],
        runs=runs,
        wall_s=time.monotonic() - begin_s,
    )
    with outcome.refusing():
        audit.demand_trained(trained)
    return trained


def train_on(
    recipe: ProfileRecipe, identity: Path, dataset: Path, environment: dict[str, str], log: Path
) -> list[TrainingRun]:
    """Run the workloads of the training that use this dataset on one server; return their runs."""
    folder, described = dataset.parent, json_record.read(dataset)
    loaded = json_record.digest(described["recipe"])
    workloads = [workload for workload in recipe.workloads if workload.dataset_digest == loaded]
    data_directory.verify(folder / "snapshot", described["snapshot_sha256"])
    family, cpus = families.of(recipe.family), host_cpus.place_processes(host_cpus.read_topology())
    with (
        data_directory.cloned(folder / "snapshot", None) as data,
        running(
            family,
            workplace.installed(identity),
            data,
            server_options(family, recipe.options),
            log,
            cpus=cpus.server_cpus,
            environment=environment,
        ) as server,
    ):
        with server.blamed():
            loadgen_run.fill_anew(
                workloads[0].tables, family.sysbench_flags(server.sockets), log.with_suffix(".load.txt")
            )
            runs = [run_workload(recipe, workload, server, cpus.client_cpus, log) for workload in workloads]
        server.stop(keep_data=False)
    return runs


def run_workload(
    recipe: ProfileRecipe, workload: TrainedWorkload, server: Server, cpus: tuple[int, ...], log: Path
) -> TrainingRun:
    """Run one workload of the training."""
    generator = sysbench.read_capabilities()
    script = workload.script or ""
    sysbench.demand_options(generator, script_path(script), workload.options)
    flags = server.family.sysbench_flags(server.sockets)
    call = loadgen_run.call_of_load(generator, workload, flags, recipe.clients, recipe.seconds, seed=1)
    text = log.with_name(f"{log.stem}-{workload.name}.txt")
    if why_no_gate(script, workload.options):
        finished = loadgen_run.run(call, text, timeout_s=recipe.seconds * TIMEOUT_FACTOR + 60, cpus=cpus)
        tps = finished.output.totals.transactions / finished.output.totals.duration_s
    else:
        with gated.connected([call], text, cpus) as gated_load:
            tps = gated_load.slice(recipe.seconds, 0.0, recipe.seconds * TIMEOUT_FACTOR + 60).tps
            gated_load.end()
    say(f"[training {recipe.server} {recipe.training}] {workload.name}: {tps:.0f} TPS with counters")
    return TrainingRun(workload.name, recipe.clients, recipe.seconds, tps)


if __name__ == "__main__":
    datasets: entry.Option = {"type": Path, "nargs": "+", "required": True}
    others = {"datasets": datasets, "scripts": entry.SCRIPTS, "may_fail": entry.MAY_FAIL}
    entry.run(main, __doc__, "identity", "counters", "profile", recipe=entry.recipe(ProfileRecipe), **others)
