"""Install trees of ready-made servers, with a small program in place of a real server."""

import os
import shutil
import subprocess

import pytest

from scripts.jobs import install_prebuilt
from scripts.lib import json_record
from scripts.measure.servers import families
from scripts.measure.servers.families.mariadb import SYS_SCHEMA, SYSTEM_TABLES
from tests.made.declared import prebuilt

pytestmark = pytest.mark.real
SAYS = "Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)"
PROGRAM = '#include <stdio.h>\nint main(int n, char **a) {{ printf("%s  {says}\\n", a[0]); return 0; }}\n'


@pytest.fixture
def distribution(tmp_path):
    """An unpacked distribution of MySQL whose program says its release and nothing else."""
    tree = tmp_path / "source" / "tree"
    for folder in ("bin", "share/charsets", "share/english", "share/french", "lib/private", "mysql-test"):
        (tree / folder).mkdir(parents=True)
    (tmp_path / "mysqld.c").write_text(PROGRAM.format(says=SAYS))
    subprocess.run(["gcc", tmp_path / "mysqld.c", "-o", tree / "bin" / "mysqld"], check=True)
    (tree / "bin" / "mysqladmin").write_text("no need of it")
    for name in ("charsets/Index.xml", "english/errmsg.sys", "french/errmsg.sys"):
        (tree / "share" / name).write_text("text")
    (tree / "lib" / "private" / "libssl.so.1").write_text("text")
    (tree / "lib" / "private" / "libssl.so").symlink_to("libssl.so.1")
    return tree


def install(tmp_path, version="8.0.33", kind="maven", **known):
    """Run the entry script's main; returns the folder of the build."""
    source, build = tmp_path / "source" / "source.json", tmp_path / "build"
    described = {"kind": kind, "origin": "of a test", "tree_sha256": "5e", "release": version, **known}
    json_record.write(source, described)
    recipe = prebuilt(server="mine", source={"server": "mine", "product": "MySQL", "version": version})
    files = [build / name for name in ("install", "facts.json", "identity.json")]
    install_prebuilt.main(recipe, source, *files, build / "log")
    return build


def test_what_running_needs_is_taken_and_nothing_else(tmp_path, distribution):
    tree = install(tmp_path) / "install"
    found = {str(path.relative_to(tree)) for path in tree.rglob("*") if not path.is_dir()}
    shared = {"share/charsets/Index.xml", "share/english/errmsg.sys", "share/french/errmsg.sys"}
    private = {"lib/private/libssl.so.1", "lib/private/libssl.so"}
    assert found == {"bin/mysqld", "release.txt", *shared, *private}
    assert (tree / "release.txt").read_text() == "8.0.33\n"


def test_install_tree_outlives_the_distribution(tmp_path, distribution):
    build = install(tmp_path)
    shutil.rmtree(distribution)
    assert (build / "install" / "share" / "charsets" / "Index.xml").read_text() == "text"
    assert (
        json_record.file_sha256(build / "install" / "bin" / "mysqld")
        == json_record.read(build / "identity.json")["sha256"]
    )


def test_program_that_lost_its_execute_bit_in_an_archive_is_runnable_and_its_source_unchanged(tmp_path, distribution):
    (distribution / "bin" / "mysqld").chmod(0o644)
    build = install(tmp_path)
    assert os.access(build / "install" / "bin" / "mysqld", os.X_OK)
    assert (distribution / "bin" / "mysqld").stat().st_mode & 0o777 == 0o644


def test_what_nobody_here_knows_is_missing_and_what_the_program_tells_is_there(tmp_path, distribution):
    facts = json_record.read(install(tmp_path) / "facts.json")
    unknown = ["flags", "toolchain", "steps_s", "configure_command", "compile_arguments", "wall_s", "units_compiled"]
    assert {name: facts[name] for name in unknown} == dict.fromkeys(unknown)
    assert facts["told"]["version"] == SAYS
    assert facts["told"]["compiler_comment"].startswith("GCC: ")
    assert facts["told"]["has_build_id"] is (facts["build_id"] is not None)
    assert (facts["stage"], facts["release"], facts["server_file"]) == ("prebuilt", "8.0.33", "bin/mysqld")
    assert facts["install_bytes"] == facts["file_bytes"] + 4 * len("text")


def test_identity_is_that_of_any_build(tmp_path, distribution):
    identity = json_record.read(install(tmp_path) / "identity.json")
    assert set(identity) == {
        *("format", "server", "family", "build", "release", "sha256", "build_id", "server_file", "source_path")
    }
    assert (identity["server"], identity["build"], identity["source_path"]) == ("mine", "prebuilt", "of a test")


def test_installed_server_is_linked_to(tmp_path, distribution):
    build = install(tmp_path, kind="installed", path=str(distribution))
    assert (build / "install" / "bin" / "mysqld").readlink() == distribution / "bin" / "mysqld"
    assert (build / "install" / "share" / "english").readlink() == distribution / "share" / "english"
    facts, identity = json_record.read(build / "facts.json"), json_record.read(build / "identity.json")
    assert identity["source_path"] == str(distribution / "bin" / "mysqld")
    assert facts["install_bytes"] == facts["file_bytes"] + 4 * len("text")


def test_another_release_than_declared_is_refused(tmp_path, distribution):
    with pytest.raises(ValueError, match=r"mysqld: is release 8\.0\.33, expected 8\.4 \(key servers\.\*\.version\)"):
        install(tmp_path, version="8.4")
    assert not (tmp_path / "build" / "identity.json").exists()


def test_series_is_enough(tmp_path, distribution):
    assert json_record.read(install(tmp_path, version="8.0") / "identity.json")["release"] == "8.0.33"


def test_tree_without_a_server_is_refused(tmp_path, distribution):
    (distribution / "bin" / "mysqld").unlink()
    with pytest.raises(ValueError, match=r"source/tree: neither a program mysqld nor a prefix with one in bin, sbin"):
        install(tmp_path)


def test_server_without_its_messages_is_refused(tmp_path, distribution):
    shutil.rmtree(distribution / "share")
    with pytest.raises(ValueError, match=r"mysqld: none of .*/tree/share holds its charsets, \*/errmsg\.sys"):
        install(tmp_path)


def test_distribution_that_keeps_shared_files_under_its_name_is_found(tmp_path, distribution):
    (distribution / "share").rename(distribution / "named")
    (distribution / "share").mkdir()
    (distribution / "named").rename(distribution / "share" / "mysql-8.0")
    found = families.of("mysql").layout(distribution)
    assert found["share/english"] == distribution / "share" / "mysql-8.0" / "english"
    assert families.of("mysql").layout(distribution / "bin" / "mysqld") == found


def test_postgresql_without_initdb_is_refused(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "postgres").write_text("")
    with pytest.raises(ValueError, match="bin/initdb: no such file, expected beside"):
        families.of("postgresql").layout(tmp_path)
    (tmp_path / "bin" / "initdb").write_text("")
    assert set(families.of("postgresql").layout(tmp_path)) == {"bin/postgres", "bin/initdb"}


def test_mariadb_without_its_system_tables_is_refused(tmp_path):
    for folder in ("sbin", "share/mysql/charsets", "share/mysql/english"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sbin" / "mariadbd").write_text("")
    (tmp_path / "share" / "mysql" / "english" / "errmsg.sys").write_text("")
    with pytest.raises(ValueError, match=r"share/mysql: has no mysql_system_tables\.sql, .*gis_sp_bootstrap\.sql$"):
        families.of("mariadb").layout(tmp_path)
    (tmp_path / "share" / "mysql" / "charsets").rmdir()
    with pytest.raises(ValueError, match=r"mariadbd: none of .*share/mysql, .* holds its charsets, "):
        families.of("mariadb").layout(tmp_path)


@pytest.mark.parametrize(("program", "first"), [("mysqld", "mysql"), ("mariadbd", "mariadb")])
def test_scripts_of_every_release_of_mariadb_are_kept_under_the_same_names(tmp_path, program, first):
    for folder in ("bin", "share/charsets", "share/english"):
        (tmp_path / folder).mkdir(parents=True)
    scripts = [name.replace("mysql_", f"{first}_") for name in SYSTEM_TABLES if name != SYS_SCHEMA]
    for name in (f"bin/{program}", "share/english/errmsg.sys", *(f"share/{name}" for name in scripts)):
        (tmp_path / name).write_text("")
    found = families.of("mariadb").layout(tmp_path)
    assert found["bin/mariadbd"] == tmp_path / "bin" / program
    kept = {name: place.name for name, place in found.items() if name.endswith(".sql")}
    assert kept == dict(zip((f"share/{name}" for name in SYSTEM_TABLES[:-1]), scripts, strict=True))
