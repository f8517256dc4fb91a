"""What a run is given and cannot use gets a message that names it; here is what no other test asks, and where they are.

Of the config: test_bad_config and test_study. Of the rest, each tested where it is named:
  sysbench missing: test_sysbench::test_missing_program_is_named
  sysbench too old: test_sysbench::test_anything_but_1_x_is_refused
  sysbench without the driver: test_sysbench::test_driver_the_binary_lacks_is_named
  compiler missing, under -n: test_dry_run::test_missing_compiler_is_told_under_dry_run
  compiler too old: test_toolchain::test_old_compiler_is_refused
  compiler without the flag: test_toolchain::test_compiler_without_the_prefix_flag_is_refused_for_profiles
  apt missing: test_debian::test_machine_without_apt_is_told_so
  mvn missing: test_maven::test_missing_mvn_is_told_with_the_package_that_has_it
  package of Debian missing in the series: test_debian::test_missing_series_names_what_is_offered
  package changed after signing: test_debian::test_file_changed_after_signing_is_refused
  repository without signature: test_debian::test_unsigned_repository_is_refused_even_if_the_user_trusts_it
  artifact unknown to Maven: test_maven::test_what_maven_says_of_an_unknown_artifact_is_told
  commit unknown: test_git::test_unknown_commit_is_told_with_its_repository
  repository missing: test_git::test_what_git_says_of_a_missing_repository_is_told
  submodule's transport runs a command: test_git::test_transport_that_runs_a_command_stays_shut
  checksum of a download: test_download::test_each_mirrors_failure_and_the_place_for_the_file_are_told
  checksum of a file, file missing, where to put it: test_source::test_every_failure_is_told_with_where_to_put_the_file
  checksum of an artifact: test_maven::test_wrong_checksum_is_told_after_maven_brought_the_file_anew
  sources of another release: test_source::test_sources_of_another_release_are_refused
  exit code and log of a failed fetch: test_source::test_entry_script_ends_with_one_sentence_and_its_log
  archive truncated: test_archive::test_truncated_tar_is_refused
  archive cut between members: test_archive::test_tar_cut_exactly_between_two_members_is_refused
  archive damaged: test_archive::test_zip_with_a_damaged_member_is_refused
  archive hostile (.., absolute, links, devices, setuid, twice): test_archive::test_hostile_member_is_refused_by_name
  archive of zip hostile: test_archive::test_hostile_zip_member_is_refused_by_name
  archive too large: test_archive::test_archive_above_the_size_limit_is_refused_before_it_is_written
  archive empty: test_archive::test_empty_tar_is_refused
  working tree missing or empty: test_working_tree::test_empty_or_missing_directory_is_refused
  working tree leads out: test_working_tree::test_link_that_leads_out_is_refused_by_name
  server program missing: test_installed::test_prefix_without_a_server_is_refused
  server program cannot run: test_installed::test_server_that_cannot_run_here_is_told_with_its_words
  ready-made server of another release: test_install_prebuilt::test_another_release_than_declared_is_refused
  socket path too long: test_workplace::test_folder_too_long_for_a_socket_is_refused_and_removed
  cache of somebody else: test_cache::test_cache_of_another_user_is_refused
  storage is a file: test_workplace::test_storage_that_is_no_folder_is_named
  storage closed to servers: test_workplace::test_storage_the_servers_user_cannot_enter_is_named_and_left_clean
  server that does not start: test_server::test_server_that_ends_at_once_is_told_with_its_last_lines
  server that ends badly: test_server::test_unclean_stop_is_a_failure
  server that dies under load: test_server::test_error_under_a_dead_server_is_the_servers
  option a release lacks: test_mysql::test_option_the_release_lacks_is_refused_by_name
  option a real server lacks, or a bad value: test_bad_options::test_real_server_is_refused_by_option
  option lacking in a run: test_installed_mariadb::test_run_with_an_option_the_server_lacks_fails_and_names_it
  sysbench refuses an option: test_run_sysbench_sysbench::test_refused_option_names_command_and_log
  sysbench refuses a script or an option: test_output::test_refused_command_line_is_no_failure_of_the_server
  sysbench fails: test_output::test_failure_quotes_what_sysbench_said
  sysbench dies: test_run_sysbench_sysbench::test_death_by_signal_is_named
  sysbench hangs: test_run_sysbench_sysbench::test_hanging_sysbench_is_killed_with_its_children
  sysbench ends early: test_run_sysbench_sysbench::test_status_0_with_half_an_output_is_a_failure
  profile all zero: test_audit::test_counters_that_are_all_zero_are_refused
  profile of another compiler: test_audit::test_counters_that_are_cut_or_of_something_else_are_refused_by_name
  profile of clang unreadable: test_audit_build::test_clang_profile_that_cannot_be_read_is_named
  profile of other sources: test_flags::test_profile_of_something_else_is_refused_by_name
  profile lost: test_audit::test_lost_counters_of_a_unit_are_named_and_refuse_the_build
  snapshot altered: test_data_directory::test_altered_snapshot_is_refused
  install tree altered: test_workplace::test_program_that_is_not_the_one_described_is_refused
  record of a newer release: test_json_record::test_record_of_a_newer_release_is_named
  record truncated: test_json_record::test_what_is_no_json_is_named
  answers of another server: test_compare_answers::test_answers_of_another_server_release_or_statements_are_not_compared
  target of another config: test_dry_run::test_digest_of_another_config_is_refused_as_a_target
  wrong target, wrong Snakefile, Python package missing: test_bad_calls::test_call_that_cannot_work_says_why
  a second Snakemake: test_stub_kill::test_second_snakemake_in_the_same_directory_is_refused_and_a_dry_run_is_not
"""

import ast
import hashlib
import os
import re
import shutil
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.build.compilation import profiles, toolchain
from scripts.build.sources import SourceError, archive, download, working_tree
from scripts.lib import json_record
from scripts.lib.host import locks, process, workplace
from scripts.lib.host.address import Address
from scripts.measure.loadgen import run_sysbench, sysbench
from scripts.measure.loadgen.output import SysbenchFailed, SysbenchMisused, parse
from scripts.measure.servers import data_directory, families, server
from scripts.measure.servers.server import ServerFailed
from tests.made.served import Quiet, served
from tests.unit.measure.servers.test_server import READY, made_family

TESTS = Path(__file__).parents[1]
ELSEWHERE = re.findall(r"^  .+: (test_\w+)::(test_\w+)$", __doc__, re.M)


def test_cases_tested_elsewhere_are_tested_there():
    assert len(ELSEWHERE) == sum(line.startswith("  ") for line in __doc__.splitlines())
    held = {path.stem: path.read_text(encoding="utf-8") for path in TESTS.glob("**/test_*.py")}
    found = {
        (module, node.name)
        for module in {module for module, _ in ELSEWHERE} & held.keys()
        for node in ast.walk(ast.parse(held[module]))
        if isinstance(node, ast.FunctionDef)
    }
    assert sorted(set(ELSEWHERE) - found) == []


@pytest.fixture
def empty_path(tmp_path, monkeypatch):
    """A machine without any command."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("command", ["cmake", "ninja", "make"])
def test_missing_build_tool_is_named_with_what_brings_it(empty_path, command):
    with pytest.raises(FileNotFoundError, match=f"command {command} not found: install the package .*make setup"):
        process.run([command, "--version"], empty_path / "log")


def test_missing_git_is_named_whether_it_fetches_or_lists(empty_path):
    with pytest.raises(FileNotFoundError, match=r"command git not found: install the package .*on Debian: git"):
        process.run(["git", "init"], cwd=empty_path)
    (empty_path / ".git").mkdir()
    with pytest.raises(SourceError, match=r"is a git working tree, and the command git is missing"):
        working_tree.tree_content(empty_path)


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in toolchain.COMMANDS.items() for key in keys])
def test_each_missing_command_of_a_toolchain_is_told_by_its_key(tmp_path, kind, key):
    entry = {"kind": kind, **dict.fromkeys(toolchain.COMMANDS[kind], "true"), key: "nosuch-99"}
    with pytest.raises(ValueError, match=rf"^toolchains\.mine\.{key}: command 'nosuch-99' found neither on PATH"):
        toolchain.find("mine", entry)


def test_command_that_is_no_compiler_is_told_with_its_words(tmp_path):
    (tmp_path / "cc-1").write_text("#!/bin/sh\necho no such flag >&2; exit 3\n")
    (tmp_path / "cc-1").chmod(0o755)
    entry = {"directories": [str(tmp_path)], **dict.fromkeys(toolchain.COMMANDS["gcc"], "cc-1")}
    with pytest.raises(
        ValueError,
        match=r"toolchains\.mine: expected the version of .*cc-1 -dumpfullversion ended with status 3:\nno such flag",
    ):
        toolchain.find("mine", entry)


class Mirror(Quiet):
    """Sends a page in place of a file, half of one, nothing for a while, or 404."""

    def do_GET(self):
        kind = self.path.split("/")[1]
        if kind == "slow":
            time.sleep(1)
            return
        if kind not in ("page", "short"):
            self.send_error(404)
            return
        content = b"<!DOCTYPE html><html>Please sign in</html>"
        page = kind == "page"
        self.answer(content, len(content) * (1 if page else 2), "text/html" if page else "application/gzip")


@pytest.fixture
def mirror(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with served(Mirror) as running:
        yield running.url


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_each_of_several_unreachable_mirrors_tells_why_and_the_place_for_the_file_follows(
    mirror, tmp_path, monkeypatch
):
    known = socket.getaddrinfo

    def resolve(host, *more, **named):
        if host == "mirror.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return known(host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(download, "TIMEOUT_S", 0.3)
    places = ["http://mirror.invalid", f"http://127.0.0.1:{closed_port()}"]
    places += [f"{mirror}/{kind}" for kind in ("absent", "slow", "short", "page")]
    with pytest.raises(SourceError) as caught:
        download.fetch([Address(f"{place}/server.tar.gz") for place in places], "0" * 64, tmp_path)
    *told, hint = str(caught.value).splitlines()
    expected = ["Name or service not known", "Connection refused", "HTTP Error 404", "no answer within 0.3 s"]
    expected += ["broken off after 42 of 84 bytes", f"expected {'0' * 64} (42 bytes of text/html)"]
    for place, line, words in zip(places, told, expected, strict=True):
        assert line.startswith(f"{place}/server.tar.gz: ")
        assert words in line
    assert f"put it at {tmp_path}/server.tar.gz (sha256 {'0' * 64})" in hint
    assert list(tmp_path.iterdir()) == []


def test_page_saved_under_the_name_of_an_archive_is_shown_by_its_start(tmp_path):
    (tmp_path / "server.tar.gz").write_text("<!DOCTYPE html><html>Please sign in</html>")
    with pytest.raises(SourceError, match=r"server.tar.gz: neither a tar .*: it starts with b'<!DOCTYPE"):
        archive.unpack(tmp_path / "server.tar.gz", tmp_path / "tree")


@pytest.mark.parametrize(
    ("path", "why"), [("/proc/nosuch", "No such"), ("{tmp}/unmounted/data", "No such"), ("{tmp}/f/x", "Not a dir")]
)
def test_storage_that_is_missing_or_cannot_be_written_is_named(tmp_path, path, why):
    (tmp_path / "f").touch()
    path = path.format(tmp=tmp_path)
    with pytest.raises(ValueError, match=f"^storage: {path} cannot hold data directories: .*{why}"):
        with workplace.data_directory(path):
            pass
    assert not (tmp_path / "unmounted").exists()


@pytest.mark.parametrize("folder", ["/proc/results", "{tmp}/file"])
def test_results_folder_that_cannot_be_written_is_told_with_what_to_do(tmp_path, folder):
    (tmp_path / "file").touch()
    folder = folder.format(tmp=tmp_path)
    with pytest.raises(ValueError, match=rf"^{folder}: uid \d+ cannot write there \(.+\); expected .*, see -d"):
        locks.hold_checkout(Path(folder))


NOTES = [f"2026-11-21 19:35:02 26809 [Note] Shutting down plugin '{number}'" for number in range(20)]
OPENING = "$ /b/mysqld --old\n[ERROR] Of an earlier start\n$ /b/mysqld --defaults-file=/o.cnf"
GMT = "2026-11-21 19:31:50.590 GMT [2323] "


@pytest.mark.parametrize(
    ("family", "lines", "why"),
    [
        (
            "mariadb",
            ["2026-11-21 19:31:31 0 [ERROR] /b/mysqld: unknown variable 'x=64M'", "2026 0 [ERROR] Aborting"],
            "unknown variable 'x=64M'",
        ),
        (
            "mysql",
            ["2026-11-21 19:35:00 26809 [ERROR] /b/mysqld: unknown variable 'x=64M'", *NOTES],
            "unknown variable 'x=64M'",
        ),
        (
            "mysql",
            [
                "2026-11-21T19:32:20Z 0 [System] [MY-013577] [InnoDB] InnoDB initialization has ended.",
                "2026-11-21T19:32:20Z 0 [ERROR] [MY-000067] [Server] unknown variable 'x=64M'.",
            ],
            "unknown variable 'x=64M'.",
        ),
        (
            "mysql",
            ["2026Z 0 [ERROR] [MY-000077] [Server] /b/mysqld: Error while setting value 'y' to 'x'."],
            "Error while setting value 'y' to 'x'.",
        ),
        (
            "postgresql",
            [
                GMT + "LOG:  starting PostgreSQL 15.18",
                GMT + "FATAL:  the database system is starting up",
                GMT + 'LOG:  unrecognized configuration parameter "x" in file "/o.cnf" line 10',
                GMT + 'FATAL:  configuration file "/o.cnf" contains errors',
            ],
            'unrecognized configuration parameter "x" in file "/o.cnf" line 10',
        ),
        ("postgresql", [GMT + 'LOG:  invalid value for parameter "x": "y"'], 'invalid value for parameter "x": "y"'),
        (
            "postgresql",
            [GMT + 'LOG:  0 8kB is outside the valid range for parameter "x" (16 .. 1073741823)'],
            '0 8kB is outside the valid range for parameter "x" (16 .. 1073741823)',
        ),
        (
            "postgresql",
            [GMT + "FATAL:  could not map anonymous shared memory: Cannot allocate memory"],
            "could not map anonymous shared memory: Cannot allocate memory",
        ),
    ],
)
def test_first_line_about_a_server_that_did_not_start_says_why(tmp_path, family, lines, why):
    log = tmp_path / "log"
    log.write_text("\n".join([OPENING, *lines, ""]))
    head, *rest = server.failure_message(Path("/b/mysqld"), "did not start", log, families.of(family)).splitlines()
    assert head == f"mysqld did not start: {why}; its last lines (log: {log}):"
    assert any(why in line for line in rest)
    assert bool(families.of(family).OPTION_REFUSED.search(why)) == ("shared memory" not in why)
    assert rest[-1] == lines[-1]
    assert "earlier start" not in "".join(rest)


def test_server_that_said_nothing_is_told_so(tmp_path):
    (tmp_path / "log").write_text("$ /b/mysqld\n")
    told = server.failure_message(Path("/b/mysqld"), "did not start", tmp_path / "log", families.of("mysql"))
    assert told == f"mysqld did not start; its last lines (log: {tmp_path}/log):\n(it logged nothing)"


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("0 [Warning] Buffered warning: option 'max_connections': unsigned value 0 adjusted to 10", "max_connections"),
        ("[Warning] [MY-000081] [Server] option 'max_connections': unsigned value 0 adjusted to 1.", "max_connections"),
        ("[Warning] option 'innodb-buffer-pool-size': signed value 1024 adjusted to 2048", "innodb_buffer_pool_size"),
        ("2026 0 [Warning] 'innodb-thread-concurrency' was removed. It does nothing now", "innodb_thread_concurrency"),
        ("2026 0 [Warning] Could not increase number of max_open_files to more than 20000 (request: 65579)", None),
        ("2026 0 [Warning] Changed limits: max_open_files: 20000  max_connections: 10 (was 10)", None),
    ],
)
def test_server_that_runs_with_another_value_is_refused_by_option(tmp_path, line, option):
    log = tmp_path / "log"
    log.write_text(f"$ /b/mysqld\n{line}\n")
    made = server.Server(families.of("mysql"), None, ["/b/mysqld"], tmp_path, log)
    given = {"max-connections": "many", "innodb_buffer_pool_size": 1024, "innodb_thread_concurrency": 8}
    if option is None:
        made.demand_options(given)
        return
    made.demand_options({"another": 1})
    with pytest.raises(ServerFailed, match=rf"did not take options\.{option}: .*but the server reports: .*log: {log}"):
        made.demand_options(given)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(workplace, "server_identity", dict)
    (tmp_path / "data").mkdir()
    return SimpleNamespace(folder=tmp_path, data=tmp_path / "data", log=tmp_path / "log")


def test_server_that_dies_before_it_is_asked_to_stop_is_to_blame(place):
    family = made_family(place.folder, READY.format(status=0))
    with server.running(family, place.folder, place.data, {}, place.log) as running:

        def lost(connection, keep_data):
            running.process.kill()
            raise ConnectionError("gone away\nsecond line")

        family.before_stop = lost
        with pytest.raises(ServerFailed, match=r"died with status -9 before .* \(gone away\); its last lines"):
            running.stop(keep_data=True)


def test_living_server_that_gives_no_connection_has_failed(place):
    family = made_family(place.folder, READY.format(status=0))
    with server.running(family, place.folder, place.data, {}, place.log) as running:
        (place.data / "up").unlink()
        with pytest.raises(ServerFailed, match=rf"gave no connection \(not yet\); .*log: {place.log}"):
            running.stop(keep_data=False)
        assert running.process.poll() is None


MYSQL_ERROR = "FATAL: `thread_run' function failed: /usr/share/sysbench/oltp_common.lua:487: SQL error, errno = 2013"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("FATAL: Cannot find benchmark 'x': no such built-in test, file or module", SysbenchMisused),
        ("FATAL: x.lua:2: <name> or '...' expected near '<eof>'", SysbenchMisused),
        ("FATAL: `thread_run' function failed: x.lua:1: attempt to index local 'x'", SysbenchMisused),
        ("invalid option: --x=1", SysbenchMisused),
        ("FATAL: invalid database driver name: 'x'", SysbenchFailed),
        ("FATAL: `thread_init' function failed: init.lua:1: own words of x", SysbenchFailed),
        (f"FATAL: mysql_drv_query() returned error 2013 (x) for query 'COMMIT'\n{MYSQL_ERROR}", SysbenchFailed),
        ("ALERT: x", SysbenchFailed),
    ],
)
@pytest.mark.parametrize("release", ["1.0.20", "1.1.0"])
def test_wrong_script_is_the_users_and_a_lost_server_the_servers(release, said, error):
    with pytest.raises(error, match=r"sysbench: .*x") as caught:
        parse(f"sysbench {release} (using system LuaJIT 2.1.0-beta3)\n\n{said}\n")
    assert type(caught.value) is error


needs_sysbench = pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed")


@needs_sysbench
def test_script_that_cannot_be_read_is_told_with_line_command_and_log(tmp_path):
    (tmp_path / "mine.lua").write_text("function event(\n")
    with pytest.raises(SysbenchMisused, match=r"mine\.lua:\d+: (.|\n)*mine.lua .*run; log: .*/log"):
        call = sysbench.SysbenchCall(("sysbench",), str(tmp_path / "mine.lua"), (), clients=1, seconds=1)
        run_sysbench.run(call, tmp_path / "log", timeout_s=30)


@needs_sysbench
def test_value_that_sysbench_would_misread_is_refused_by_option(tmp_path):
    script = tmp_path / "mine.lua"
    script.write_text('sysbench.cmdline.options = {size = {"size", 10}, on = {"switch", true}, word = {"word", "w"}}\n')
    generator = sysbench.read_capabilities()
    sysbench.demand_options(generator, str(script), {"size": -1, "on": False, "word": "any", "unknown": "x"})
    with pytest.raises(ValueError, match=rf"options of {script}: size: 'many', expected N .*\n.*: on: 2, expected on"):
        sysbench.demand_options(generator, str(script), {"size": "many", "on": 2})


def test_training_that_left_no_counters_is_told_with_what_was_expected(tmp_path):
    gcc = SimpleNamespace(kind="gcc")
    with pytest.raises(ValueError, match=rf"{tmp_path}: the instrumented server wrote no counters; expected .*\.gcda"):
        profiles.keep(tmp_path, tmp_path / "counters", gcc, tmp_path / "log")


@pytest.mark.parametrize("content", [b"\0" * 64, b"\xff\xfe{", b"[]", b"null", b'{"format": "x"}', b'{"format": 1, "t'])
def test_record_that_a_crash_left_is_named_with_what_to_do(tmp_path, content):
    (tmp_path / "facts.json").write_bytes(content)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/facts\.json: not JSON of ours \(.*\); remove it"):
        json_record.read(tmp_path / "facts.json")


def test_snapshot_that_is_gone_is_named_with_what_to_do(tmp_path):
    with pytest.raises(ValueError, match=rf"set/snapshot/data: no such folder; remove {tmp_path}/set, and"):
        data_directory.verify(tmp_path / "set" / "snapshot", "0" * 64)


def test_disk_that_is_full_is_told_in_the_words_of_cp(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cp").write_text("#!/bin/sh\necho 'cp: error writing: No space left on device' >&2; exit 1\n")
    (tmp_path / "bin" / "cp").chmod(0o755)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "table").write_bytes(b"x" * 2**20)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=os.pathsep)
    told = rf"{tmp_path}/kept/data: no whole copy of {tmp_path}/data \(1 MiB\): cp: error writing: No space left"
    with pytest.raises(ValueError, match=told):
        data_directory.pack(tmp_path / "data", tmp_path / "kept")


def test_altered_copy_of_an_install_tree_is_refused(tmp_path, monkeypatch):
    program = tmp_path / "build" / "install" / "bin" / "server"
    program.parent.mkdir(parents=True)
    program.write_text("the server")
    identity = tmp_path / "build" / "identity.json"
    json_record.write(identity, {"server_file": "bin/server", "sha256": hashlib.sha256(b"the server").hexdigest()})
    monkeypatch.setattr(workplace, "reachable", lambda path: False)
    monkeypatch.setattr(workplace, "cache_directory", lambda: tmp_path / "cache")
    copy = workplace.installed(identity)
    (copy / "bin" / "server").write_text("another")
    with pytest.raises(ValueError, match=rf"^{copy}/bin/server: is not the program .*; remove {copy} to"):
        workplace.installed(identity)


@pytest.mark.parametrize(
    ("family", "release", "options", "told"),
    [
        (
            "mysql",
            "8.0.36",
            {"query-cache-size": "1G", "innodb_support_xa": True, "innodb_log_file_size": "1G"},
            [
                "query_cache_size: MySQL 8.0.36 has no such option (value '1G'); it went with 8.0.3",
                "innodb_support_xa: MySQL 8.0.36 has no such option (value True); it went with 8.0.0",
            ],
        ),
        (
            "mysql",
            "5.5.62",
            {"tx_read_only": True},
            ["transaction_read_only: MySQL 5.5.62 has no such option (value True); it came with 5.6"],
        ),
        (
            "mysql",
            "8.0.41",
            {"innodb_log_file_size": "huge", "innodb_log_files_in_group": "two"},
            [
                "innodb_log_file_size: size 'huge': expected a number of bytes, with K, M, G or T for a power of 1024",
                "innodb_log_files_in_group: 'two': expected a whole number",
            ],
        ),
        ("mysql", "8.0", {"query_cache_size": "1G"}, []),
        ("mysql", "8.4.5", {"query_cache_size": 0, "anything": 1}, []),
        ("mariadb", "10.11.18", {"query_cache_size": "1G", "loose_innodb_page_cleaners": 4}, []),
        (
            "mariadb",
            "10.11",
            {"innodb-log-files-in-group": 2},
            [
                "innodb_log_files_in_group: does nothing in MariaDB 10.11 (value 2); it went with 10.6. "
                "`loose_innodb_log_files_in_group` is for servers that have it"
            ],
        ),
        ("mariadb", "10.2.11", {"innodb_log_files_in_group": 4}, []),
        ("mariadb", "10.11.5", {"innodb_change_buffering": "all"}, []),
        (
            "mariadb",
            "11.4.5",
            {"innodb_change_buffering": "all", "innodb_page_cleaners": 4},
            [
                f"{name}: does nothing in MariaDB 11.4.5 (value {value}); it went with {since}. "
                f"`loose_{name}` is for servers that have it"
                for name, value, since in (
                    ("innodb_change_buffering", "'all'", "11.0"),
                    ("innodb_page_cleaners", "4", "10.6"),
                )
            ],
        ),
        (
            "postgresql",
            "15",
            {"shared-buffers": "1GB", "innodb_page_size": 4096, "work_mem": "4MB", "a.b": 1},
            [
                "shared-buffers: PostgreSQL 15 has no such option (value '1GB')",
                "innodb_page_size: PostgreSQL 15 has no such option (value 4096)",
            ],
        ),
    ],
)
def test_options_a_release_is_known_to_lack_are_told_before_anything_runs(family, release, options, told):
    assert families.of(family).unknown_options(release, options) == told
