"""Logins of servers that already run: where they come from, what is refused, and that nothing shows them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.measure.servers import credentials, families
from scripts.measure.servers.credentials import Access, Login
from scripts.measure.servers.endpoint import HIDDEN, Endpoint, private_file

CHECKOUT = Path(__file__).parents[4]
USER, PASSWORD = "anna", "s3cr3t#x"


@pytest.fixture
def login_file(tmp_path):
    return private_file(tmp_path / "login.yaml", f"user: {USER}\npassword: '{PASSWORD}'\n")


def access(place):
    return credentials.access_of("db", {"db": place})


def test_a_login_comes_from_a_file_of_mode_0600(login_file):
    found = access({"credentials": str(login_file), "tls": False})
    assert found == Access(Login(USER, PASSWORD), None)
    assert USER not in repr(found)
    assert PASSWORD not in repr(found)


@pytest.mark.parametrize(
    ("written", "password"),
    [
        *((text, text) for text in ("0123", "0x1F", "0b11", "0o17", "1_000", "1:30", "-1", "+1", "1.10", "1e3", ".5")),
        *(
            (text, text)
            for text in (".inf", "-.INF", ".nan", "yes", "No", "on", "OFF", "true", "False", "y", "null", "~")
        ),
        *(
            (text, text)
            for text in ("2026-11-28", "2026-11-28T12:00:00Z", "a#b", "x:y", "=", "<<", "p@ss%w0rd", "a\\b")
        ),
        ("'null'", "null"),
        ('"0123"', "0123"),
        ("'a''b'", None),
        ('"a\\\\b"', "a\\b"),
        ('"\\u00e9"', "é"),
        ("!!str 0123", "0123"),
        ("! 0123", "0123"),
        ("|-\n  0123", "0123"),
        (">-\n  0123", "0123"),
        ("&p 0123", "0123"),
        ("0123 # comment", "0123"),
        ("0123\r", "0123"),
    ],
)
@pytest.mark.parametrize("form", ["user: anna\npassword: {}\n", "\ufeffpassword: {}\nuser: anna"], ids=["lines", "bom"])
def test_a_password_is_the_text_as_it_is_written(tmp_path, form, written, password):
    file = private_file(tmp_path / "login.yaml", form.format(written))
    if password is None:
        with pytest.raises(ValueError, match="password: has a blank, a comma, a quote"):
            access({"credentials": str(file), "tls": False})
    else:
        assert access({"credentials": str(file), "tls": False}).login == Login("anna", password)


@pytest.mark.parametrize("text", ["{user: 0123, password: yes}", '{"user": "0123",\n"password": "yes"}'])
def test_a_login_in_flow_style_or_json_is_text_too(tmp_path, text):
    file = private_file(tmp_path / "login.yaml", text)
    assert access({"credentials": str(file), "tls": False}).login == Login("0123", "yes")


def test_a_user_that_looks_like_a_number_is_text_and_may_be_the_password_too(tmp_path):
    file = private_file(tmp_path / "login.yaml", "user: &name 007\npassword: *name\n")
    assert access({"credentials": str(file), "tls": False}).login == Login("007", "007")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_may_read_is_refused(login_file, mode):
    login_file.chmod(mode)
    with pytest.raises(ValueError, match="others may read it, expected mode 0600"):
        access({"credentials": str(login_file), "tls": False})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user: anna\n", "expected two lines of YAML"),
        (f"{PASSWORD}: [", "expected two lines of YAML"),
        ("", "expected two lines of YAML"),
        ("user: anna\npassword: [s3cr3t]\n", "expected two lines of YAML"),
        ("user: anna\npassword: !!str [s3cr3t]\n", "expected two lines of YAML"),
        (f"user: anna\npassword: {'[' * 5000}s3cr3t\n", "expected two lines of YAML"),
        ("user: anna\npassword: {s3cr3t: x}\n", "expected two lines of YAML"),
        ("user: anna\npassword: s3cr3t\nhost: x\n", "expected two lines of YAML"),
        ("user: anna\npassword: s3cr3t\n---\nuser: s3cr3t\n", "expected two lines of YAML"),
        ("user: anna\npassword: !!binary s3cr3t\n", "expected two lines of YAML"),
        ("user: anna\npassword: !!int 5\n", "expected two lines of YAML"),
        ("user: anna\npassword: !s3cr3t s3cr3t\n", "expected two lines of YAML"),
        ("user: anna\n!!binary cGFzc3dvcmQ=: s3cr3t\n", "expected two lines of YAML"),
        ("base: &base {user: anna}\n<<: *base\npassword: s3cr3t\n", "expected two lines of YAML"),
        ("user: anna\npassword: s3cr3t\npassword: s3cr3t2\n", "password: stands 2 times, expected it once"),
        ("user: anna\npassword: s3cr3t\nuser: s3cr3t2\n", "user: stands 2 times, expected it once"),
        ('user: anna\npassword: s3cr3t\n"pass\\x77ord": s3cr3t2\n', "password: stands 2 times, expected it once"),
        ("user: anna\npassword:\n", "password: is empty"),
        ("user: ''\npassword: s3cr3t\n", "user: is empty"),
        ("user: anna\npassword: s3cr3t\x07\n", "expected two lines of YAML"),
        ('user: anna\npassword: "s3cr3t\\x07"\n', "password: has a control character"),
        ('user: anna\npassword: "s3cr3t\\0"\n', "password: has a control character"),
        ('user: anna\npassword: "s3cr3t\\x9b"\n', "password: has a control character"),
        ('user: anna\npassword: "s3cr3t\\ud800"\n', "password: has a control character or a lone surrogate"),
        ('user: anna\npassword: "s3cr3t\\t"\n', "password: has a control character"),
        ("user: anna\npassword: |\n  s3cr3t\n", "password: has a control character"),
        ("user: anna\npassword: 's3cr3t x'\n", "password: has a blank, a comma, a quote, or # first"),
        ("user: anna\npassword: 's3cr3t,x'\n", "password: has a blank"),
        ("user: anna\npassword: '#s3cr3t'\n", "password: has a blank"),
    ],
)
def test_what_sysbench_cannot_read_is_refused_without_showing_it(tmp_path, text, expected):
    file = private_file(tmp_path / "login.yaml", text)
    with pytest.raises(ValueError, match=expected) as caught:
        access({"credentials": str(file), "tls": False})
    assert "s3cr3t" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_login_of_the_environment_is_inherited_by_no_other_process(monkeypatch):
    credentials._of_environment.cache_clear()
    monkeypatch.setenv("MYDB_USER", USER)
    monkeypatch.setenv("MYDB_PASSWORD", PASSWORD)
    place = {"environment": "MYDB", "tls": False}
    assert access(place).login == access(place).login == Login(USER, PASSWORD)
    assert not {"MYDB_USER", "MYDB_PASSWORD"} & os.environ.keys()


LOGS_IN = """
import json, sys
from pathlib import Path
from scripts.measure.servers.credentials import access_of
login = access_of("db").login
print(json.dumps([login.user, login.password, Path("/proc/self/environ").read_text()]))
"""


def test_a_job_that_logs_in_reads_the_login_and_has_it_in_no_environment(monkeypatch):
    credentials._of_environment.cache_clear()
    monkeypatch.setenv("MYDB_USER", USER)
    monkeypatch.setenv("MYDB_PASSWORD", f"{PASSWORD}é")
    servers = {"db": {"sources": [{"running": "h:1", "environment": "MYDB", "tls": False}]}}
    given = credentials.job_environment(servers)
    assert not {"MYDB_USER", "MYDB_PASSWORD"} & os.environ.keys()
    assert PASSWORD not in str(given)
    job = subprocess.run(
        [sys.executable, "-c", LOGS_IN], env={**os.environ, **given}, cwd=CHECKOUT, capture_output=True, check=True
    )
    user, password, environment = json.loads(job.stdout)
    assert (user, password) == (USER, f"{PASSWORD}é")
    assert PASSWORD not in environment


def test_a_job_without_its_workflow_says_what_it_lacks(monkeypatch):
    credentials._of_environment.cache_clear()
    monkeypatch.setenv(credentials.HANDED_VARIABLE, "/proc/self/fd/none")
    with pytest.raises(ValueError, match="the process that holds the login cannot be asked"):
        access({"environment": "MYDB", "tls": False})


@pytest.mark.parametrize("password", ["s3cr3t\x07", "s3cr3t\udcff", "s3cr3t\n"])
def test_a_password_of_the_environment_that_no_server_takes_is_refused(monkeypatch, password):
    credentials._of_environment.cache_clear()
    monkeypatch.setenv("MYDB_USER", USER)
    monkeypatch.setenv("MYDB_PASSWORD", password)
    with pytest.raises(ValueError, match="environment: MYDB: password: has a control character") as caught:
        access({"environment": "MYDB", "tls": False})
    assert "s3cr3t" not in str(caught.value)


def test_a_missing_variable_is_named():
    with pytest.raises(ValueError, match="NOBODY_USER and NOBODY_PASSWORD not set"):
        access({"environment": "NOBODY"})


def test_tls_is_checked_with_the_systems_certificates_unless_the_study_says_otherwise(login_file):
    found = access({"credentials": str(login_file)})
    assert found.ca.is_file()
    with pytest.raises(ValueError, match=r"ca: /nowhere\.pem: no such file"):
        access({"credentials": str(login_file), "ca": "/nowhere.pem"})


def test_jobs_learn_where_logins_are_and_no_login(login_file):
    servers = {"db": {"sources": [{"running": "h:1", "credentials": str(login_file)}]}, "own": {"sources": [{}]}}
    found = credentials.job_environment(servers)
    assert json.loads(found[credentials.PLACES_VARIABLE]) == {"db": servers["db"]["sources"][0]}
    assert credentials.job_environment({"own": {"sources": [{}]}}) == {}


@pytest.mark.parametrize("name", ["mysql", "mariadb", "postgresql"])
def test_sysbench_reads_the_login_from_a_file_that_only_its_owner_can_read(tmp_path, name):
    family = families.of(name)
    endpoint = Endpoint("db", "db.example.com", 5, Access(Login(USER, PASSWORD), None), "d")
    file = private_file(tmp_path / "login", family.login_text(endpoint))
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text() == f"{family.SYSBENCH_DRIVER}-user={USER}\n{family.PASSWORD_OPTION}={PASSWORD}\n"
    shown = " ".join([*family.reached_flags(endpoint), *family.reached_environment(endpoint, tmp_path).values()])
    assert USER not in shown
    assert PASSWORD not in shown


def test_user_and_password_are_hidden_in_messages_and_files(tmp_path):
    endpoint = Endpoint("db", "db.example.com", 5, Access(Login(USER, PASSWORD), None))
    said = f"Access denied for user '{USER}'@'10.0.0.1' ({PASSWORD}); hannah"
    assert endpoint.hidden(said) == f"Access denied for user '{HIDDEN}'@'10.0.0.1' ({HIDDEN}); hannah"
    file = Path(tmp_path, "said.txt")
    file.write_text(said)
    endpoint.hide_in(file)
    assert file.read_text() == endpoint.hidden(said)
