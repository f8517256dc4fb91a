"""A new family is one module, its entry in FAMILIES and catalog entries: a study with a fourth one is planned and runs.

tests/made/tiny_family.py is that module; nothing else of the workflow has its name.
"""

import contextlib

import pytest

from scripts.measure.servers import data_directory, families
from scripts.measure.servers import options as server_options
from scripts.measure.servers.server import ServerFailed, running
from scripts.study.config.loading import load
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.preview import plan_text as preview_text
from tests.made import tiny_family
from tests.made.studies import CHECKOUT, config, paths

ARM = {"server": "tiny-1", "build": "baseline"}
STUDY = {
    "servers": {"tiny-1": tiny_family.CATALOG},
    "variants": {"small": {**ARM, "options": {"pool": "2M"}}, "pages": {**ARM, "options": {"page_size": 4096}}},
    "reference": "small",
}


@pytest.fixture(autouse=True)
def tiny(monkeypatch) -> tiny_family.Tiny:
    """The fourth family, registered."""
    family = tiny_family.Tiny()
    monkeypatch.setitem(families.FAMILIES, family.NAME, family)
    return family


def test_study_is_planned_with_the_sizes_of_the_family(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = preview_text.plan_text(paths(**STUDY), cores=1)
    assert "compile      1 of 1     about 36 s, estimated from the size of the sources" in text
    assert "measure     18 of 18 " in text


def test_recipes_hold_the_family_and_datasets_the_options_that_shape_them():
    plan = paths(**STUDY).plan
    assert plan.build("tiny-1", "baseline").family == "tiny"
    assert plan.options("pages")["page_size"] == 4096
    datasets = {variant: paths(**STUDY).dataset(variant, "oltp") for variant in STUDY["variants"]}
    assert datasets["small"] != datasets["pages"]


def test_owned_options_are_refused_by_name():
    with pytest.raises(ConfigError) as caught:
        load(config(**STUDY, options={"listen": "*", "folder": "/x"}), CHECKOUT, "small.yaml")
    assert "options.listen: '*' cannot be set here, it comes from `client`" in str(caught.value)
    assert "options.folder: '/x' cannot be set here, it comes from `storage`" in str(caught.value)


def test_unknown_family_is_refused_with_the_new_one_among_the_known():
    other = {"tiny-1": {**tiny_family.CATALOG, "family": "tinny"}}
    with pytest.raises(ConfigError, match="'tinny', expected one of mariadb, mysql, postgresql, tiny"):
        load(config(**{**STUDY, "servers": other}), CHECKOUT, "small.yaml")


@pytest.fixture
def install(tmp_path, tiny):
    """An install tree of the family."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "tinyd").write_text(tiny_family.SERVER)
    tiny.install(tmp_path, tmp_path / "build", tmp_path / "install", tmp_path / "log")
    return tmp_path / "install"


@pytest.fixture
def as_myself(monkeypatch):
    """Servers run as the user of the tests, who alone can read its temporary folders."""
    monkeypatch.setattr("scripts.lib.host.workplace.server_identity", dict)


def test_server_is_initialised_started_asked_and_stopped(tiny, install, tmp_path, as_myself):
    options = {**server_options.server_options(tiny, {}), "pool": "2M"}
    log = tmp_path / "server.log"
    with data_directory.workspace(None) as folder:
        data = data_directory.initialise(tiny, install, folder, options, log)
        with running(tiny, install, data, options, log) as server:
            with contextlib.closing(server.connect()) as connection:
                assert tiny.variables(connection) == {"pool": "2M", "max_connections": "100"}
            assert server_options.require_values(server, install, {"pool": "2M"}) == []
            with pytest.raises(ServerFailed, match=r"did not take options\.pool: '3M'"):
                server_options.require_values(server, install, {"pool": "3M"})
            server.stop(keep_data=True)


def test_server_that_cannot_start_is_told_with_its_complaint(tiny, install, tmp_path, as_myself):
    with data_directory.workspace(None) as folder:
        (folder / "data").mkdir()
        with pytest.raises(ServerFailed, match=r"did not start: it ended with status 1: no tables"):
            with running(tiny, install, folder / "data", {}, tmp_path / "log"):
                pass
