"""Timed SQL side by side: all servers of a block are up, and each statement goes to one of them after the other.

The servers that wait are stopped. Within an arm the statements keep the order of the file.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import storage, usage
from scripts.measure.engine import observe, rounds, slice_facts, statement_passes
from scripts.measure.engine.bench import Bench
from scripts.measure.engine.held import Held, waiting
from scripts.measure.sql import statement_files

COLD_PASS = 1


@dataclass(frozen=True)
class Turn:
    """The time in which one server worked and the others waited: its CPU time, the host's, and this process's own."""

    open_ns: int
    cpu_ns: int
    host: usage.CpuTimes
    pressure_s: dict[str, float | None]
    client_user_s: float
    client_system_s: float


@dataclass
class SqlBench(Bench):
    """The bench of an arm that answers statements."""

    statements: dict[str, statement_files.Timed] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    _found: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {"executions": [], "shown": []})
    _pass: contextlib.ExitStack | None = None
    _asking: Any = None

    def time_storage(self) -> None:
        """Record the storage's fsync, then drop the clone from the page cache: the first pass is cold."""
        super().time_storage()
        self.facts["page_cache"] = storage.drop_cached(self._data)

    def fill_pool(self) -> None:
        """Leave the pool empty: the first pass is cold."""

    def attach_load(self) -> None:
        """Read the statements that this release is sent."""
        chosen, self.skipped = statement_passes.statements_of(self.setting)
        self.statements = {one.name: one for one in chosen}
        self.arm = Held(self.name, self._server, end=self.stack.close)

    def begin_passes(self) -> None:
        """Read the server's counters and resources before the first pass."""
        with self._server.blamed():
            self._before = observe.read_edge(self.setting.family, self._connection)
        self._used_before = statement_passes.sample(self._server.process.pid)

    def begin_pass(self) -> None:
        """Open the connection of a pass."""
        with self._working():
            self._pass = self.stack.enter_context(contextlib.ExitStack())
            self._asking = self._pass.enter_context(statement_passes.connected(self.setting, self._server))

    def end_pass(self) -> None:
        """Close the connection of a pass."""
        with self._working():
            self._pass.close()

    def ask(self, name: str, number: int) -> None:
        """Send a statement in a pass, if this release is sent it. Raises ServerFailed naming it."""
        if not (statement := self.statements.get(name)):
            return
        if number == COLD_PASS:
            storage.drop_files(self._data)
        kept = self._found["executions" if statement.kind == statement_files.TIMED else "shown"]
        with self._working(), self._counted():
            kept += [{"pass": number, **one} for one in statement_passes.send(self._server, self._asking, statement)]

    def end_passes(self, began_at: float, ended_at: float) -> None:
        """Add the facts of all passes, and write the times as text."""
        server, family = self._server, self.setting.family
        with server.blamed():
            self.facts |= observe.edge_facts(self._before, observe.read_edge(family, self._connection))
            self.facts["files"] |= {"after": observe.file_sizes(family, self._data, self._connection)}
        open_s = sum(turn.open_ns for turn in self.turns) / 1e9
        self.facts |= {
            "times": {"window_started_at": began_at, "window_ended_at": ended_at},
            "window": {"duration_s": open_s},
            **slice_facts.usage_facts(self.turns, self._used_before, self._used_after()),
            "timed_sql": {
                "statements": statement_passes.sent([*self.statements.values()]),
                "skipped": self.skipped,
                **self._found,
            },
            "sliced": {
                "rounds": len(self.turns), "open_s": open_s, "held_by": self.arm.held_by,
                "waiting_cpu_s": self.arm.waiting_cpu_ns / 1e9,
            },
        }  # fmt: skip
        json_record.write_text(self.setting.text, "".join(map(statement_passes.line, self._found["executions"])))

    def _used_after(self) -> usage.Sample:
        """Return a sample in which this process, the load generator of all arms, has only this arm's CPU time."""
        after, client = statement_passes.sample(self._server.process.pid), self._used_before.client
        user_s = client.user_s + sum(turn.client_user_s for turn in self.turns)
        system_s = client.system_s + sum(turn.client_system_s for turn in self.turns)
        return replace(after, client=replace(client, user_s=user_s, system_s=system_s))

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        """Let the server go on while the body runs; it stays so after an error, which ends it."""
        self.arm.go_on()
        with self._server.blamed():
            yield
        self.arm.stop()

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        own, cpu_ns, host, pressure_s = os.times(), self.arm.cpu_ns(), usage.cpu_times(), usage.pressures_s()
        begin_ns = time.monotonic_ns()
        yield
        open_ns, after = time.monotonic_ns() - begin_ns, os.times()
        used_ns, used = self.arm.cpu_ns() - cpu_ns, usage.cpu_between(host, usage.cpu_times())
        waited_s = usage.pressure_between(pressure_s, usage.pressures_s())
        self.turns.append(
            Turn(open_ns, used_ns, used, waited_s, after.user - own.user, after.system - own.system)
        )  # fmt: skip


Step = Callable[[SqlBench, Callable[[SqlBench], None]], None]


def take_passes(benches: Sequence[SqlBench], seed: str, step: Step) -> list[list[str]]:
    """Send all statements of all passes to the benches, and return the orders of the arms, one per statement.

    `step` calls a function of a bench unless that has failed, and notes its failure.
    """
    setting, by_name = benches[0].setting, {bench.name: bench for bench in benches}
    names = list(dict.fromkeys(one.name for one in statement_passes.every_statement(setting)))
    orders = list(rounds.orders(list(by_name), setting.load["passes"] * len(names), seed))
    for bench in benches:
        step(bench, SqlBench.begin_passes)
    began_at, left = time.time(), iter(orders)
    with (
        statement_passes.pinned(setting.cpus.client_cpus),
        waiting([bench.arm for bench in benches if not bench.failure]),
    ):
        for number in range(1, setting.load["passes"] + 1):
            for bench in benches:
                step(bench, SqlBench.begin_pass)
            for name in names:
                for arm in next(left):
                    step(by_name[arm], lambda bench, name=name, number=number: bench.ask(name, number))
            for bench in benches:
                step(bench, SqlBench.end_pass)
    ended_at = time.time()
    for bench in benches:
        step(bench, lambda bench: bench.end_passes(began_at, ended_at))
    return orders
