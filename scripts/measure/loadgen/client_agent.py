"""The agent that is sent to the client host: it describes that host, or runs sysbench there.

It needs Python 3.8 and the standard library only. `describe` writes one JSON object to standard output. `run` writes
lines that begin with a letter for their kind: `o` a line printed by sysbench, `s` the usage of CPU and network at a
per-second report (JSON), `e` how the call ended (JSON).
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TypedDict

from scripts.lib.host import machine_facts


class Request(TypedDict, total=False):
    """What the starter asks for: to describe this host, or to run a command with its secrets on some CPUs."""

    do: str
    command: list[str]
    secrets: str
    cpus: list[int]
    address: str
    port: int


REPORT = re.compile(rb"^\[ \d+s \] thds:")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
ASKED = {"version": ["--version"], "help": ["--help"], "header": ["cpu", "help"]}


def describe() -> None:
    """Write facts of the host as one line of JSON: hardware, CPUs, Python, sysbench, and the address of the caller."""
    path = shutil.which("sysbench")
    answers = {name: _answer([path, *words]) for name, words in ASKED.items()} if path else {}
    facts = {
        "host": vars(machine_facts.read_host()),
        "cpus": sorted(os.sched_getaffinity(0)),
        "python": sys.version.split()[0],
        "reached_from": os.environ.get("SSH_CONNECTION", "").partition(" ")[0],
        "path": path,
        "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else None,
        **answers,
    }
    sys.stdout.write(json.dumps(facts) + "\n")


def _answer(command: list[str]) -> str:
    done = subprocess.run(
        command, env=_environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, timeout=60
    )
    return done.stdout.decode(errors="replace")


def _environment() -> dict[str, str]:
    """Return the environment of sysbench: that of the login on this host, with the C locale."""
    return {**os.environ, "LC_ALL": "C"}


def run(request: Request) -> None:
    """Run sysbench and pass it its secrets on standard input; kill it when the standard input of this process ends.

    That input ends when the process that started the agent ends. What sysbench leaves behind ends with it.
    """
    try:
        socket.create_connection((request["address"], request["port"]), timeout=10).close()
    except OSError as error:
        _write_line(b"e", json.dumps({"unreachable": str(error)}).encode())
        return
    # prctl(2), PR_SET_CHILD_SUBREAPER: orphans of sysbench become children of this process.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    process = subprocess.Popen(
        request["command"],
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: _before_exec(request["cpus"]),
    )
    threading.Thread(target=_end_with_starter, args=(process,), daemon=True).start()
    try:
        assert process.stdin is not None
        process.stdin.write(request["secrets"].encode())
        process.stdin.close()
        threading.Thread(target=_end_rest_behind, args=(process,), daemon=True).start()
        _follow(process)
    finally:
        _kill(process)
        _end_rest_behind(process)
    _write_line(b"e", json.dumps({"status": process.wait()}).encode())


def _end_rest_behind(process: subprocess.Popen[bytes]) -> None:
    """Wait for sysbench, then end what it left behind, which may hold the pipe of its output open."""
    # It stays a process, whose usage can be read, until `run` waits for it.
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    for pid in below(os.getpid()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def below(pid: int) -> list[int]:
    """Return all processes below one."""
    try:
        lists = [(task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []
    children = [int(word) for text in lists for word in text.split()]
    return [*children, *(grandchild for child in children for grandchild in below(child))]


def _before_exec(cpus: list[int]) -> None:
    os.sched_setaffinity(0, cpus)
    # prctl(2), PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)


def _follow(process: subprocess.Popen[bytes]) -> None:
    number = 0
    assert process.stdout is not None
    for line in process.stdout:
        _write_line(b"o", line.rstrip(b"\n"))
        if REPORT.match(line):
            number += 1
            _write_line(b"s", json.dumps({"number": number, **usage_since_start(process.pid)}).encode())


def usage_since_start(pid: int) -> dict[str, object]:
    """Return the CPU seconds of sysbench and of the host, and the network counters, all since their start.

    They come from proc_pid_stat(5) and proc_stat(5).
    """
    now_s = time.monotonic()
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    ticks = {"user_s": int(fields[11]), "system_s": int(fields[12])}
    ticks.update(host_busy_s=user + nice + system + irq + softirq, host_steal_s=steal)
    seconds = {name: count / TICKS_PER_S for name, count in ticks.items()}
    return {"monotonic_s": now_s, **seconds, "network": machine_facts.traffic_counters()}


def _end_with_starter(process: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _write_line(kind: bytes, line: bytes) -> None:
    sys.stdout.buffer.write(kind + line + b"\n")
    sys.stdout.buffer.flush()


def main(request: Request) -> None:
    """Carry out a request: {"do": "describe"}, or {"do": "run", command, secrets, cpus, address, port}."""
    if request["do"] == "describe":
        describe()
    else:
        run(request)
