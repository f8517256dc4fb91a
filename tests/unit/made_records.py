"""Made-up records of builds, profiles, sources and datasets."""

from typing import Any

from tests.unit.made_run import server


def build_facts(name: str, trained: bool) -> dict[str, Any]:
    """Return facts.json of a build."""
    audit = {
        "training": "mixed", "units_with_counters": 773, "units_nonzero": 612, "units_matched": 611,
        "matched_share": 611 / 612, "threshold": 0.99, "functions_not_found": 123, "mismatches": 0,
        "by_directory": [
            {"directory": "sql", "units_nonzero": 300, "units_matched": 299},
            {"directory": "storage", "units_nonzero": 312, "units_matched": 312},
        ],
        "missing": [{"unit": "sql/x.cc", "why": "no counters file found"}],
    }  # fmt: skip
    profile = ["-fprofile-use=counters", "-Wmissing-profile"] if trained else []
    return {
        "format": 1, "server": "mariadb-10.11", "family": "mariadb", "release": "10.11.18", "build": name,
        "source_sha256": "c0" * 32,
        "toolchain": {"name": "gcc-12", "version": "12.2.0", "cc": "gcc-12", "cxx": "g++-12"},
        "flags": {"common": ["-O2", "-g0"], "profile": profile},
        "configure_command": ["cmake", "-GNinja", "-DWITH_SSL=system"],
        "compile_arguments": ["-O2", "-g0", "-fPIC", *profile], "link_arguments": ["-pie"],
        "steps_s": {"configure": 41.2, "compile": 905.0 + 120 * trained, "install": 3.1},
        "wall_s": 949.3, "cpu_s": 1890.0, "peak_rss_mib": 812.0, "units_compiled": 854, "threads": 2,
        "server_file": "bin/mariadbd", "text_bytes": 17_800_000 - 2_900_000 * trained, "file_bytes": 24_100_000,
        "install_bytes": 61_000_000, "build_id": server(name)["build_id"], "sha256": server(name)["sha256"],
        "audit": audit if trained else None,
    }  # fmt: skip


def others() -> dict[str, list[dict[str, Any]]]:
    """Return one profile, one source and one dataset record."""
    return {
        "profiles": [{
            "format": 1, "server": "mariadb-10.11", "training": "mixed", "compiler": "gcc 12.2.0",
            "build_path": "build", "source_path": "source", "files": 773, "files_nonzero": 612, "functions": 31_000,
            "functions_nonzero": 9_400, "counters_digest": "ab" * 32, "log_lines": [], "wall_s": 66.0,
            "runs": [{"workload": "simple_select", "clients": 4, "seconds": 20, "tps": 5300.0}],
        }],
        "sources": [{
            "format": 1, "server": "mariadb-10.11", "product": "MariaDB", "version": "10.11", "release": "10.11.18",
            "kind": "debian", "origin": "source package mariadb 1:10.11.18-0+deb12u1", "tree_sha256": "c0" * 32,
            "files": [{"name": "mariadb_10.11.18.orig.tar.gz", "sha256": "d1" * 32}],
        }],
        "datasets": [{
            "format": 1, "server": "mariadb-10.11", "dataset": "sbtest", "tables": 4, "rows": 100000,
            "bytes": 121_000_000, "load_s": 9.4, "snapshot_sha256": "e2" * 32,
        }],
    }  # fmt: skip
