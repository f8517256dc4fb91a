"""Builds, training, machine, data and sources for the page, side by side."""

import shlex
from typing import Any

from scripts.tables import fact
from scripts.wording import NOTHING, count, duration, missing, number, percent, short, size

HOST = {
    "hostname": "name", "cpu_model": "CPU", "cpus": "CPUs", "memory_mib": "memory, MiB", "kernel": "kernel",
    "virtualisation": "virtualisation", "governor": "frequency governor", "smt": "SMT", "numa_nodes": "NUMA nodes",
    "thp": "transparent huge pages", "swap_mib": "swap, MiB", "clocksource": "clock source",
}  # fmt: skip
EFFORT = {
    "server": ("server", str), "release": ("release", str), "units_compiled": ("units compiled", number),
    "steps_s.configure": ("configure", duration), "steps_s.compile": ("compile", duration),
    "steps_s.install": ("install", duration), "wall_s": ("in all", duration), "cpu_s": ("CPU time", duration),
    "threads": ("threads", number), "peak_rss_mib": ("largest process, MiB", count), "text_bytes": (".text", size),
    "file_bytes": ("server file", size), "install_bytes": ("install tree", size), "build_id": ("build-id", short),
    "sha256": ("SHA-256", short), "source_sha256": ("source tree SHA-256", short),
}  # fmt: skip


def build_rows(facts: list[dict[str, Any]]) -> list[tuple[str, tuple[str, ...]]]:
    """Return (property, one value a build): compiler, flags, seconds, sizes, identity."""
    toolchain = (
        "compiler",
        tuple(f"{fact(build, 'toolchain.name')} {fact(build, 'toolchain.version')}" for build in facts),
    )
    flags = [
        (f"flags, {part}", tuple(shlex.join(fact(build, f"flags.{part}") or []) or NOTHING for build in facts))
        for part in ("common", "profile")
    ]
    effort = [
        (label, tuple(NOTHING if missing(fact(build, where)) else write(fact(build, where)) for build in facts))
        for where, (label, write) in EFFORT.items()
    ]
    return [*effort[:2], toolchain, *flags, *effort[2:]]


def arguments(facts: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Return (build, part, arguments) of what compiler and linker were given: in all builds, then only there."""
    rows = []
    for part, key in (("compile", "compile_arguments"), ("link", "link_arguments")):
        given = {f"{build['build']} of {build['server']}": list(build.get(key) or []) for build in facts}
        shared = set.intersection(*map(set, given.values())) if given else set()
        first = next(iter(given.values()), [])
        rows.append(("all builds", part, shlex.join([argument for argument in first if argument in shared])))
        own = [(name, [argument for argument in said if argument not in shared]) for name, said in given.items()]
        rows += [(name, part, shlex.join(rest)) for name, rest in own if rest]
    return [row for row in rows if row[2]]


def configure_commands(facts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return (builds, configure command), equal commands once."""
    by_command: dict[str, list[str]] = {}
    for build in facts:
        by_command.setdefault(shlex.join(build.get("configure_command") or []), []).append(build["build"])
    return [(", ".join(names), command) for command, names in by_command.items() if command]


def audits(facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the audit of every profile-using build: rows by directory, what is missing, and counts."""
    return [
        {
            "name": f"{build['build']} of {build['server']}",
            "training": audit["training"],
            "share": percent(audit["matched_share"]),
            "rows": [
                (part["directory"], number(part["units_nonzero"]), number(part["units_matched"]),
                 percent(part["units_matched"] / part["units_nonzero"]) if part["units_nonzero"] else NOTHING)
                for part in audit["by_directory"]
            ],
            "missing": [(entry["unit"], entry["why"]) for entry in audit["missing"]],
            "units_with_counters": number(audit["units_with_counters"]),
            "units_nonzero": number(audit["units_nonzero"]),
            "units_matched": number(audit["units_matched"]),
            "functions_not_found": number(audit["functions_not_found"]),
            "mismatches": number(audit["mismatches"]),
        }
        for build in facts
        if (audit := build.get("audit"))
    ]  # fmt: skip


def trainings(profiles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what each profile was trained with and what came out."""
    return [
        {
            "name": f"{profile['training']} of {profile['server']}",
            "runs": [
                (run["workload"], number(run["clients"]), duration(run["seconds"]), count(run["tps"]))
                for run in profile.get("runs") or []
            ],
            "counters": f"{number(profile.get('files_nonzero'))} of {number(profile.get('files'))} files and "
            f"{number(profile.get('functions_nonzero'))} of {number(profile.get('functions'))} functions ran",
            "compiler": str(profile.get("compiler")),
            "time": duration(profile.get("wall_s")),
            "log_lines": [str(line) for line in profile.get("log_lines") or []],
        }
        for profile in profiles
    ]


def _word(value: Any) -> str:
    match value:
        case None:
            return NOTHING
        case bool():
            return "on" if value else "off"
    return str(value)


def machine(records: list[tuple[str, dict]]) -> list[tuple[str, str]]:
    """Return (property, value) of the host; several values, should there be any, side by side."""
    rows = []
    for key, label in HOST.items():
        values = [fact(facts, f"host.{key}") for _, facts in records if facts.get("host")]
        found = dict.fromkeys(_word(value) for value in values)
        rows.append((label, "; ".join(found) or NOTHING))
    return rows


def dataset_rows(datasets: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row a dataset: name, server, tables, rows a table, size, load time, snapshot checksum."""
    return [
        (data["dataset"], data["server"], number(data.get("tables")), number(data.get("rows")), size(data.get("bytes")),
         duration(data.get("load_s")), short(data.get("snapshot_sha256")))
        for data in datasets
    ]  # fmt: skip


def source_rows(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return where the sources came from, with the checksums of what was fetched."""
    return [
        {
            "server": source["server"],
            "product": f"{source.get('product')} {source.get('release')}",
            "origin": str(source.get("origin")),
            "tree": source.get("tree_sha256") or NOTHING,
            "files": [(entry["name"], entry["sha256"]) for entry in source.get("files") or []],
        }
        for source in sources
    ]
