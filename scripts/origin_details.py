"""Machine, sources, datasets and trainings for the page."""

from typing import Any

from scripts.filling import SCRIPT
from scripts.sysbench import option_text
from scripts.tables import fact
from scripts.wording import NOTHING, count, duration, number, short, size

HOST = {
    "hostname": "name", "cpu_model": "CPU", "cpus": "CPUs", "memory_mib": "memory, MiB", "kernel": "kernel",
    "virtualisation": "virtualisation", "governor": "frequency governor", "smt": "SMT", "numa_nodes": "NUMA nodes",
    "thp": "transparent huge pages", "swap_mib": "swap, MiB", "clocksource": "clock source",
}  # fmt: skip


def trainings(profiles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what each profile was trained with and what came out."""
    return [
        {
            "name": f"{profile['training']} of {profile['server']}",
            "runs": [
                (run["workload"], number(run["clients"]), duration(run["seconds"]), count(run["tps"]))
                for run in profile.get("runs") or []
            ],
            "counters": _counters(profile),
            "compiler": str(profile.get("compiler") or "compiler unknown"),
            "time": duration(profile.get("wall_s")),
            "log_lines": [str(line) for line in profile.get("log_lines") or []],
        }
        for profile in profiles
    ]


def _counters(profile: dict[str, Any]) -> str:
    """Write what was counted; a profile of BOLT knows only of what ran."""
    counts = {key: number(profile.get(key)) for key in ("files_nonzero", "files", "functions_nonzero", "functions")}
    if profile.get("tool") == "bolt":
        return f"{counts['functions_nonzero']} functions and {number(profile.get('branches'))} branches ran"
    ran = f"{counts['files_nonzero']} of {counts['files']} files and {counts['functions_nonzero']} of"
    return f"{ran} {counts['functions']} functions ran"


def _word(value: Any) -> str:
    match value:
        case None:
            return NOTHING
        case bool():
            return "on" if value else "off"
    return str(value)


def machine(records: list[tuple[str, dict]]) -> list[tuple[str, str]]:
    """Return (property, value) of the host."""
    rows = []
    for key, label in HOST.items():
        rows.append((label, written([fact(facts, f"host.{key}") for _, facts in records if facts.get("host")])))
    return rows


def written(values: list[Any]) -> str:
    """Write one fact of several runs; several values, should there be any, side by side."""
    return "; ".join(dict.fromkeys(map(_word, values))) or NOTHING


def dataset_rows(datasets: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row a dataset: name, server, script, tables, rows a table, size, load time, snapshot checksum."""
    return [
        (data["dataset"], data["server"], _filled(data), number(data.get("tables")), number(data.get("rows")),
         size(data.get("bytes")),
         duration(data.get("load_s")), short(data.get("snapshot_sha256")))
        for data in datasets
    ]  # fmt: skip


def _filled(data: dict[str, Any]) -> str:
    options = (f"{name}={option_text(value)}" for name, value in (data.get("options") or {}).items())
    text = " ".join([data.get("script") or SCRIPT, *options])
    return f"{text}, before every run" if data.get("fresh") else text


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
