"""What tests of every kind share: the checkout, and the compiler the catalog names."""

from pathlib import Path

import pytest
import yaml

from scripts.builds import toolchain
from scripts.builds.stages import DEFAULT_TOOLCHAIN

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
