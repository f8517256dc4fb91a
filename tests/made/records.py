"""Made-up records of builds, audits, checks, proofs, profiles, sources and datasets."""

from collections.abc import Iterable
from typing import Any

from tests.made.run import server

LTO = ["-flto=2", "-fuse-linker-plugin"]
USE = ["-fprofile-use=counters", "-Wmissing-profile"]
# build: keys of its declaration, stage, flags for the profile, .text in MB
BUILDS: dict[str, tuple[dict[str, Any], str, list[str], float]] = {
    "baseline": ({}, "plain", [], 17.8),
    "lto": ({"lto": True}, "plain", [], 17.1),
    "pgo": ({"profile": "mixed"}, "optimised", USE, 14.9),
    "pgo_lto": ({"profile": "mixed", "lto": True}, "optimised", USE, 13.2),
    "pgo_lto_bolt": (
        {"profile": "mixed", "lto": True, "bolt": "mixed", "bolt_toolchain": "bolt-16"},
        "bolted",
        [],
        15.8,
    ),
    "as_published": ({"profile": "mixed", "published": True}, "published", USE, 17.0),
    "prebuilt": ({"prebuilt": True}, "prebuilt", [], 16.9),
    "instrumented_gcc-12": ({}, "instrumented", ["-fprofile-generate=counters"], 39.0),
    "relocatable_gcc-12_abc": ({}, "relocatable", USE, 13.4),
    "bolt_instrumented_bolt-16_abc": ({}, "bolt_instrumented", [], 31.0),
}
SHARED = ["-O2", "-fPIC"]
LINK = ["-Wl,--build-id=sha1"]
NAMES = {
    "names": [{"sought": "#build2#sql#x.cc.gcda", "present": "#build#sql#x.cc.gcda"}],
    "names_sought": 773,
    "names_present": 773,
    "names_found": 0,
}
DIRECTORIES = {"sql": (300, 410, 299, 4_800), "storage/innobase": (312, 363, 312, 3_319)}


def declared(builds: Iterable[str]) -> dict[str, Any]:
    """Return what study.json says of builds."""
    empty = {
        "flags": [],
        "lto": False,
        "profile": None,
        "bolt": None,
        "bolt_toolchain": None,
        "toolchain": "gcc-12",
        "published": False,
        "debug_information": False,
    }
    told = {name: _kind(name)[0] for name in sorted(builds)}
    return {
        "builds": {name: keys if "prebuilt" in keys else {**empty, **keys} for name, keys in told.items()},
        "trained_on": {name: ["simple_select", "oltp"] for name, keys in told.items() if "profile" in keys},
    }


def of_builds(builds: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return facts of these builds and the stages behind them, their audits, checks and proofs."""
    names = list(builds)
    behind = ["instrumented_gcc-12"] if len(names) > 1 else []
    behind += ["relocatable_gcc-12_abc", "bolt_instrumented_bolt-16_abc"] if "pgo_lto_bolt" in names else []
    made = [*names, *behind]
    proofs = [{"kind": "machine_code", "builds": names[:2], "holds": True, "text": "different machine code"}]
    return {
        "facts": [build_facts(name) for name in made],
        "audits": [audit(name) for name in made if _kind(name)[1] in ("optimised", "published", "relocatable")],
        "checks": [check(name) for name in names],
        "proofs": [{"format": 1, "proofs": proofs}],
    }


def _kind(name: str) -> tuple[dict[str, Any], str, list[str], float]:
    stage = next((known for known in BUILDS if known.partition("_gcc")[0] == name.partition("_gcc")[0]), "baseline")
    return BUILDS.get(name, BUILDS["pgo" if "pgo" in name else stage])


def build_facts(name: str) -> dict[str, Any]:
    """Return facts.json of a build or stage."""
    _, stage, profile, text_mb = _kind(name)
    facts = {
        "format": 1,
        "server": "mariadb-10.11",
        "family": "mariadb",
        "release": "10.11.18",
        "build": name,
        "stage": stage,
        "server_file": "bin/mariadbd",
        "text_bytes": round(text_mb * 1e6),
        "file_bytes": 24_100_000,
        "install_bytes": 61_000_000,
        "build_id": server(name)["build_id"],
        "sha256": server(name)["sha256"],
    }
    match stage:
        case "prebuilt":
            hardening = {"pie": True, "relro": "full", "stack_protector": None}
            told = {"compiler_comment": "GCC: (Debian 12.2.0-14) 12.2.0", "hardening": hardening}
            return {**facts, "flags": None, "toolchain": None, "told": told}
        case "bolted" | "bolt_instrumented":
            return {
                **facts,
                **_effort(27.0),
                "flags": None,
                "toolchain": toolchain("bolt-16", "16.0.6"),
                "bolt": bolt(stage),
            }
    lto = LTO if _kind(name)[0].get("lto") else []
    flags = {"common": ["-O2"], "profile": profile, "lto": lto, "link": LINK}
    given = {"compile_arguments": [*SHARED, *profile, *lto], "link_arguments": [*LINK, *profile, *lto]}
    more = {"configure_command": ["cmake", "-GNinja", "-DWITH_SSL=system"], "units_compiled": 854, "threads": 2}
    compiler = {"toolchain": toolchain("gcc-12", "12.2.0"), "source_sha256": "c0" * 32}
    return {**facts, **compiler, **_effort(905.0 + 60 * len(profile)), **more, "flags": flags, **given}


def toolchain(name: str, version: str) -> dict[str, str]:
    """Return the toolchain as facts hold it."""
    return {"name": name, "version": version, "cc": name, "cxx": name}


def _effort(compile_s: float) -> dict[str, Any]:
    steps_s = {"configure": 41.2, "compile": compile_s, "install": 3.1}
    return {"steps_s": steps_s, "wall_s": sum(steps_s.values()), "cpu_s": 1890.0, "peak_rss_mib": 812.0}


def bolt(stage: str) -> dict[str, Any]:
    """Return what facts hold of BOLT."""
    told = {
        "functions_profiled": 6_021,
        "functions_total": 31_288,
        "functions_stale": 2,
        "branches_profiled_share": 0.997,
    }
    names = {
        "input_build": "relocatable_gcc-12_abc",
        "version": "16.0.6",
        "arguments": ["-reorder-blocks=ext-tsp", "-icf=1"],
    }
    return {**names, **(told | {"training": "mixed"} if stage == "bolted" else {"training": None})}


def audit(name: str) -> dict[str, Any]:
    """Return audit.json of a build: the published recipe lost its profile."""
    lost = name == "as_published"
    parts = [
        {
            "directory": directory,
            "units_compiled": compiled,
            "units_linked": compiled,
            "units_with_counters": compiled,
            "units_nonzero": ran,
            "units_matched": 0 if lost else matched,
            "functions_executed": functions,
            "functions_matched": 0 if lost else functions - 7,
            "mismatches": 0,
            "functions_not_found": 61,
        }
        for directory, (ran, compiled, matched, functions) in DIRECTORIES.items()
    ]
    total = {key: sum(part[key] for part in parts) for key in parts[0] if key != "directory"}
    return {
        "format": 1,
        "server": "mariadb-10.11",
        "build": name,
        "training": "mixed",
        **total,
        "threshold": 0.99,
        "matched_share": total["units_matched"] / total["units_nonzero"],
        "by_directory": parts,
        "executed_share_optimised": 0.0 if lost else 0.9983,
        "tool": "gcc",
        "published": lost,
        **(NAMES if lost else {}),
        "missing": [{"unit": "sql/x.cc", "why": "no counters file found"}],
        "top_functions": [
            {"function": f"row<{place}>", "unit": "row0sel.cc", "count": 10**9 // place} for place in range(1, 21)
        ],
    }


def check(name: str) -> dict[str, Any]:
    """Return check.json of a build."""
    return {
        "format": 1,
        "server": "mariadb-10.11",
        "build": name,
        "reference_build": "baseline",
        "is_check_reference": name == "baseline",
        "statements": 412,
        "skipped": 3,
        "answered_identically": 409,
        "tables_checksummed": 21,
        "release": "10.11.18",
        "statements_sha256": "f3" * 32,
        "scans_under_concurrency": 80,
        "differences": [],
    }


def others() -> dict[str, list[dict[str, Any]]]:
    """Return one profile, one source and one dataset record, and no diagnosis."""
    return {
        "profiles": [
            {
                "format": 1,
                "server": "mariadb-10.11",
                "training": "mixed",
                "compiler": "gcc 12.2.0",
                "build_path": "build",
                "source_path": "source",
                "files": 773,
                "files_nonzero": 612,
                "functions": 31_000,
                "functions_nonzero": 9_400,
                "counters_digest": "ab" * 32,
                "log_lines": [],
                "wall_s": 66.0,
                "runs": [{"workload": "simple_select", "clients": 4, "seconds": 20, "tps": 5300.0}],
            }
        ],
        "sources": [
            {
                "format": 1,
                "server": "mariadb-10.11",
                "product": "MariaDB",
                "version": "10.11",
                "release": "10.11.18",
                "kind": "debian",
                "origin": "source package mariadb 1:10.11.18-0+deb12u1",
                "tree_sha256": "c0" * 32,
                "files": [{"name": "mariadb_10.11.18.orig.tar.gz", "sha256": "d1" * 32}],
            }
        ],
        "datasets": [
            {
                "format": 1,
                "server": "mariadb-10.11",
                "dataset": "sbtest",
                "tables": 4,
                "rows": 100000,
                "bytes": 121_000_000,
                "load_s": 9.4,
                "snapshot_sha256": "e2" * 32,
            }
        ],
        "diagnoses": [],
    }
