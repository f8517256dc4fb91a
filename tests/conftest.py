"""What tests of every kind share: the checkout, the compilers the catalog names, and a watch for unmarked tests."""

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.build.compilation import toolchain
from scripts.build.compilation.stages import DEFAULT_TOOLCHAIN
from tests import workers
from tests.endtoend import looked_into
from tests.unmarked import Programs

CHECKOUT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder of the Snakefile."""
    return CHECKOUT


@pytest.fixture(scope="session")
def compiler() -> toolchain.Toolchain:
    """The catalog's default compiler as it is found on this machine."""
    entries = yaml.safe_load((CHECKOUT / "catalog" / "builds.yaml").read_text(encoding="utf-8"))["toolchains"]
    return toolchain.find(DEFAULT_TOOLCHAIN, entries[DEFAULT_TOOLCHAIN])


@pytest.fixture(scope="session")
def clang() -> toolchain.Toolchain:
    """The first clang of the catalog that this machine has."""
    entries = yaml.safe_load((CHECKOUT / "catalog" / "builds.yaml").read_text(encoding="utf-8"))["toolchains"]
    for name, entry in entries.items():
        if entry.get("kind") == "clang" and shutil.which(entry["cc"]):
            return toolchain.find(name, entry)
    pytest.skip("no clang of the catalog is installed")


@pytest.fixture(scope="session")
def study_looked_into() -> Iterator[Path]:
    """The working directory of a finished study of both installed servers, with all diagnoses."""
    if why := looked_into.missing():
        pytest.skip(why)
    with looked_into.made() as folder:
        yield folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take minutes first, the longest in front, so that the workers end at about the same time."""
    items.sort(key=lambda item: workers.rank(item.nodeid))


def pytest_collection_finish() -> None:
    """Take what collecting made out of Python's search for garbage: it stays, and each search would look through it."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> workers.ByFile:
    """Give each worker whole files of tests."""
    return workers.ByFile(config, log)


@pytest.fixture(scope="session")
def server_programs() -> Programs:
    """The programs of real servers that tests start."""
    (programs := Programs()).watch()
    return programs


@pytest.fixture(autouse=True)
def marked_if_real(request: pytest.FixtureRequest, server_programs: Programs):
    """Fail a test that started or compiled a real server and is not marked `real`."""
    yield
    if not request.node.get_closest_marker("real"):
        found = server_programs.of(request.node.nodeid)
        assert not found, f"starts {', '.join(sorted(found))}: mark it with pytest.mark.real"
