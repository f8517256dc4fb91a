"""A PostgreSQL with one altered line of source fails the check; the same sources compiled unaltered pass it.

Compiled once without optimisation, in about a minute and a half on two idle cores; each alteration links it anew.
"""

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from scripts.build.compilation import binary
from scripts.lib import json_record
from scripts.lib.host.process import run
from scripts.lib.recipe_models import ServerSourceRecipe
from scripts.measure.servers import families
from scripts.measure.sql import server_answers
from tests.conftest import CHECKOUT
from tests.endtoend.asking import ask, compare
from tests.endtoend.installed_mariadb import finish
from tests.faults.scale import WHOLE
from tests.made import declared

pytestmark = [pytest.mark.real, pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")]

SERVER = "postgresql-15"
POSTGRESQL = families.of("postgresql")
ALTERATIONS = {
    "aggregate": (
        "int.c",
        "int4larger(PG_FUNCTION_ARGS)",
        "PG_RETURN_INT32((arg1 > arg2) ? arg1 : arg2);",
        "PG_RETURN_INT32((arg1 < arg2) ? arg1 : arg2);",
    ),
    "comparison": (
        "date.c",
        "date_le(PG_FUNCTION_ARGS)",
        "PG_RETURN_BOOL(dateVal1 <= dateVal2);",
        "PG_RETURN_BOOL(dateVal1 < dateVal2);",
    ),
}
EXPECTED = {"aggregate": "MAX(", "comparison": "BETWEEN DATE '"}


@dataclass(frozen=True)
class Compiled:
    """A source tree, the build tree where it was compiled, and its install tree; `release` is such as 15.18."""

    folder: Path
    release: str

    @property
    def source(self) -> Path:
        return self.folder / "source" / "tree"

    @property
    def build(self) -> Path:
        return self.folder / "build"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def identity(self, name: str) -> Path:
        """Write the identity of the install tree in the folder `name` and return its path."""
        known = binary.identify(self.folder / name / "install" / POSTGRESQL.SERVER)._asdict()
        names = {"server": SERVER, "family": "postgresql", "build": name, "release": self.release}
        facts = {**names, **known, "server_file": POSTGRESQL.SERVER, "source_path": str(self.source)}
        json_record.write(self.folder / name / "identity.json", facts)
        return self.folder / name / "identity.json"

    def altered(self, name: str) -> Path:
        """Change one line, compile its file, link the server, and return the identity of an install tree with it."""
        file, function, line, other = ALTERATIONS[name]
        part = Path("src/backend/utils/adt")
        before, after = (self.source / part / file).read_text().split(f"\n{function}", 1)
        assert line in after.partition("\n}\n")[0]
        # In a build tree of its own, make takes a file that is there before that of the source tree.
        (self.build / part / file).write_text(f"{before}\n{function}{after.replace(line, other, 1)}")
        try:
            self._link(part / file)
            shutil.copytree(self.folder / "unaltered" / "install", self.folder / name / "install", symlinks=True)
            shutil.copy2(self.build / "src/backend/postgres", self.folder / name / "install" / POSTGRESQL.SERVER)
        finally:
            (self.build / part / file).unlink()
        return self.identity(name)

    def _link(self, changed: Path) -> None:
        for other in {Path(file).with_suffix(".o") for file, *_ in ALTERATIONS.values()}:
            (self.build / changed.parent / other).unlink()
        run(["make", "-j2", "-C", "src/backend", "all"], self.log, cwd=self.build)


@pytest.fixture(scope="module")
def compiled(compiler):
    """The catalog's PostgreSQL compiled without optimisation, its install tree in the folder `unaltered`."""
    with tempfile.TemporaryDirectory(prefix="altered-server-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        entry = yaml.safe_load((CHECKOUT / "catalog" / "servers.yaml").read_text(encoding="utf-8"))["servers"][SERVER]
        made = Compiled(folder, fetched(entry, folder / "source"))
        made.build.mkdir()
        recipe = declared.compiled(configure=["CFLAGS=-O0"])
        run(POSTGRESQL.configure_command(made.source, compiler.commands, recipe), made.log, cwd=made.build)
        for command in POSTGRESQL.compile_commands(2):
            run(command, made.log, cwd=made.build)
        (folder / "unaltered").mkdir()
        POSTGRESQL.install(made.source, made.build, folder / "unaltered" / "install", made.log)
        yield made


def fetched(entry, folder):
    """Fetch the sources by the product's own script; returns the release."""
    names = {"server": SERVER, "product": entry["product"], "version": entry["version"]}
    recipe = json_record.canonical(ServerSourceRecipe(**names, sha256=entry["sources"][0].get("sha256")).dump())
    what = ["--recipe", recipe, "--sources", json_record.canonical(entry["sources"])]
    places = ["--tree", folder / "tree", "--identity", folder / "source.json", "--log", folder / "log"]
    status, said = finish([sys.executable, "-m", "scripts.jobs.fetch_source", *what, *map(str, places)])
    assert status == 0, said
    return json_record.read(folder / "source.json")["release"]


@pytest.fixture(scope="module")
def reference(compiled, tmp_path_factory):
    """The answers of the unaltered server."""
    asked = ask(compiled.identity("unaltered"), tmp_path_factory.mktemp("reference"))
    assert asked.status == 0, asked.said
    return asked.answers


def test_server_compiled_from_the_same_sources_passes(compiled, reference, tmp_path):
    again = ask(compiled.identity("unaltered"), tmp_path)
    assert again.status == 0, again.said
    status, said = compare(again.answers, reference, tmp_path / "check.json")
    assert status == 0, said
    assert json_record.read(tmp_path / "check.json")["differences"] == []


@pytest.mark.parametrize("name", sorted(ALTERATIONS))
def test_server_with_one_altered_line_fails_and_the_statements_are_named(compiled, reference, tmp_path, name):
    asked = ask(compiled.altered(name), tmp_path)
    assert asked.status == 0, asked.said
    status, said = compare(asked.answers, reference, tmp_path / "check.json")
    assert status == 1
    assert not (tmp_path / "check.json").exists()
    assert f"{SERVER}: build {name} answers " in said
    assert "differently from unaltered" in said
    assert f"(log: {tmp_path / 'check.log'})" in said
    known = {one["number"]: one["statement"] for one in server_answers.read_answers(reference)["answers"]}
    numbers = [int(line.split()[2]) for line in said.splitlines() if line.startswith("- statement ")]
    assert numbers
    assert any(EXPECTED[name] in known[number] for number in numbers)
    assert said.count("    answer:    ") == said.count("    reference: ") >= len(numbers)
