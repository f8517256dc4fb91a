"""Runs on the client host, where it is sent: tells what that host is, or runs sysbench for us.

Python 3.8 with its own library alone: the host needs nothing else of ours. What it says on standard output is one line
each: a letter, then `o` a line of sysbench, `s` what has been used at a per-second report, `e` the end.
"""

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

from scripts.host import facts as host_facts

REPORT = re.compile(rb"^\[ \d+s \] thds:")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
ASKED = {"version": ["--version"], "help": ["--help"], "header": ["cpu", "help"]}


def describe() -> None:
    """Tell what the host is, its CPUs, its sysbench, and from where it was reached."""
    path = shutil.which("sysbench")
    answers = {name: _answer([path, *words]) for name, words in ASKED.items()} if path else {}
    facts = {
        "host": vars(host_facts.read_host()),
        "cpus": sorted(os.sched_getaffinity(0)),
        "python": sys.version.split()[0],
        "reached_from": os.environ.get("SSH_CONNECTION", "").partition(" ")[0],
        "path": path,
        "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else None,
        **answers,
    }
    sys.stdout.write(json.dumps(facts) + "\n")


def _answer(command: list) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, timeout=60)
    return done.stdout.decode(errors="replace")


def run(wanted: dict) -> None:
    """Run sysbench, its secrets on its standard input; it is killed when ours ends, which is when our starter does."""
    try:
        socket.create_connection((wanted["address"], wanted["port"]), timeout=10).close()
    except OSError as error:
        _tell(b"e", json.dumps({"unreachable": str(error)}).encode())
        return
    process = subprocess.Popen(
        wanted["command"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: _before_exec(wanted["cpus"]),
    )
    threading.Thread(target=_end_with_starter, args=(process,), daemon=True).start()
    try:
        process.stdin.write(wanted["secrets"].encode())
        process.stdin.close()
        _follow(process)
    finally:
        _kill(process)
    _tell(b"e", json.dumps({"status": process.wait()}).encode())


def _before_exec(cpus: list) -> None:
    os.sched_setaffinity(0, cpus)
    # prctl(2), PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)


def _follow(process: subprocess.Popen) -> None:
    number = 0
    for line in process.stdout:
        _tell(b"o", line.rstrip(b"\n"))
        if REPORT.match(line):
            number += 1
            _tell(b"s", json.dumps({"number": number, **used(process.pid)}).encode())


def used(pid: int) -> dict:
    """Return what sysbench, the whole host and its network have used so far (proc_pid_stat(5), proc_stat(5))."""
    now_s = time.monotonic()
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    ticks = {"user_s": int(fields[11]), "system_s": int(fields[12])}
    ticks.update(host_busy_s=user + nice + system + irq + softirq, host_steal_s=steal)
    seconds = {name: count / TICKS_PER_S for name, count in ticks.items()}
    return {"monotonic_s": now_s, **seconds, "network": host_facts.traffic_counters()}


def _end_with_starter(process: subprocess.Popen) -> None:
    sys.stdin.buffer.read()
    _kill(process)


def _kill(process: subprocess.Popen) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _tell(kind: bytes, line: bytes) -> None:
    sys.stdout.buffer.write(kind + line + b"\n")
    sys.stdout.buffer.flush()


def main(wanted: dict) -> None:
    """Do what is wanted: {"do": "describe"}, or {"do": "run", command, secrets, cpus, address, port}."""
    if wanted["do"] == "describe":
        describe()
    else:
        run(wanted)
