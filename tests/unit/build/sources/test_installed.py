"""A ready-made server is found under its prefix, and names its release itself."""

from pathlib import Path

import pytest

from scripts.build.sources.installed import find_program, program_release
from scripts.measure.servers import families

PRODUCTS = families.products()
MARIADB = Path("/usr/sbin/mariadbd")
SAYS = {
    "mysqld  Ver 5.5.34 for linux2.6 on x86_64 (MySQL Community Server (GPL))": "5.5.34",
    "/x/bin/mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)": "8.0.33",
    "mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28)": "8.0.36",
    "mariadbd  Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)": "10.11.18",
    "mysqld  Ver 10.1.23-MariaDB for Linux on x86_64 (MariaDB Server)": "10.1.23",
    "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)": "15.18",
    "postgres (PostgreSQL) 18beta1": "18beta1",
}


def program(path: Path, script: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["bin/mysqld", "sbin/mariadbd", "bin/postgres"])
def test_server_is_found_in_its_prefix_or_named_itself(tmp_path, name):
    made = program(tmp_path / name)
    assert find_program(tmp_path, "installed", PRODUCTS) == find_program(made, "installed", PRODUCTS) == made


def test_two_names_of_one_program_are_one_server(tmp_path):
    made = program(tmp_path / "sbin" / "mariadbd")
    (tmp_path / "sbin" / "mysqld").symlink_to("mariadbd")
    assert find_program(tmp_path, "installed", PRODUCTS) == made


def test_two_servers_under_one_prefix_are_both_named(tmp_path):
    program(tmp_path / "sbin" / "mariadbd")
    program(tmp_path / "bin" / "postgres")
    with pytest.raises(ValueError, match=r"installed: .*found .*bin/postgres, .*sbin/mariadbd; .* name the program"):
        find_program(tmp_path, "installed", PRODUCTS)


def test_prefix_without_a_server_is_refused(tmp_path):
    program(tmp_path / "bin" / "sysbench")
    with pytest.raises(ValueError, match=r"installed: .*expected one of mariadbd, mysqld, postgres .*found none"):
        find_program(tmp_path, "installed", PRODUCTS)


@pytest.mark.parametrize("said", SAYS)
def test_release_is_read_from_what_each_product_says(tmp_path, said):
    assert program_release(program(tmp_path / "server", f"echo '{said}'"), PRODUCTS) == SAYS[said]


def test_server_that_cannot_run_here_is_told_with_its_words(tmp_path):
    broken = program(tmp_path / "server", "echo 'error while loading shared libraries: libaio.so.1' >&2; exit 127")
    with pytest.raises(ValueError, match=r"server --version: status 127, .*libaio\.so\.1"):
        program_release(broken, PRODUCTS)


def test_file_that_is_no_program_is_told(tmp_path):
    (tmp_path / "server").write_text("text")
    with pytest.raises(ValueError, match="cannot be executed"):
        program_release(tmp_path / "server", PRODUCTS)


@pytest.mark.real
@pytest.mark.skipif(not MARIADB.exists(), reason="package mariadb-server-core is not installed")
def test_distribution_server_names_its_release():
    assert program_release(find_program(MARIADB, "installed", PRODUCTS), PRODUCTS).startswith("10.")
