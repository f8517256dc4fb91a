"""The distribution's MariaDB server laid out as a build of ours, and the entry scripts run on it by hand."""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.build.compilation import binary
from scripts.lib import json_record
from scripts.measure.servers import families
from scripts.measure.servers.families.mariadb import SYSTEM_TABLES
from scripts.study.config.loading import load
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.endtoend.folders import open_folder
from tests.made import studies
from tests.workflow.running import CHECKOUT, environment

SERVER = Path("/usr/sbin/mariadbd")
PROGRAM = families.of("mariadb").SERVER
SHARE = Path("/usr/share/mysql")
NAME = "mariadb-installed"
MEASURE_S = 3


def missing() -> str:
    """Return why the installed server cannot be used, an empty text when it can."""
    needed = [SERVER, SHARE / "charsets", *(SHARE / name for name in SYSTEM_TABLES)]
    lost = [str(path) for path in needed if not path.exists()]
    return f"package mariadb-server-core is not installed: no {', '.join(lost)}" if lost else ""


def release() -> str:
    """Return what the program says of itself, such as 10.11.18."""
    said = subprocess.run([SERVER, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"Ver (\d+\.\d+\.\d+)", said)[1]


def lay_out(build: Path) -> Path:
    """Make an install tree of links as a build has it, and its identity; returns the identity."""
    install = build / "install"
    (install / "bin").mkdir(parents=True)
    (install / PROGRAM).symlink_to(SERVER)
    (install / "share").mkdir()
    chosen = [SHARE / "charsets", *(SHARE / name for name in SYSTEM_TABLES)]
    for path in [*chosen, *(messages.parent for messages in SHARE.glob("*/errmsg.sys"))]:
        (install / "share" / path.name).symlink_to(path)
    names = {"server": NAME, "family": "mariadb", "build": "baseline", "release": release()}
    known = {**binary.identify(SERVER)._asdict(), "server_file": PROGRAM, "source_path": "none"}
    json_record.write(build / "identity.json", {**names, **known})
    return build / "identity.json"


def plan(**changes: Any) -> Schedule:
    """Return the plan of a study of this server alone: one workload, two small tables, a window of three seconds.

    `changes` replace keys of its config.
    """
    own = {"family": "mariadb", "product": "MariaDB", "version": release(), "sources": [{"file": "/nowhere"}]}
    config = studies.tiny(
        study="installed",
        servers={NAME: own},
        variants={"baseline": {"server": NAME, "build": "baseline"}},
        options={"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "32M", "innodb_monitor_enable": "all"},
        repetitions=2,
        measure_s=MEASURE_S,
    )
    return Schedule(Plan(load(config | changes, CHECKOUT, "installed"), CHECKOUT))


@dataclass(frozen=True)
class Place:
    """A folder with the laid-out server, its dataset and the runs measured on it."""

    folder: Path
    identity: Path
    paths: Schedule

    @classmethod
    @contextlib.contextmanager
    def loaded(cls, prefix: str, **changes: Any) -> Iterator["Place"]:
        """Lend a folder with the server and its loaded dataset; `changes` replace keys of its study's config."""
        with open_folder(prefix) as folder:
            place = cls(folder, lay_out(folder / "build"), plan(**changes))
            status, said = finish(place.load_command())
            assert status == 0, said
            yield place

    @property
    def dataset(self) -> Path:
        return self.folder / "set" / "dataset.json"

    def load_command(self) -> list[str]:
        """Return the command line of load_dataset."""
        (parts,) = self.paths.datasets.values()
        recipe = json_record.canonical(self.paths.plan.dataset(*parts).dump())
        loader = self.folder / "loader.txt"
        loader.write_text(f"{self.identity}\n")
        places = [
            "--loader",
            loader,
            "--snapshot",
            self.folder / "set" / "snapshot",
            "--dataset",
            self.dataset,
        ]
        return self._command("load_dataset", "--recipe", recipe, *places, "--threads", 2, "--log", self.log("load"))

    def run_command(
        self,
        name: str,
        method: str = "turns",
        arms: tuple[str, ...] = ("baseline",),
        turn_s: int | None = None,
        **edits: Any,
    ) -> list[str]:
        """Return the command line of measure_block for the first planned block; its files lie in a folder of this name.

        Without `turn_s` a block in slices is measured in slices whatever its load. `edits` replace parts of the arms:
        `variant`, `load` and `context` are laid over those planned.
        """
        block = json.loads(json.dumps(self.paths.planned(next(iter(self.paths.to_measure.values()))).facts()))
        chosen = [self._arm(arm, edits) for arm in block["arms"] if arm["name"] in arms]
        home = self.run(name).parent
        how = {"method": method, "turns": list(arms), "turn_s": turn_s}
        planned = {**block, "folder": str(home), **how, "arms": chosen}
        plan = self.folder / "plans" / f"{name}.json"
        json_record.write(plan, {"blocks": [planned]})
        return self._command("measure_block", "--plan", plan, "--block", home / "block.json", "--log", self.log(name))

    def with_options(self, **more: Any) -> dict[str, Any]:
        """Return the part `variant` of a recipe with more server options than planned, to be edited into a block."""
        return {"options": {**self.paths.plan.variant("baseline").options, **more}}

    def _arm(self, arm: dict[str, Any], edits: dict[str, Any]) -> dict[str, Any]:
        recipe = {part: {**arm["recipe"][part], **edits.get(part, {})} for part in ("variant", "load")}
        context = {**arm["context"], "judged": [], **edits.get("context", {})}
        files = {"identity": str(self.identity), "dataset": str(self.dataset)}
        return {**arm, "recipe": recipe, "context": context, **files}

    def run(self, name: str, arm: str = "baseline") -> Path:
        return self.folder / "blocks" / name / f"{arm}.json"

    def log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def log_of(self, name: str, arm: str = "baseline") -> Path:
        """Return the name of the logs of an arm, whose endings differ."""
        return self.folder / "logs" / f"{name}.{arm}.log"

    def _command(self, script: str, *arguments: object) -> list[str]:
        return [sys.executable, "-m", f"scripts.jobs.{script}", *map(str, arguments)]


def start(command: list[str]) -> subprocess.Popen:
    """Start an entry script from the checkout, as the workflow does."""
    return subprocess.Popen(
        command, cwd=CHECKOUT, env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def finish(command: list[str]) -> tuple[int, str]:
    """Run an entry script to its end; returns its status and what it told the user."""
    with start(command) as process:
        _, said = process.communicate(timeout=300)
    return process.returncode, said
