"""Slices on real servers: blocks of a finished study's builds side by side, with restarts, and what varies where.

Needs a checkout whose `results/` has the study's builds and datasets (`make report` of it). Writes one row per slice
to a CSV, and prints per workload: the spread of slices, what restarts add, the ratio to the reference, its A/A, the
share of time with a gate open, and how the ratio moves with the length of a slice.
"""

import argparse
import contextlib
import csv
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from scripts.analysis.intervals import cell_intervals, pooled_variance
from scripts.config.study import load
from scripts.host import cpus, workplace
from scripts.host.locks import exclusive
from scripts.loadgen import sysbench
from scripts.loadgen.gated import GatedLoad, gated
from scripts.loadgen.lua import script_path
from scripts.measure.rounds import orders
from scripts.measure.side_by_side import Arm, take_rounds, waiting
from scripts.plan.paths import Paths
from scripts.plan.recipes import Plan
from scripts.servers import data_directory, families
from scripts.servers.options import server_options
from scripts.servers.server import Server, running
from tests.bench.table import ROOT

AA = "aa"
SKIP_S, WARM_UP_S = 0.01, 2.0


@dataclass(frozen=True)
class Bench:
    """A finished study's paths, the folder of its results, the number of clients, and where logs go."""

    paths: Paths
    results: Path
    clients: int
    folder: Path

    @contextlib.contextmanager
    def arm(self, name: str, variant: str, workload: str, seed: int) -> Iterator[Arm]:
        """Have one arm's server running on a clone of its dataset, with its clients held at their gate."""
        plan, place = self.paths.plan, cpus.place_processes(cpus.read_topology(), "automatic")
        recipe, built = plan.variant(variant), plan.study.variants[variant]
        family = families.of(recipe["family"])
        identity = self.results.parent / self.paths.build(built["server"], built["build"]) / "identity.json"
        dataset = self.results.parent / self.paths.dataset(variant, workload)
        options, log = server_options(family, recipe), self.folder / f"{name}.log"
        with contextlib.ExitStack() as stack:
            data = stack.enter_context(data_directory.cloned(dataset / "snapshot", None))
            install = workplace.installed(identity)
            server = stack.enter_context(running(family, install, data, options, log, cpus=place.server_cpus))
            gate_folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self.folder)))
            held = self.load(server, plan.load(variant, workload), seed, gate_folder, place.client_cpus)
            yield Arm(name, server, stack.enter_context(held))

    def load(
        self, server: Server, load: dict[str, Any], seed: int, folder: Path, client_cpus: tuple[int, ...]
    ) -> contextlib.AbstractContextManager[GatedLoad]:
        """Return the gated sysbench of a workload on a server."""
        tables, script = load["tables"], script_path(load["script"])
        sizes, flags = (tables.get("tables"), tables.get("rows")), server.family.sysbench_flags(server.sockets)
        generator, wanted = sysbench.read_capabilities(), load.get("options", {})
        argv = sysbench.run_command(generator, script, flags, *sizes, wanted, self.clients, 1, seed=seed)
        return gated(argv, script, self.clients, folder, folder / "sysbench.txt", client_cpus)

    def block(
        self, workload: str, number: int, variants: dict[str, str], rounds: int, slice_s: float
    ) -> Iterator[dict[str, Any]]:
        """Yield the slices of one block: all servers started anew, warmed up, measured, stopped."""
        begin_s = time.monotonic()
        with contextlib.ExitStack() as stack:
            arms = [
                stack.enter_context(self.arm(name, variant, workload, number)) for name, variant in variants.items()
            ]
            with waiting(arms):
                warm = orders(list(variants), round(WARM_UP_S / slice_s) + 1, seed=number)
                list(take_rounds(arms, list(warm), slice_s, SKIP_S))
                for arm in arms:
                    arm.load.gate.forget()
                drawn = list(orders(list(variants), rounds, seed=number + 1))
                taken = list(take_rounds(arms, drawn, slice_s, SKIP_S))
            waited = {arm.name: arm.waiting_cpu_ns for arm in arms}
            for arm in arms:
                completed, events = arm.load.gate.completed, arm.load.end().totals.transactions
                if completed != events:
                    raise ValueError(f"{arm.name}: the gate counted {completed} transactions, sysbench {events}")
        wall_s = time.monotonic() - begin_s
        about = {"workload": workload, "block": number, "slice_s": slice_s, "block_wall_s": wall_s}
        yield from ({**about, **asdict(one), "waiting_cpu_ns": waited[one.arm]} for one in taken)


def summary(slices: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return one row per workload, slice length and arm: its ratio of TPS to the reference, with its interval.

    `slice_sd` is the standard deviation of one arm's log TPS in a slice once the round is taken away, `restart_sd`
    what blocks vary by beyond their slices, `lag1` the correlation of neighbouring rounds' log ratios, `waiting_ms`
    the CPU time that the arm used while it was stopped. A/A is compared with the reference alone.
    """
    rows = []
    for (workload, slice_s), part in slices.groupby(["workload", "slice_s"]):
        arms = [reference, AA, *sorted(set(part["arm"]) - {reference, AA})]
        tps = part.pivot_table(index=["block", "round"], columns="arm", values="tps")[arms]
        within = np.array([pooled_variance(np.log(one.to_numpy()))[0] for _, one in tps.groupby("block")])
        rounds = tps.groupby("block").size().to_numpy()
        y = np.log(tps.groupby("block").mean()).to_numpy()[None]
        spread = np.broadcast_to((within / rounds)[None, :, None], y.shape)
        # A/A beside the variants: against the one reference arm that is not itself.
        own = cell_intervals(np.insert(y[..., [0, 1]], 1, np.nan, axis=2), spread[..., :3])[0]
        found = dict(zip(arms[1:], [*own, *cell_intervals(y, spread)[0]], strict=True))
        blocks_s2 = pooled_variance(y[0])[0]
        open_s, wall_s = part["open_ns"].sum() / 1e9, part.groupby("block")["block_wall_s"].first().sum()
        for arm, one in found.items():
            ratio = np.log(tps[arm] / tps[reference])
            rows.append(
                {
                    "workload": workload,
                    "slice_s": slice_s,
                    "arm": arm,
                    "blocks": one.blocks,
                    "ratio": np.exp(one.mean),
                    "low": np.exp(one.low),
                    "high": np.exp(one.high),
                    "basis": one.basis,
                    "slice_sd": np.sqrt(within.mean()),
                    "restart_sd": np.sqrt(max(blocks_s2 - (within / rounds).mean(), 0)),
                    "lag1": ratio.groupby("block").apply(lambda each: each.autocorr(1)).mean(),
                    "open_share": open_s / wall_s,
                    "waiting_ms": part.loc[part["arm"] == arm, "waiting_cpu_ns"].max() / 1e6,
                }
            )
    return pd.DataFrame(rows)


def main(config: Path, results: Path, out: Path, blocks: int, rounds: int, slices_s: list[float], clients: int) -> None:
    """Measure every workload of the study in `blocks` blocks per slice length; write `out`, print the summary."""
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    paths = Paths(Plan(load(settings, ROOT, str(config)), ROOT))
    reference = settings["reference"]
    variants = {reference: reference, AA: reference, **{name: name for name in settings["variants"]}}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, out.open("w", newline="") as file, exclusive():
        bench, writer = Bench(paths, results, clients, Path(name)), None
        Path(name).chmod(0o755)
        for number in range(1, blocks + 1):
            for workload in settings["workloads"]:
                for slice_s in slices_s:
                    for row in bench.block(workload, number, variants, rounds, slice_s):
                        if writer is None:
                            writer = csv.DictWriter(file, list(row))
                            writer.writeheader()
                        writer.writerow(row)
                    file.flush()
    print(summary(pd.read_csv(out), reference).round(4).to_string(index=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "studies/quick.yaml", help="a study that was finished")
    parser.add_argument("--results", type=Path, default=Path("results"), help="the folder with its results")
    parser.add_argument("--out", type=Path, required=True, help="the CSV to write, one row per slice")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--slices", type=float, nargs="+", default=[0.1], dest="slices_s", help="seconds")
    parser.add_argument("--clients", type=int, default=8)
    main(**vars(parser.parse_args()))
