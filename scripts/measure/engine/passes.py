"""Measure a group of servers by timed SQL: each statement of each pass goes to one server after the other.

The servers that wait are stopped. Within an arm the statements keep the order of the file. By turns there is one
server, which nothing stops.
"""

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from scripts import ROOT
from scripts.lib import json_record
from scripts.lib.host import priority, storage, usage
from scripts.lib.host.causes import full_disk_in
from scripts.lib.host.process import kill_group, watchdog
from scripts.measure.engine import observe, rounds, slice_facts
from scripts.measure.engine.group import Group, Ready, measured_runs, stop
from scripts.measure.engine.own_server import OwnServer
from scripts.measure.engine.run_facts import used_between
from scripts.measure.engine.run_parts import SentStatement, ShownAnswer, Sliced, TimedSql, TimesFacts, WindowFacts
from scripts.measure.engine.run_record import MeasuredRun, Run
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.engine.side_by_side import Held, OpenTime, waiting
from scripts.measure.engine.slices import Taken
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.server import Server, ServerFailed
from scripts.measure.sql import server_answers, statement_files
from scripts.measure.sql.times import Execution

CHANGES = re.compile(r"(insert|update|delete|replace)\b", re.IGNORECASE)
ANSWERED_WITHIN_S = 6 * 3600
COLD_PASS = 1


@dataclass(frozen=True)
class AskedArm:
    """An arm before its first pass: its statements by name, those it is not sent, its counters and resources.

    `hold` is how it waits while others are asked, None by turns.
    """

    ready: Ready
    hold: Held | None
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
        if self.hold:
            self.hold.go_on()
        with self.server.server.blamed():
            yield
        if self.hold:
            self.hold.stop()


@dataclass(frozen=True, kw_only=True)
class StatementCost(OpenTime):
    """The time in which one server worked and the others waited, and this process's CPU time in it."""

    client_user_s: float
    client_system_s: float


@dataclass(frozen=True)
class Answered:
    """A statement that an arm answered: its executions, the answers that are shown, and what it took; None by turns."""

    arm: str
    executions: list[Execution]
    shown: list[ShownAnswer]
    spent: StatementCost | None


@dataclass(frozen=True)
class PassTimes:
    """The edges of all passes, in seconds since 1970."""

    began_at: float
    ended_at: float


def measure(
    group: Group, ready: Mapping[str, Ready], names: Sequence[str], seed: str, phases: Phases, *, alone: bool
) -> tuple[dict[str, MeasuredRun], Taken]:
    """Send all statements of all passes and stop the servers; returns the runs of the sound arms, and the orders.

    `names` are those of the arms, the reference first. `alone`: one arm by turns. Raises ValueError when the file of
    the statements is not the one of the recipe.
    """
    ordered = {arm: ready[arm] for arm in names if arm in ready}
    phases.announce("send the statements")
    arms = group.in_turn(lambda arm, state: _begin(arm, state, alone=alone), ordered)
    answers, orders, times = _take_passes(group, arms, seed)
    phases.end("measure")
    runs = group.in_turn(lambda arm, state: _end(state, [reply for reply in answers if reply.arm == arm], times), arms)
    holds = {arm: state.hold for arm, state in arms.items() if state.hold}
    stops = stop(group, {arm: state.server for arm, state in ready.items()}, holds, seed, phases)
    open_s = sum(reply.spent.open_ns for reply in answers if reply.spent) / 1e9
    return measured_runs(runs, stops, ready), Taken((), orders, open_s)


def _begin(arm: str, ready: Ready, *, alone: bool) -> AskedArm:
    server = ready.own
    chosen, skipped = statements_of(server.setting)
    with server.server.blamed():
        edge = server.edge()
    used = sample(server.server.process.pid)
    hold = None if alone else server.hold()
    return AskedArm(ready, hold, {statement.name: statement for statement in chosen}, skipped, edge, used)


def _take_passes(
    group: Group, arms: Mapping[str, AskedArm], seed: str
) -> tuple[list[Answered], list[list[str]], PassTimes]:
    """Return the answers in their order, the orders of the arms, one per statement, and when they were sent."""
    if not arms:
        return [], [], PassTimes(time.time(), time.time())
    setting, answers = next(iter(arms.values())).server.setting, list[Answered]()
    names, passes = names_of_statements(setting), setting.load.passes or 0
    orders = list(rounds.orders(list(arms), passes * len(names), seed))
    began_at, drawn = time.time(), iter(orders)
    with (
        pinned(setting.cpus.client_cpus),
        waiting([state.hold for state in arms.values() if state.hold]),
    ):
        for number in range(1, passes + 1):
            connections = group.in_turn(lambda arm, state: _open(group, arm, state), arms)
            for name in names:
                for arm in next(drawn):
                    if arm not in group.failures and name in arms[arm].statements:
                        at = (number, name, connections[arm][1])
                        answers += group.attempt(lambda arm, at: _ask(arm, arms[arm], *at), arm, at)
            group.in_turn(lambda arm, opened: _close(arms[arm], opened[0]), connections)
    return answers, orders, PassTimes(began_at, time.time())


def _open(group: Group, arm: str, asked_arm: AskedArm) -> tuple[ExitStack, Connection]:
    """Open the connection of a pass."""
    with asked_arm.working():
        stack = group.stack(arm).enter_context(ExitStack())
        return stack, stack.enter_context(connected(asked_arm.server.setting, asked_arm.server.server))


def _close(asked_arm: AskedArm, stack: ExitStack) -> None:
    """Close the connection of a pass."""
    with asked_arm.working():
        stack.close()


def _ask(arm: str, asked_arm: AskedArm, number: int, name: str, connection: Connection) -> Answered:
    """Send a statement in a pass. Raises ServerFailed naming it."""
    statement = asked_arm.statements[name]
    spent: list[StatementCost] = []
    if number == COLD_PASS and asked_arm.hold:
        storage.drop_files(asked_arm.server.data)
    with asked_arm.working(), _counted(asked_arm.hold, spent):
        executions, shown = send(asked_arm.server.server, connection, statement, number)
    return Answered(arm, executions, shown, spent[0] if spent else None)


@contextlib.contextmanager
def _counted(hold: Held | None, spent: list[StatementCost]) -> Iterator[None]:
    """Add to `spent` what the body took; by turns the passes are counted as a whole."""
    if hold is None:
        yield
        return
    client, cpu_ns, host, pressure_s = os.times(), hold.cpu_ns(), usage.cpu_times(), usage.pressures_s()
    begin_ns = time.monotonic_ns()
    yield
    open_ns, after = time.monotonic_ns() - begin_ns, os.times()
    used_ns, used = hold.cpu_ns() - cpu_ns, usage.cpu_between(host, usage.cpu_times())
    waited_s = usage.pressure_between(pressure_s, usage.pressures_s())
    spent.append(StatementCost(
        open_ns=open_ns, cpu_ns=used_ns, host=used, pressure_s=waited_s,
        client_user_s=after.user - client.user, client_system_s=after.system - client.system,
    ))  # fmt: skip


def _end(asked_arm: AskedArm, answers: Sequence[Answered], times: PassTimes) -> Run:
    """Return the run with all passes of an arm, and write the times as text."""
    server = asked_arm.server
    with server.server.blamed():
        after = sample(server.server.process.pid)
        edge = server.edge()
        files = server.files(asked_arm.ready.sizes)
    executions = [execution for reply in answers for execution in reply.executions]
    json_record.write_text(server.setting.text, "".join(map(line, executions)))
    run = replace(
        asked_arm.ready.run,
        times=TimesFacts(window_started_at=times.began_at, window_ended_at=times.ended_at),
        counters=observe.counter_edges(asked_arm.edge, edge),
        engine_report=observe.reports(asked_arm.edge, edge),
        files=files,
        timed_sql=TimedSql(
            statements=sent(list(asked_arm.statements.values())),
            skipped=asked_arm.skipped,
            executions=executions,
            shown=[answer for reply in answers for answer in reply.shown],
        ),
    )
    if asked_arm.hold:
        return _beside_others(run, asked_arm.used, asked_arm.hold, answers, after)
    # The window of a turn is from the first connection to the last answer.
    duration_s = after.monotonic_s - asked_arm.used.monotonic_s
    used = used_between(asked_arm.used, after)
    return replace(run, window=WindowFacts(duration_s=duration_s), **used.values())


def _beside_others(run: Run, before: usage.Sample, hold: Held, answers: Sequence[Answered], after: usage.Sample) -> Run:
    """Return the run of an arm beside others, with the time in which it was asked as its window."""
    spent, client = [reply.spent for reply in answers if reply.spent], before.client
    open_s = sum(cost.open_ns for cost in spent) / 1e9
    # This process is the load generator of all arms; of its CPU time the arm has its part.
    user_s = client.user_s + sum(cost.client_user_s for cost in spent)
    system_s = client.system_s + sum(cost.client_system_s for cost in spent)
    used = slice_facts.used_in(spent, before, replace(after, client=replace(client, user_s=user_s, system_s=system_s)))
    sliced = Sliced(rounds=len(spent), open_s=open_s, held_by=hold.held_by, waiting_cpu_s=hold.waiting_cpu_s)
    return replace(run, window=WindowFacts(duration_s=open_s), sliced=sliced, **used.values())


def sent(chosen: Sequence[statement_files.Timed]) -> list[SentStatement]:
    """Return statements as a record shows them."""
    return [{"kind": timed.kind, "name": timed.name, "text": timed.text, "against": timed.against} for timed in chosen]


def line(execution: Execution) -> str:
    """Return an execution of a statement as a line of text."""
    seconds, rows = execution["seconds"], execution["rows"] or 0
    return f"pass {execution['pass']}  {seconds:12.6f} s  {rows:>10} rows  {execution['statement']}\n"


def _statements_of_file(setting: Setting) -> list[statement_files.Timed]:
    """Return the statements of all releases. Raises ValueError when the file is not the one of the recipe."""
    file = statement_files.timed_sql_path(ROOT, setting.context.sql or "")
    if (sha256 := json_record.file_sha256(file)) != setting.load.content:
        raise ValueError(
            f"{file}: its SHA-256 is {sha256}, the recipe's {setting.load.content}; start the workflow again"
        )
    return statement_files.read_timed(file)


def names_of_statements(setting: Setting) -> list[str]:
    """Return the names of the statements of all releases, in the order of the file."""
    return list(dict.fromkeys(statement.name for statement in _statements_of_file(setting)))


def statements_of(setting: Setting) -> tuple[list[statement_files.Timed], list[str]]:
    """Return the statements for this release, and the names of the timed statements that it is not sent."""
    described, statements = json_record.read(setting.identity), _statements_of_file(setting)
    chosen = statement_files.suited_statements(statements, described["family"], described["release"])
    sent_names = {statement.name for statement in chosen}
    timed = dict.fromkeys(statement.name for statement in statements if statement.kind == statement_files.TIMED)
    return chosen, [name for name in timed if name not in sent_names]


@contextlib.contextmanager
def connected(setting: Setting, server: Server) -> Iterator[Connection]:
    """Have a connection for one pass, set up as the family's benchmark statements say."""
    with server_answers.connections_opened(server.connect) as connection:
        priority.carry_over(server.process.pid)
        for text in setting.family.benchmark_statements():
            server_answers.demand_answer(connection, text)
        yield connection


def send(
    server: Server, connection: Connection, statement: statement_files.Timed, number: int
) -> tuple[list[Execution], list[ShownAnswer]]:
    """Send a statement in the pass of this number; returns what a record has of it: nothing if it only prepares."""
    before = usage.process_times(server.process.pid)
    with _awaited(server, statement.name):
        cursor = connection.cursor()
        begin_s = time.perf_counter()
        cursor.execute(statement.text)
        rows = None if cursor.description is None else cursor.fetchall()
        seconds = time.perf_counter() - begin_s
    if statement.kind == statement_files.SHOWN:
        texts, columns = [[plain(value) for value in row] for row in rows or []], cursor.description or []
        named: ShownAnswer = {
            "pass": number, "name": statement.name, "columns": [column[0] for column in columns], "rows": texts,
        }  # fmt: skip
        return [], [named]
    if statement.kind != statement_files.TIMED:
        return [], []
    after = usage.process_times(server.process.pid)
    changed = cursor.rowcount if CHANGES.match(statement.text) else None
    execution: Execution = {
        "pass": number,
        "statement": statement.name,
        "seconds": seconds,
        "rows": changed if rows is None else len(rows),
        "answer_sha256": None if rows is None else digest(rows),
        "server_cpu_s": round(after.user_s + after.system_s - before.user_s - before.system_s, 6),
        "read_bytes": _grown(before.read_bytes, after.read_bytes),
        "write_bytes": _grown(before.write_bytes, after.write_bytes),
    }
    return [execution], []


def _grown(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def digest(rows: Iterable[Iterable[object]]) -> str:
    """Return the SHA-256 (hex) of an answer's rows, whatever their order, with values written as `plain` does."""
    total = hashlib.sha256()
    for line in sorted(json_record.canonical([plain(value) for value in row]) for row in rows):
        total.update(line.encode() + b"\n")
    return total.hexdigest()


def plain(value: object) -> str | None:
    """Return a value as text that two servers agree on: numbers without type, floats in 12 digits, bytes as UTF-8."""
    match value:
        case None:
            return None
        case bool() | int() | Decimal():
            return f"{Decimal(value).normalize():f}"
        case float():
            return f"{value:.12g}"
        case bytes() | bytearray():
            return bytes(value).decode("utf-8", "backslashreplace")
    return str(value)


@contextlib.contextmanager
def _awaited(server: Server, name: str) -> Iterator[None]:
    """Raise ServerFailed naming the statement after an error, a lost connection or a timeout."""
    with watchdog(partial(kill_group, server.process), ANSWERED_WITHIN_S) as silent:
        try:
            yield
        except Exception as error:  # each family's driver has its own errors
            how = f"had no answer within {ANSWERED_WITHIN_S} s" if silent.is_set() else f"was not answered: {error}"
            raise ServerFailed(f"statement {name!r} {how}", full_disk_in(str(error))) from error


@contextlib.contextmanager
def pinned(cpus: Sequence[int]) -> Iterator[None]:
    """Keep this process on some CPUs while the body runs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def sample(server_pid: int) -> usage.Sample:
    """Sample the usage of the server and of this process as load generator, without the server that it started."""
    usage_now, times = usage.sample_usage(server_pid, server_pid), os.times()
    client = replace(usage_now.client, processes=1, user_s=times.user, system_s=times.system)
    return replace(usage_now, client=client)
