"""Servers that are up together: every step is taken with all that are sound, and returns what the next one needs."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from scripts.lib.host import pausing
from scripts.lib.host.causes import of_host
from scripts.lib.host.leftovers import hold_machine
from scripts.measure.engine import own_server, reached_server
from scripts.measure.engine.own_server import OwnServer, Sizes
from scripts.measure.engine.reached_server import ReachedServer
from scripts.measure.engine.run_parts import Pool
from scripts.measure.engine.run_record import OK, MeasuredRun, Run
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.engine.side_by_side import GateAlone, Held, waiting
from scripts.measure.loadgen import sysbench
from scripts.measure.loadgen.lua import script_path
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers import data_directory
from scripts.measure.servers.server import ServerFailed

A = TypeVar("A")
B = TypeVar("B")
ServerUnderTest = OwnServer | ReachedServer


class Group:
    """Arms whose servers are up together, in the order of their starts; use `started` to get one.

    `failures` holds what ended an arm before the group did: its server, its load and its clone are gone.
    """

    def __init__(self, stacks: Mapping[str, ExitStack], threads: ThreadPoolExecutor) -> None:
        self.failures: dict[str, ServerFailed | SysbenchFailed] = {}
        self._stacks, self._threads = stacks, threads

    def stack(self, arm: str) -> ExitStack:
        """Return what ends with an arm."""
        return self._stacks[arm]

    def sound(self, states: Mapping[str, A]) -> dict[str, A]:
        """Return the states of the arms that have not failed."""
        return {arm: state for arm, state in states.items() if arm not in self.failures}

    def together(self, step: Callable[[str, A], B], states: Mapping[str, A]) -> dict[str, B]:
        """Take a step with all sound arms at the same time; returns what it made of those that are still sound."""
        sound = self.sound(states)
        results = list(self._threads.map(partial(self.attempt, step), sound, sound.values()))
        return self.sound({arm: result for arm, several in zip(sound, results, strict=True) for result in several})

    def in_turn(self, step: Callable[[str, A], B], states: Mapping[str, A]) -> dict[str, B]:
        """Take a step with one sound arm after the other; returns what it made of those that are still sound."""
        return {arm: result for arm, state in self.sound(states).items() for result in self.attempt(step, arm, state)}

    def attempt(self, step: Callable[[str, A], B], arm: str, state: A) -> list[B]:
        """Take a step with an arm; returns what it made, nothing if it fails. A failure of the host is raised."""
        try:
            return [step(arm, state)]
        except (ServerFailed, SysbenchFailed) as failure:
            if of_host(failure):
                raise
            self.failures[arm] = failure
            # The thread that started the server ends it too late for the other arms.
            self._stacks[arm].close()
            return []


@dataclass(frozen=True)
class Ready:
    """A server with its tables in memory: `run` is its record so far, `sizes` are those of its files.

    `shared` are the server's variables that do not differ between runs of its variant.
    """

    server: ServerUnderTest
    sizes: Sizes
    run: Run
    shared: Mapping[str, str]

    @property
    def own(self) -> OwnServer:
        """The server, which we started. Raises TypeError for one that already runs."""
        if not isinstance(self.server, OwnServer):
            raise TypeError(f"{self.server.setting.identity}: this server already runs, expected one to start")
        return self.server


@contextlib.contextmanager
def held_machine(setting: Setting, phases: Phases) -> Iterator[None]:
    """Have the machine for measuring alone, after the study's rest; what was written is on disk afterwards.

    Raises ValueError naming an option whose value the load's script would misread.
    """
    if setting.load.script:
        sysbench.demand_options(setting.generator, script_path(setting.load.script), setting.load.options)
    with hold_machine() as waited_s:
        phases.end("startup", less_s=waited_s, less_name="wait_lock")
        rest(setting, phases)
        yield
        phases.add("drain", data_directory.drain())


def rest(setting: Setting, phases: Phases) -> None:
    """Leave the host idle for the study's `rest_s`."""
    if seconds := setting.load.rest_s:
        time.sleep(seconds)
        phases.end("rest")


@contextlib.contextmanager
def started(settings: Mapping[str, Setting], phases: Phases) -> Iterator[tuple[Group, dict[str, Ready]]]:
    """Have the servers of a group, in the order in which they are started; nothing of it is left afterwards."""
    with ExitStack() as stack:
        stacks = {arm: stack.enter_context(ExitStack()) for arm in settings}
        # A server is killed when the thread that started it ends, so the threads outlive the servers' clean stop.
        with ThreadPoolExecutor(len(settings)) as threads, _nothing_awaited_after_a_signal():
            group = Group(stacks, threads)
            is_running = next(iter(settings.values())).is_running
            up = _reached if is_running else _started
            yield group, _filled(group, up(group, settings, phases), phases)
    phases.end("remove")


def _started(group: Group, settings: Mapping[str, Setting], phases: Phases) -> Mapping[str, OwnServer]:
    phases.announce(f"clone the data of {', '.join(settings)}")
    folders = group.together(lambda arm, setting: own_server.clone(setting, group.stack(arm)), settings)
    phases.end("clone")
    phases.add("drain_clone", data_directory.drain())
    clones = group.in_turn(lambda arm, folder: own_server.time_storage(settings[arm], folder), folders)
    phases.end("fsync")
    phases.announce("start the servers")
    servers = group.together(lambda arm, data: own_server.start(settings[arm], data, group.stack(arm)), clones)
    phases.end("start")
    return servers


def _reached(group: Group, settings: Mapping[str, Setting], phases: Phases) -> Mapping[str, ReachedServer]:
    phases.announce(f"connect to the servers of {', '.join(settings)}")
    tables = group.together(lambda arm, setting: reached_server.find_tables(setting, group.stack(arm)), settings)
    servers = group.together(lambda arm, marked: reached_server.reach(settings[arm], marked, group.stack(arm)), tables)
    phases.end("start")
    return servers


def _filled(group: Group, servers: Mapping[str, ServerUnderTest], phases: Phases) -> dict[str, Ready]:
    commands = group.together(lambda arm, server: server.fill_tables(), servers)
    if any(commands.values()):
        phases.end("load")
    filled = group.together(lambda arm, command: _ready(servers[arm], command), commands)
    phases.end("fill")
    return filled


def _ready(server: ServerUnderTest, command: list[str]) -> Ready:
    variables, sizes = server.variables(), server.file_sizes()
    # The first pass of timed SQL is cold.
    pool = Pool() if server.setting.load.sql else server.fill_pool(sizes)
    run = replace(server.run, variables=variables.of_run, pool=pool, commands=server.commands(command))
    return Ready(server, sizes, run, variables.shared)


def measured_runs(
    runs: Mapping[str, Run], stops: Mapping[str, float | None], ready: Mapping[str, Ready]
) -> dict[str, MeasuredRun]:
    """Return the runs of the arms that were measured and stopped cleanly; `stops` has the seconds of each stop."""
    return {
        arm: MeasuredRun(replace(runs[arm], outcome=OK, slow_stop_s=took_s), ready[arm].shared)
        for arm, took_s in stops.items()
        if arm in runs
    }


def stop(
    group: Group,
    servers: Mapping[str, ServerUnderTest],
    holds: Mapping[str, Held | GateAlone],
    seed: str,
    phases: Phases,
) -> dict[str, float | None]:
    """Stop the servers cleanly; returns the seconds that each took, None where no slow stop was asked for.

    Servers that finish what they put off stop one after the other in a drawn order: those that wait cannot work on it.
    """
    phases.announce("stop the servers")
    sound = group.sound(servers)
    if len(sound) < 2 or not next(iter(sound.values())).setting.stops_slowly:
        took_s = group.together(lambda arm, server: server.stop(), sound)
    else:
        mixed = random.Random(f"{seed}/stops").sample(list(sound), len(sound))
        with waiting([holds[arm] for arm in mixed]):
            took_s = {
                arm: seconds
                for arm in mixed
                for seconds in group.attempt(lambda arm, server: _released(holds[arm], server), arm, sound[arm])
            }
    phases.end("stop")
    return took_s


def _released(hold: Held | GateAlone, server: ServerUnderTest) -> float | None:
    hold.release()
    return server.stop()


@contextlib.contextmanager
def _nothing_awaited_after_a_signal() -> Iterator[None]:
    """Kill what the threads wait for when a signal ends the body: a load of tables takes minutes."""
    try:
        yield
    except SystemExit:
        _, *below = pausing.descendants(os.getpid())
        pausing.signal_all(below, signal.SIGKILL)
        raise
