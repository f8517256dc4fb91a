"""Every run for the page: what it gave, its commands, phases and warnings, and the settings of each variant."""

import os
import shlex
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scripts.comparison import warning_set
from scripts.doubts import THRESHOLDS
from scripts.tables import fact, run_row
from scripts.wording import NARROW, NOTHING, count, duration, milliseconds, missing, number, percent, plural

MOST_UNFOLDED = 1500
SPARK_WIDTH, SPARK_HEIGHT = 240, 36


@dataclass(frozen=True)
class RunView:
    """One run: the fields of its row, then what it unfolds to."""

    fields: tuple[str, ...]
    ok: bool
    reason: str
    json_link: str
    text_link: str
    lines: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    spark: str = ""
    spark_top: str = ""


FIGURES = {"tps": "TPS", "p95_ms": "p95 ms", "cpu_us_per_tx": "CPU µs"}
SQL_FIGURES = {"cold_s": "cold s", "warm_s": "warm s", "duration_s": "in all s"}


def head(study: dict[str, Any]) -> tuple[str, ...]:
    """Return the headings of a row's fields; a study with both kinds of loads has two for a figure."""
    kinds = {"sql" in load for load in study["workloads"].values()}
    sides = [*([FIGURES.values()] if kinds != {True} else []), *([SQL_FIGURES.values()] if True in kinds else [])]
    figures = [" / ".join(each) for each in zip(*sides, strict=True)]
    return ("#", "variant", "workload", "clients", "rep.", "place", *figures, "warnings")


def link(path: Path, base: Path) -> str:
    """Return a relative, quoted link from a page in `base` to a file."""
    return quote(os.path.relpath(path, base))


def run_view(file: str, facts: dict[str, Any], base: Path, unfold: bool) -> RunView:
    """Return one run; `unfold` adds commands, phases, warnings and the per-second line."""
    row = run_row(facts, file)
    text_file = fact(facts, "sysbench.text_file")
    warnings = tuple(str(warning["text"]) for warning in facts.get("warnings") or [])
    shown = FIGURES if missing(row["cold_s"]) else SQL_FIGURES
    figures = tuple(count(row[name]) for name in shown)
    fields = [row[name] for name in ("run_number", "variant", "workload", "clients", "repetition", "position")]
    view = RunView(
        fields=(*map(_field, fields), *figures, str(len(warning_set(row["warning_codes"])) or "")),
        ok=row["outcome"] == "ok",
        reason=row["reason"] or "",
        json_link=link(Path(file), base),
        text_link=link(Path(file).parent / text_file, base) if text_file else "",
    )
    if not unfold:
        return view
    top = count(max((value for value in fact(facts, "series.tps") or [] if not missing(value)), default=None))
    commands = tuple((name, shlex.join(map(str, argv))) for name, argv in (facts.get("commands") or {}).items() if argv)
    more = {
        "lines": _lines(facts, row),
        "commands": commands,
        "warnings": warnings,
        "spark": spark(facts),
        "spark_top": top,
    }
    return RunView(**{**view.__dict__, **more})


def _field(value: Any) -> str:
    return NOTHING if missing(value) else str(value)


def _lines(facts: dict[str, Any], row: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    phases = ", ".join(f"{name} {duration(seconds)}" for name, seconds in (facts.get("phases_s") or {}).items())
    medium, there = facts.get("medium"), facts.get("client_host") or {}
    cpus = [fact(facts, "placement.server_cpus"), there.get("cpus") or fact(facts, "placement.client_cpus")]
    places, whose = [",".join(map(str, found or [])) for found in cpus], " of the client host" if there else ""
    window = f"{duration(row['duration_s'])}, {number(row['transactions'])} transactions"
    window += f", {plural(row['errors'] or 0, 'error')}, {plural(row['reconnects'] or 0, 'reconnect')}"
    latency = [f"{name} {count(row[key])} ms" for name, key in (("mean", "latency_mean_ms"), ("p50", "p50_ms"))]
    latency += [f"{name} {count(row[f'{name}_ms'])} ms" for name in ("p95", "p99")]
    cpu = f"user {count(row['cpu_user_us_per_tx'])} µs, system {count(row['cpu_system_us_per_tx'])} µs a transaction"
    lines = (
        ("window", window if row["transactions"] is not None else ""),
        ("latency", ", ".join(latency) if row["p95_ms"] is not None else ""),
        ("server CPU", f"{cpu}; steal {percent(row['steal_share'])}" if row["cpu_us_per_tx"] is not None else ""),
        ("phases", phases),
        ("CPUs", f"server {places[0]}, sysbench {places[1]}{whose}" if all(places) else ""),
        ("storage", f"{medium['file_system']}, an fsync {milliseconds(row['fsync_p50_ms'])} ms" if medium else ""),
    )
    return tuple(line for line in lines if line[1])


def spark(facts: dict[str, Any]) -> str:
    """Return the points of the per-second TPS as a line in a box of 240 by 36, from zero up; empty under two."""
    values = [value for value in fact(facts, "series.tps") or [] if not missing(value)]
    if len(values) < 2 or not max(values) > 0:
        return ""
    step, scale = SPARK_WIDTH / (len(values) - 1), (SPARK_HEIGHT - 2) / max(values)
    return " ".join(f"{place * step:.1f},{SPARK_HEIGHT - 1 - value * scale:.1f}" for place, value in enumerate(values))


@dataclass(frozen=True)
class ArmView:
    """How one variant was run: its server's command line and its option file."""

    variant: str
    command: str
    option_file: str


def first_ok(records: list[tuple[str, dict]], **wanted: str) -> dict[str, Any] | None:
    """Return the facts of the first ok run whose fields have the wanted values."""
    for _, facts in records:
        if facts["outcome"] == "ok" and all(facts[key] == value for key, value in wanted.items()):
            return facts
    return None


def arms(study: dict[str, Any], records: list[tuple[str, dict]]) -> list[ArmView]:
    """Return server command and option file of every variant, from its first ok run."""
    found = {name: first_ok(records, variant=name) for name in study["variants"]}
    return [
        ArmView(name, shlex.join(map(str, fact(facts, "commands.server") or [])), facts.get("option_file") or "")
        for name, facts in found.items()
        if facts
    ]


def loads(study: dict[str, Any], records: list[tuple[str, dict]]) -> list[tuple[str, str, str]]:
    """Return (workload, warm-up command, measuring command), each from the reference's first ok run."""
    found = {name: first_ok(records, variant=study["reference"], workload=name) for name in study["workloads"]}
    return [
        (name, *(shlex.join(map(str, fact(facts, f"commands.{part}") or [])) for part in ("warmup", "measure")))
        for name, facts in found.items()
        if facts
    ]


def variables(study: dict[str, Any], records: list[tuple[str, dict]]) -> tuple[list[tuple], list[tuple]]:
    """Return (variables whose values differ between variants, the reference's variables): rows of name and values."""
    found = {name: (first_ok(records, variant=name) or {}).get("variables") or {} for name in study["variants"]}
    names = sorted(set().union(*found.values()))
    rows = [(name, tuple(str(found[variant].get(name, NOTHING)) for variant in found)) for name in names]
    return [row for row in rows if len(set(row[1])) > 1], sorted(found[study["reference"]].items())


def warning_rows(records: list[tuple[str, dict]]) -> list[tuple[str, str, str, str, str]]:
    """Return (code, sentence, threshold, remedy, runs) of every limit, the most frequent first.

    The sentence is that of the first run beyond it, or why the limit is there when no run is.
    """
    kinds = Counter(dict.fromkeys(THRESHOLDS, 0))
    examples: dict[str, str] = {code: limit.reason for code, limit in THRESHOLDS.items()}
    for warning in (each for _, facts in records for each in facts.get("warnings") or []):
        if not kinds[warning["code"]]:
            examples[warning["code"]] = str(warning["text"])
        kinds[warning["code"]] += 1
    return [(code, examples[code], *_limit(code), number(amount)) for code, amount in kinds.most_common()]


def _limit(code: str) -> tuple[str, str]:
    limit = THRESHOLDS.get(code)
    if limit is None:
        return NOTHING, NOTHING
    match limit.threshold:
        case str() as wanted:
            return f"not {wanted}", limit.remedy
        case share if share < 1 and not limit.unit:
            return f"above {percent(share, 0) if share else 0}", limit.remedy
    return f"above {limit.threshold:g}{NARROW}{limit.unit}".rstrip(NARROW), limit.remedy
