"""A ready-made server of the catalog fetched, installed, loaded and run: by the entry scripts as far as they go."""

import contextlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scripts.lib import json_record
from scripts.lib.host import workplace
from scripts.measure.engine.observe import MOST_STATEMENTS, statements_of_one_event
from scripts.measure.loadgen import run_sysbench, sysbench
from scripts.measure.loadgen.lua import script_path
from scripts.measure.servers import data_directory, families
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.server import running
from scripts.report.page.workloads_section import statement_form
from tests.made.declared import prebuilt
from tests.workflow.running import CHECKOUT, environment

OPTIONS = {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "16M"}
TABLES = {"tables": 2, "rows": 1000}
FETCHED_WITHIN_S = 900
DONE_WITHIN_S = 300


@dataclass(frozen=True)
class Ready:
    """A server of the catalog in a folder of its own."""

    name: str
    folder: Path

    @property
    def entry(self) -> dict[str, Any]:
        return yaml.safe_load((CHECKOUT / "catalog" / "servers.yaml").read_text())["servers"][self.name]

    @property
    def family(self) -> families.Family:
        return families.of(self.entry["family"])

    @property
    def install(self) -> Path:
        return workplace.installed(self.identity)

    @property
    def identity(self) -> Path:
        return self.folder / "build" / "identity.json"

    @property
    def facts(self) -> dict[str, Any]:
        return json_record.read(self.folder / "build" / "facts.json")

    @property
    def names(self) -> dict[str, str]:
        """The recipe of its sources."""
        return {"server": self.name, "product": self.entry["product"], "version": self.entry["version"]}

    def fetch(self) -> str:
        """Fetch and unpack it; returns what was said when that failed, else an empty text."""
        sources = ["--sources", json_record.canonical(self.entry["sources"]), "--tree", self.folder / "source" / "tree"]
        more = ["--identity", self.folder / "source" / "source.json", "--log", self.folder / "fetch.log"]
        done = self._run(
            "fetch_source", FETCHED_WITHIN_S, "--recipe", json_record.canonical(self.names), *sources, *more
        )
        return done.stderr if done.returncode else ""

    def take(self) -> None:
        """Make its install tree."""
        whole = json_record.canonical(prebuilt(family=self.entry["family"], server=self.name, source=self.names).dump())
        build = {f"--{name}": self.folder / "build" / f"{name}.json" for name in ("facts", "identity")}
        more = {"--source": self.folder / "source" / "source.json", "--install": self.folder / "build" / "install"}
        self._must("install_prebuilt", "--recipe", whole, *_flat(build | more), "--log", self.folder / "take.log")

    def load(self) -> None:
        """Load two small tables and keep the data directory."""
        loader = self.folder / "loader.txt"
        loader.write_text(f"{self.identity}\n")
        names = {"family": self.entry["family"], "server": self.name, "source": self.names}
        recipe = {**names, "recipe": 1, "dataset": "small", "tables": TABLES}
        made = {"--snapshot": self.folder / "set" / "snapshot", "--dataset": self.folder / "set" / "dataset.json"}
        whole = ["--recipe", json_record.canonical(recipe), "--loader", loader, *_flat(made), "--threads", 2]
        self._must("load_dataset", *whole, "--log", self.folder / "load.log")

    @contextlib.contextmanager
    def served(self):
        """Have the server run on a clone of its data with a small pool."""
        own = OPTIONS if self.entry["family"] != "postgresql" else {}
        options = servers_options.server_options(self.family, own)
        with data_directory.cloned(self.folder / "set" / "snapshot", None) as data:
            with running(self.family, self.install, data, options, self.folder / "server.log") as server:
                yield server

    def measure(self, server, seconds: int) -> run_sysbench.FinishedLoad:
        """Run sysbench's mixed load with two connections."""
        flags, known = self.family.sysbench_flags(server.sockets), sysbench.read_capabilities()
        script = "oltp_read_write"
        call = sysbench.measuring_call(known, script, flags, TABLES["tables"], TABLES["rows"], {}, 2, seconds, seed=1)
        return run_sysbench.run(call, self.folder / "run.txt", timeout_s=DONE_WITHIN_S)

    def sent(self, server, connection) -> dict[str, list[str]]:
        """Return what one event of every workload on sysbench's tables sends, as the server logs it, without values."""
        known, flags = sysbench.read_capabilities(), self.family.sysbench_flags(server.sockets)
        catalog = yaml.safe_load((CHECKOUT / "catalog" / "workloads.yaml").read_text())["workloads"]
        found = {}
        for name, load in ((name, load) for name, load in catalog.items() if load["dataset"] == "sbtest"):
            script, options = script_path(load["script"]), load.get("options", {})
            call = sysbench.measuring_call(known, script, flags, *TABLES.values(), options, 1, 1, seed=1)
            logged = statements_of_one_event(server, connection, call, self.folder / "event.txt")
            assert len(logged.sent) == min(logged.total, MOST_STATEMENTS)
            found[name] = [statement_form(text) for text in logged.sent]
        return found

    def _must(self, script: str, *arguments: object) -> None:
        done = self._run(script, DONE_WITHIN_S, *arguments)
        assert done.returncode == 0, done.stderr

    def _run(self, script: str, within_s: float, *arguments: object) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", f"scripts.jobs.{script}", *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=CHECKOUT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=within_s,
            check=False,
        )


def _flat(arguments: dict[str, object]) -> list[object]:
    return [part for pair in arguments.items() for part in pair]
