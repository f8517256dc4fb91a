"""Servers that are up together: every step is taken with all that are sound, and returns what the next one needs."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from scripts.lib.host import pausing
from scripts.lib.host.causes import of_host
from scripts.lib.host.leftovers import hold_machine
from scripts.measure.engine import own_server, reached_server
from scripts.measure.engine.held import GateAlone, Held, waiting
from scripts.measure.engine.own_server import OwnServer
from scripts.measure.engine.reached_server import ReachedServer
from scripts.measure.engine.setting import Phases, Setting
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
        made = list(self._threads.map(partial(self.attempt, step), sound, sound.values()))
        return self.sound({arm: result for arm, results in zip(sound, made, strict=True) for result in results})

    def in_turn(self, step: Callable[[str, A], B], states: Mapping[str, A]) -> dict[str, B]:
        """Take a step with one sound arm after the other; returns what it made of those that are still sound."""
        return {arm: made for arm, state in self.sound(states).items() for made in self.attempt(step, arm, state)}

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
    """A server with its tables in memory; `facts` are those of a run whatever its load, `sizes` those of its files."""

    server: ServerUnderTest
    sizes: dict[str, Any]
    fill_command: list[str]
    facts: dict[str, Any]

    @property
    def commands(self) -> dict[str, list[str]]:
        """The commands that a run's record has whatever its load."""
        return self.server.commands(self.fill_command)

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
    if "script" in setting.load:
        script = script_path(setting.load["script"])
        sysbench.demand_options(setting.generator, script, setting.load.get("options", {}))
    with hold_machine() as waited_s:
        phases.end("startup", less_s=waited_s, less_name="wait_lock")
        rest(setting, phases)
        yield
        phases.add("drain", data_directory.drain())


def rest(setting: Setting, phases: Phases) -> None:
    """Leave the host idle for the study's `rest_s`."""
    if seconds := setting.load.get("rest_s"):
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
    servers = group.together(lambda arm, found: reached_server.reach(settings[arm], found, group.stack(arm)), tables)
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
    variables, sizes = server.variable_facts(), server.file_sizes()
    # The first pass of timed SQL is cold.
    pool = {} if "sql" in server.setting.load else server.fill_pool(sizes)
    return Ready(server, sizes, command, {**server.facts, **variables, **({"pool": pool} if pool else {})})


def stop(
    group: Group,
    servers: Mapping[str, ServerUnderTest],
    holds: Mapping[str, Held | GateAlone],
    seed: str,
    phases: Phases,
) -> dict[str, dict[str, Any]]:
    """Stop the servers cleanly; returns the facts of each stop.

    Servers that finish what they put off stop one after the other in a drawn order: those that wait cannot work on it.
    """
    phases.announce("stop the servers")
    sound = group.sound(servers)
    if len(sound) < 2 or not next(iter(sound.values())).setting.stops_slowly:
        facts = group.together(lambda arm, server: server.stop(), sound)
    else:
        mixed = random.Random(f"{seed}/stops").sample(list(sound), len(sound))
        with waiting([holds[arm] for arm in mixed]):
            facts = {
                arm: made
                for arm in mixed
                for made in group.attempt(lambda arm, server: _released(holds[arm], server), arm, sound[arm])
            }
    phases.end("stop")
    return facts


def _released(hold: Held | GateAlone, server: ServerUnderTest) -> dict[str, Any]:
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
