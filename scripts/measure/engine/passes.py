"""Measure a group of servers by timed SQL: each statement of each pass goes to one server after the other.

The servers that wait are stopped. Within an arm the statements keep the order of the file. By turns there is one
server, which nothing stops.
"""

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import storage, usage
from scripts.measure.engine import observe, rounds, slice_facts, statement_passes
from scripts.measure.engine.group import Group, Ready, stop
from scripts.measure.engine.held import Held, waiting
from scripts.measure.engine.own_server import OwnServer
from scripts.measure.engine.setting import Phases
from scripts.measure.engine.slices import Taken
from scripts.measure.sql import statement_files

COLD_PASS = 1


@dataclass(frozen=True)
class AskedArm:
    """An arm before its first pass: its statements by name, those it is not sent, its counters and resources.

    `held` is how it waits while others are asked, None by turns.
    """

    ready: Ready
    held: Held | None
    statements: Mapping[str, statement_files.Timed]
    skipped: list[str]
    edge: observe.Edge
    used: usage.Sample

    @property
    def server(self) -> OwnServer:
        """The server of the arm."""
        return self.ready.own

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Let the server go on while the body runs; it stays so after an error, which ends it."""
        if self.held:
            self.held.go_on()
        with self.server.server.blamed():
            yield
        if self.held:
            self.held.stop()


@dataclass(frozen=True)
class StatementCost:
    """The time in which one server worked and the others waited: its CPU time, the host's, and this process's own."""

    open_ns: int
    cpu_ns: int
    host: usage.CpuTimes
    pressure_s: dict[str, float | None]
    client_user_s: float
    client_system_s: float


@dataclass(frozen=True)
class Answered:
    """A statement that an arm answered: its executions, the answers that are shown, and what it took; None by turns."""

    arm: str
    executions: list[dict[str, Any]]
    shown: list[dict[str, Any]]
    spent: StatementCost | None


@dataclass(frozen=True)
class PassTimes:
    """The edges of all passes, in seconds since 1970."""

    began_at: float
    ended_at: float


def measure(
    group: Group, ready: Mapping[str, Ready], names: Sequence[str], seed: str, phases: Phases, *, alone: bool
) -> tuple[dict[str, dict[str, Any]], Taken]:
    """Send all statements of all passes and stop the servers; returns the facts of the sound arms, and the orders.

    `names` are those of the arms, the reference first. `alone`: one arm by turns. Raises ValueError when the file of
    the statements is not the one of the recipe.
    """
    ordered = {arm: ready[arm] for arm in names if arm in ready}
    phases.announce("send the statements")
    asked = group.in_turn(lambda arm, state: _begin(arm, state, alone=alone), ordered)
    answers, orders, times = _take_passes(group, asked, seed)
    phases.end("measure")
    facts = group.in_turn(lambda arm, state: _end(state, [one for one in answers if one.arm == arm], times), asked)
    held = {arm: state.held for arm, state in asked.items() if state.held}
    stops = stop(group, {arm: state.server for arm, state in ready.items()}, held, seed, phases)
    open_s = sum(one.spent.open_ns for one in answers if one.spent) / 1e9
    return {arm: {**facts[arm], **stopped} for arm, stopped in stops.items() if arm in facts}, Taken((), orders, open_s)


def _begin(arm: str, ready: Ready, *, alone: bool) -> AskedArm:
    server = ready.own
    chosen, skipped = statement_passes.statements_of(server.setting)
    with server.server.blamed():
        edge = server.edge()
    used = statement_passes.sample(server.server.process.pid)
    held = None if alone else server.hold()
    return AskedArm(ready, held, {one.name: one for one in chosen}, skipped, edge, used)


def _take_passes(
    group: Group, asked: Mapping[str, AskedArm], seed: str
) -> tuple[list[Answered], list[list[str]], PassTimes]:
    """Return the answers in their order, the orders of the arms, one per statement, and when they were sent."""
    if not asked:
        return [], [], PassTimes(time.time(), time.time())
    setting, answers = next(iter(asked.values())).server.setting, []
    names = list(dict.fromkeys(one.name for one in statement_passes.every_statement(setting)))
    orders = list(rounds.orders(list(asked), setting.load["passes"] * len(names), seed))
    began_at, drawn = time.time(), iter(orders)
    with (
        statement_passes.pinned(setting.cpus.client_cpus),
        waiting([state.held for state in asked.values() if state.held]),
    ):
        for number in range(1, setting.load["passes"] + 1):
            connections = group.in_turn(lambda arm, state: _open(group, arm, state), asked)
            for name in names:
                for arm in next(drawn):
                    if arm not in group.failures and name in asked[arm].statements:
                        at = (number, name, connections[arm][1])
                        answers += group.attempt(lambda arm, at: _ask(arm, asked[arm], *at), arm, at)
            group.in_turn(lambda arm, opened: _close(asked[arm], opened[0]), connections)
    return answers, orders, PassTimes(began_at, time.time())


def _open(group: Group, arm: str, asked: AskedArm) -> tuple[ExitStack, Any]:
    """Open the connection of a pass."""
    with asked.working():
        stack = group.stack(arm).enter_context(ExitStack())
        return stack, stack.enter_context(statement_passes.connected(asked.server.setting, asked.server.server))


def _close(asked: AskedArm, stack: ExitStack) -> None:
    """Close the connection of a pass."""
    with asked.working():
        stack.close()


def _ask(arm: str, asked: AskedArm, number: int, name: str, connection: Any) -> Answered:
    """Send a statement in a pass. Raises ServerFailed naming it."""
    statement = asked.statements[name]
    spent: list[StatementCost] = []
    if number == COLD_PASS and asked.held:
        storage.drop_files(asked.server.data)
    with asked.working(), _counted(asked.held, spent):
        answers = [{"pass": number, **one} for one in statement_passes.send(asked.server.server, connection, statement)]
    executions, shown = (answers, []) if statement.kind == statement_files.TIMED else ([], answers)
    return Answered(arm, executions, shown, spent[0] if spent else None)


@contextlib.contextmanager
def _counted(held: Held | None, spent: list[StatementCost]) -> Iterator[None]:
    """Add to `spent` what the body took; by turns the passes are counted as a whole."""
    if held is None:
        yield
        return
    own, cpu_ns, host, pressure_s = os.times(), held.cpu_ns(), usage.cpu_times(), usage.pressures_s()
    begin_ns = time.monotonic_ns()
    yield
    open_ns, after = time.monotonic_ns() - begin_ns, os.times()
    used_ns, used = held.cpu_ns() - cpu_ns, usage.cpu_between(host, usage.cpu_times())
    waited_s = usage.pressure_between(pressure_s, usage.pressures_s())
    spent.append(StatementCost(open_ns, used_ns, used, waited_s, after.user - own.user, after.system - own.system))


def _end(asked: AskedArm, answers: Sequence[Answered], times: PassTimes) -> dict[str, Any]:
    """Return the facts of all passes of an arm, and write the times as text."""
    server = asked.server
    with server.server.blamed():
        after = statement_passes.sample(server.server.process.pid)
        edges = observe.edge_facts(asked.edge, server.edge())
        sizes = server.file_facts(asked.ready.sizes)
    executions = [one for each in answers for one in each.executions]
    json_record.write_text(server.setting.text, "".join(map(statement_passes.line, executions)))
    return {
        **asked.ready.facts,
        "commands": asked.ready.commands,
        "times": {"window_started_at": times.began_at, "window_ended_at": times.ended_at},
        **(_facts_beside(asked, asked.held, answers, after) if asked.held else _facts_alone(asked.used, after)),
        **edges,
        **sizes,
        "timed_sql": {
            "statements": statement_passes.sent(list(asked.statements.values())),
            "skipped": asked.skipped,
            "executions": executions,
            "shown": [one for each in answers for one in each.shown],
        },
    }


def _facts_alone(before: usage.Sample, after: usage.Sample) -> dict[str, Any]:
    """Return the window of a turn: from the first connection to the last answer."""
    return {"window": {"duration_s": after.monotonic_s - before.monotonic_s}, **usage.usage_between(before, after)}


def _facts_beside(asked: AskedArm, held: Held, answers: Sequence[Answered], after: usage.Sample) -> dict[str, Any]:
    """Return the window of an arm beside others: the time in which it was asked."""
    spent, client = [one.spent for one in answers if one.spent], asked.used.client
    open_s = sum(each.open_ns for each in spent) / 1e9
    # This process is the load generator of all arms; of its CPU time the arm has its own part.
    user_s = client.user_s + sum(each.client_user_s for each in spent)
    system_s = client.system_s + sum(each.client_system_s for each in spent)
    own = replace(after, client=replace(client, user_s=user_s, system_s=system_s))
    waiting_s = held.waiting_cpu_s
    sliced = {"rounds": len(spent), "open_s": open_s, "held_by": held.held_by, "waiting_cpu_s": waiting_s}
    return {"window": {"duration_s": open_s}, **slice_facts.usage_facts(spent, asked.used, own), "sliced": sliced}
