"""Every build of every server side by side: how it was made, what that took, what came out; differences marked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripts.build_arguments import Arguments, Facts, arguments, input_of
from scripts.comparison import AA
from scripts.tables import fact
from scripts.wording import NARROW, NOTHING, count, duration, missing, number, short, size

UNKNOWN = "unknown"
MADE = {
    "plain": "compiled without a profile", "optimised": "compiled with a profile",
    "instrumented": "instrumented by the compiler, to be trained", "prebuilt": "made elsewhere",
    "published": "compiled with a profile by the published recipe",
    "relocatable": "linked so that BOLT can move its code",
    "published_instrumented": "instrumented by the published recipe, to be trained",
    "bolt_instrumented": "instrumented by BOLT, to be trained",
    "bolted": "its code moved by BOLT with a profile of its own",
}  # fmt: skip
EFFORT: dict[str, tuple[str, Callable]] = {
    "units_compiled": ("units compiled", number), "steps_s.configure": ("configure", duration),
    "steps_s.compile": ("compile", duration), "steps_s.install": ("install", duration),
    "wall_s": ("in all", duration), "cpu_s": ("CPU time", duration), "threads": ("threads", number),
    "peak_rss_mib": ("largest process, MiB", count), "install_bytes": ("install tree", size),
    "build_id": ("build-id", short), "text_sha256": (".text SHA-256", short),
    "sha256": ("SHA-256", short), "source_sha256": ("source tree SHA-256", short),
}  # fmt: skip
SIZES = {"text_bytes": ".text", "file_bytes": "server file"}


@dataclass(frozen=True)
class Field:
    """One value of one build: `state` is same or differs, against the first build; a smaller note under it."""

    text: str
    state: str = ""
    note: str = ""


@dataclass(frozen=True)
class Sided:
    """A table with a column a build."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Field, ...]], ...]


@dataclass(frozen=True)
class ServerBuilds:
    """The builds of one server: those variants use, those behind them, and the arguments of all."""

    server: str
    measured: Sided
    behind: Sided | None
    arguments: tuple[Arguments, ...]


def by_server(study: Facts, facts: list[Facts]) -> list[ServerBuilds]:
    """Return the builds server by server in the study's order, those that variants use before the others."""
    used = [(arm["server"], arm["build"]) for name, arm in study["variants"].items() if name != AA]
    rank = {pair: place for place, pair in reversed(list(enumerate(used)))}
    ordered = sorted(facts, key=lambda build: rank.get((build["server"], build["build"]), len(rank)))
    servers = dict.fromkeys(build["server"] for build in ordered)
    return [_of_server(study, [build for build in ordered if build["server"] == name], set(rank)) for name in servers]


def _of_server(study: Facts, facts: list[Facts], used: set[tuple[str, str]]) -> ServerBuilds:
    measured = [build for build in facts if (build["server"], build["build"]) in used]
    rest = [build for build in facts if build not in measured]
    tables = [_sided(study, part, facts) for part in (measured or rest, rest if measured else [])]
    return ServerBuilds(facts[0]["server"], tables[0], tables[1] if tables[1].head else None, arguments(facts))


def _sided(study: Facts, shown: list[Facts], facts: list[Facts]) -> Sided:
    columns = [_properties(study, build, facts) for build in shown]
    first = _properties(study, facts[0], facts)
    labels = dict.fromkeys(label for column in [first, *columns] for label in column)
    rows = [(label, tuple(_marked(column.get(label), first.get(label)) for column in columns)) for label in labels]
    rows += [(label, tuple(_sized(build, key, facts[0]) for build in shown)) for key, label in SIZES.items()]
    effort = {label: [_written(build, where, write) for build in shown] for where, (label, write) in EFFORT.items()}
    rows += [(label, tuple(map(Field, texts))) for label, texts in effort.items()]
    told = [(label, texts) for label, texts in rows if any(field.text != NOTHING for field in texts)]
    return Sided(tuple(build["build"] for build in shown), tuple(told))


def _written(build: Facts, where: str, write: Callable) -> str:
    value = fact(build, where)
    return NOTHING if missing(value) else write(value)


def _marked(text: str | None, first: str | None) -> Field:
    return Field(text or NOTHING, "same" if text == first else "differs")


def _sized(build: Facts, key: str, first: Facts) -> Field:
    """Return a size, with what it is more or less than the first build's."""
    ours, base = build.get(key), first.get(key)
    if missing(ours) or missing(base) or build is first or not base:
        return Field(size(ours))
    change = f"{(ours / base - 1) * 100:+.1f}{NARROW}%".replace("-", "\u2212")
    return Field(size(ours), "", change if ours != base else "")


def _properties(study: Facts, build: Facts, facts: list[Facts]) -> dict[str, str]:
    """Return what was declared and what the binary tells, by label; a bolted build was compiled as its input was."""
    declared = (study.get("builds") or {}).get(build["build"]) or {}
    made, compiled = build.get("stage"), input_of(build, facts) or build
    said = {
        "made": MADE.get(made, UNKNOWN if made is None else str(made)),
        "release": str(build.get("release") or UNKNOWN),
        "compiler": _tool(compiled),
        "link-time optimisation": _lto(compiled),
        "training of its profile": str(_training(compiled, declared) or "none"),
    }
    if build.get("bolt"):
        said |= {"BOLT": _tool(build), "training of BOLT": str(fact(build, "bolt.training") or "none")}
    for part in ("common", "profile", "lto", "link"):
        flags = fact(compiled, f"flags.{part}")
        unknown = UNKNOWN if compiled.get("flags") is None else NOTHING
        said[f"flags, {part}"] = unknown if flags is None else "\n".join(map(str, flags)) or "none"
    return said | {f"binary: {key.replace('_', ' ')}": _told(value) for key, value in (build.get("told") or {}).items()}


def _tool(build: Facts) -> str:
    return " ".join(filter(None, (fact(build, f"toolchain.{key}") for key in ("name", "version")))) or UNKNOWN


def _training(build: Facts, declared: Facts) -> str | None:
    if build.get("stage") == "prebuilt":
        return UNKNOWN
    used = declared.get("profile") or fact(build, "audit.training")
    given = any(flag.startswith("-fprofile-use") for flag in fact(build, "flags.profile") or [])
    return used or ("yes, which one is unknown" if given and declared == {} else None)


def _told(value: Any) -> str:
    match value:
        case dict():
            return "\n".join(f"{key.replace('_', ' ')}: {_told(inner)}" for key, inner in value.items()) or UNKNOWN
        case None | "":
            return UNKNOWN
        case bool():
            return "yes" if value else "no"
    return str(value)


def _lto(build: Facts) -> str:
    found = build.get("compile_arguments")
    if found is None:
        return UNKNOWN
    return "yes" if any(argument.startswith("-flto") for argument in found) else "no"
