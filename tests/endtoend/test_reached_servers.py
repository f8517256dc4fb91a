"""A whole study of two servers that already run, per family, over TCP and TLS; local servers stand in for managed."""

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from scripts.measure.loadgen import encryption, sysbench
from scripts.measure.servers import own_database
from scripts.measure.servers.credentials import Access, Login
from scripts.measure.servers.endpoint import Endpoint
from scripts.measure.servers.running_server import RunningServer
from scripts.measure.servers.server import ServerFailed
from tests.endtoend.folders import open_folder
from tests.endtoend.stand_in import INSTALLED, StandIn, secrets_in_processes, stand_in
from tests.faults.scale import WHOLE
from tests.workflow.running import CHECKOUT, Answer, environment, snakemake

pytestmark = pytest.mark.real
REPORT = "results/studies/already/report.html"
# MySQL takes half a gigabyte to fetch: only `make faults` tries it.
FAMILIES = ["mariadb", "postgresql", *(["mysql"] if WHOLE else [])]


@dataclass
class Place:
    """A folder with a config, two servers that stand in for managed ones, and what the study said."""

    folder: Path
    servers: dict[str, StandIn]
    config: Path
    answer: Answer
    showing: set[tuple[str, str]]

    @property
    def home(self) -> Path:
        return self.folder / "results" / "studies" / "already"

    def blocks(self) -> list[dict]:
        return [json.loads(file.read_text()) for file in sorted((self.home / "blocks").rglob("block.json"))]

    def runs(self) -> list[dict]:
        files = [file for file in (self.home / "blocks").rglob("*.json") if file.name != "block.json"]
        return [json.loads(file.read_text()) for file in files]

    def command(self, name: str, config: Path) -> subprocess.CompletedProcess:
        words = [sys.executable, "-m", f"scripts.commands.{name}", "--config", str(config)]
        own = environment(PYTHONPATH=str(CHECKOUT))
        return subprocess.run(words, cwd=self.folder, env=own, capture_output=True, text=True, check=False)


def config_of(servers: dict[str, StandIn], folder: Path, **source: str) -> dict:
    """Return the config of a study of these servers: two small tables, two repetitions of three seconds."""
    logins = {name: one.write_login(folder / f"{name}.yaml") for name, one in servers.items()}
    own = {name: {"ca": str(one.ca), **source} for name, one in servers.items()}
    kept = {name: {key: value for key, value in each.items() if value is not None} for name, each in own.items()}
    return {
        "study": "already",
        "title": "Servers that already run",
        "question": "Which is faster?",
        "servers": {f"{name}-server": one.entry(logins[name], **kept[name]) for name, one in servers.items()},
        "variants": {name: {"server": f"{name}-server", "build": "prebuilt"} for name in servers},
        "reference": "one",
        "workloads": {"simple_select": None, "oltp": None},
        "datasets": {"sbtest": {"tables": 2, "rows": 1000}},
        "clients": [2],
        "repetitions": 2,
        "warmup_s": 1,
        "measure_s": 3,
        "seed": 1,
        "campaign": 1,
        "placement": "automatic",
    }


@pytest.fixture(scope="module", params=FAMILIES)
def place(request):
    if why := INSTALLED[request.param].missing():
        pytest.skip(why)
    with open_folder("running-") as folder:
        with stand_in(request.param, folder / "a") as one, stand_in(request.param, folder / "b") as two:
            servers = {"one": one, "two": two}
            config = folder / "config.yaml"
            config.write_text(yaml.safe_dump(config_of(servers, folder)))
            with secrets_in_processes(one.password, two.password, one.user, two.user) as showing:
                answer = snakemake(folder, REPORT, "--cores", "2", "--configfile", config)
            yield Place(folder, servers, config, answer, showing)


def test_the_study_ends_with_a_page_and_every_run_went_well(place):
    assert place.answer.status == 0, place.answer.text[-6000:]
    assert (place.home / "report.html").stat().st_size > 10_000
    assert len(place.blocks()) == 4
    assert {run["outcome"] for run in place.runs()} == {"ok"}, [run["reason"] for run in place.runs()]
    assert {run["variant"] for run in place.runs()} == {"one", "aa", "two"}


def test_no_process_and_no_file_shows_a_user_or_a_password(place):
    # PostgreSQL itself shows in the titles of its own processes who is connected.
    users = {one.user for one in place.servers.values()}
    assert not {(name, word) for name, word in place.showing if (name, word in users) != ("postgres", True)}
    wanted = [word for one in place.servers.values() for word in (one.user, one.password)]
    files = [file for top in ("results", ".snakemake") for file in (place.folder / top).rglob("*") if file.is_file()]
    assert len(files) > 50
    texts = {file: file.read_bytes() for file in files} | {Path("said"): place.answer.text.encode()}
    assert not [file for file, text in texts.items() if any(word.encode() in text for word in wanted)]
    assert not [file for file in files if any(word in str(file) for word in wanted)]


def test_connections_are_encrypted_and_what_is_unknown_is_missing_and_not_zero(place):
    for run in place.runs():
        assert run["running"]["tls"] is True
        assert run["running"]["cipher"]
        assert run["running"]["restarted"] is False
        assert not {"cpu", "memory", "io", "files"} & {key for key, value in run.items() if value}
        assert run["host"] == {}
        assert run["placement"]["server_cpus"] is None
        assert (run["server"]["sha256"], run["server"]["build_id"]) == (None, None)
        assert run["sliced"]["waiting_cpu_s"] is None
        assert run["sliced"]["held_by"] == "gate"
        assert run["client_host"]["cpu"]["user_s"] > 0
        assert run["window"]["transactions"] > 100
        assert run["counters"], "the account may read counters"


def test_blocks_say_that_nothing_restarts_and_have_no_cpu_time(place):
    for block in place.blocks():
        assert block["restarted"] is False
        assert set(block["slices"]["cpu_ms"]) == {None}
        counts = set(block["places"].values())
        # The orders of three arms come in sixes, in which each arm has each place twice; the last six may be cut short.
        assert max(counts) - min(counts) <= (2 if sum(block["places"].values()) % 18 else 0)


def test_the_page_says_what_is_unknown_and_that_nothing_restarts(place):
    page = (place.home / "report.html").read_text()
    assert "Nothing restarts between blocks" in page
    assert "their CPUs, builds and memory are unknown" in page
    assert "certificate and name of each server were checked" in page


def test_a_second_call_plans_on_what_is_there_and_has_nothing_to_do(place):
    answer = snakemake(place.folder, REPORT, "-n", "--cores", "2", "--configfile", place.config)
    assert answer.status == 0, answer.text[-3000:]
    assert "Nothing to be done" in answer.text
    more = snakemake(
        place.folder, REPORT, "-n", "--cores", "2", "--configfile", place.config, "--config", "repetitions=3"
    )
    assert more.status == 0, more.text[-3000:]
    assert more.costly == {"measure_block": 2}
    assert "copy" not in more.text.split("SNAKEMAKE")[0]


def test_servers_still_run_with_one_database_of_ours_each_until_it_is_dropped(place):
    assert {name: len(one.databases()) for name, one in place.servers.items()} == {"one": 1, "two": 1}
    done = place.command("drop_tables", place.config)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name: one.databases() for name, one in place.servers.items()} == {"one": [], "two": []}
    assert not list((place.folder / "results" / "datasets").rglob("dataset.json"))


def endpoint(one: StandIn, **access) -> Endpoint:
    return Endpoint(
        "one", "127.0.0.1", one.port, Access(**{"login": Login(one.user, one.password), "ca": one.ca} | access)
    )


def test_a_database_without_the_marker_is_refused_when_loading_and_when_dropping(place):
    one, name = place.servers["one"], "pgobench_somebody"
    before = one.databases()
    with contextlib.closing(one.family.reach(endpoint(one))) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    for act in (own_database.make, own_database.drop):
        with pytest.raises(own_database.NotOurs, match="was not made by this workflow: it has no table"):
            act(one.family, endpoint(one), name)
        assert one.databases() == sorted([*before, name])
    one.ask(f"DROP DATABASE {name}")


def test_a_database_of_ours_is_made_anew_with_another_mark_which_blocks_notice(place):
    one, name = place.servers["one"], "pgobench_ours"
    first, second = (own_database.make(one.family, endpoint(one), name) for _ in range(2))
    assert first != second
    own_database.demand_mark(one.family, endpoint(one), name, second, "dataset.json")
    with pytest.raises(own_database.NotOurs, match=r"dropped or loaded anew since dataset\.json was written"):
        own_database.demand_mark(one.family, endpoint(one), name, first, "dataset.json")
    assert own_database.drop(one.family, endpoint(one), name)
    assert not own_database.drop(one.family, endpoint(one), name)
    with pytest.raises(own_database.NotOurs, match="no such database"):
        own_database.demand_mark(one.family, endpoint(one), name, second, "dataset.json")


@pytest.fixture
def asked(place, tmp_path):
    """Ask for the cipher of sysbench's connections, by the keys of an access that differ."""
    one = place.servers["one"]
    own_database.make(one.family, endpoint(one), "pgobench_tls")

    def ask(environment=None, **access):
        reached = endpoint(one, **access).within("pgobench_tls")
        family = one.family.in_database("pgobench_tls")
        if environment is not None:
            family.reached_environment = environment
        server = RunningServer(family, reached, tmp_path)
        return server, lambda: encryption.cipher(server, sysbench.read_capabilities())

    yield ask
    own_database.drop(one.family, endpoint(one), "pgobench_tls")


def test_without_tls_there_is_no_cipher_and_with_it_there_is_one(asked):
    assert asked(ca=None)[1]() is None
    assert "_" in asked()[1]() or "-" in asked()[1]()


def test_an_authority_that_did_not_sign_the_certificate_is_refused_by_our_driver_and_by_sysbench(asked):
    server, cipher = asked(ca=encryption.OTHER_CA)
    with pytest.raises(ServerFailed, match="certificate"):
        server.connect()
    with pytest.raises(ValueError, match="sysbench has no encrypted connection"):
        cipher()


def test_a_driver_of_sysbench_that_checks_nothing_is_noticed(asked, place, tmp_path):
    one = place.servers["one"]
    real = one.family.reached_environment(endpoint(one), tmp_path)
    with pytest.raises(ValueError, match="does not check the server's certificate"):
        asked(environment=lambda *_: real)[1]()


def test_a_wrong_password_is_refused_without_showing_user_or_password(asked, place):
    one = place.servers["one"]
    server, _ = asked(login=Login(one.user, "wrong-password"))
    with pytest.raises(ServerFailed) as caught:
        server.connect()
    assert one.user not in str(caught.value)
    assert "wrong-password" not in str(caught.value)
