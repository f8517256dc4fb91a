"""The README of a package: how to start the server, how it was built and profiled, and what was measured."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from scripts.build.compilation.binary import Library
from scripts.lib.build_records import Audit, BuildFacts, BuildIdentity
from scripts.lib.json_record import Json
from scripts.lib.visible import visible
from scripts.report.page.audits_section import executed_share, units_text
from scripts.report.page.render import markdown
from scripts.report.page.study_answer import StudyAnswer


@dataclass(frozen=True)
class About:
    """The content of a README. `audit` is None if there is none, `answer` holds Markdown paragraphs.

    `profiles` are the profiles of the build, named with their digest; `options` the server options of the study's
    variant as an option file; `commands` is the package's server.sh.
    """

    variant: str
    study: str
    identity: BuildIdentity
    facts: BuildFacts
    profiles: tuple[str, ...]
    audit: Audit | None
    answer: tuple[str, ...]
    options: str
    commands: str
    client: str
    libraries: tuple[Library, ...]


def text(about: About) -> str:
    """Return the README as Markdown."""
    identity = about.identity
    lines = "\n".join(
        [
            f"# {identity.server}, build {identity.build}",
            "",
            f"Release {identity.release}, variant `{about.variant}` of the study `{about.study}`.",
            "",
            *_start(about),
            *_made(about),
            *_measured(about),
            *_libraries(about.libraries),
        ]
    )
    return visible(lines)


def _start(about: About) -> list[str]:
    return [
        "## Start it",
        "",
        "As any user but root, from a folder where `data` may be made:",
        "",
        "    path/to/start.sh /tmp/sockets",
        "",
        "The server stays in the foreground; Ctrl-C or SIGTERM stops it. Only the user who started it can enter the "
        "folder of its socket, and it listens nowhere else. It runs with its own default options; more can follow: "
        "`start.sh SOCKET_FOLDER DATA_FOLDER OPTION ...`.",
        "",
        f"Connect with any client: `{about.client}`.",
        "",
        "What start.sh runs (`server.sh`):",
        "",
        *_block(re.sub(r"^# shellcheck .*\n", "", about.commands)),
    ]


def _made(about: About) -> list[str]:
    facts, identity = about.facts, about.identity
    rows = {
        "Server program": f"`{identity.server_file}`",
        "SHA-256": f"`{identity.sha256}`",
        "Build-id": f"`{identity.build_id}`" if identity.build_id else "none",
        "Compiler": compiler(facts),
        **flags(facts),
        "Profiles": ", ".join(f"`{name}`" for name in about.profiles) or "none",
        "Audit": audit_sentence(about),
    }
    lines = [f"| {name} | {value} |" for name, value in rows.items()]
    return ["## How it was made", "", "| | |", "|---|---|", *lines, ""]


def flags(facts: BuildFacts) -> dict[str, str]:
    """Return the known flags and facts of BOLT by the name to show; a ready-made server reports its own."""
    kinds = facts.flags.values() if facts.flags else {}
    shown = {f"Flags, {kind}": _code(words) for kind, words in kinds.items() if words is not None}
    if facts.bolt:
        shown["BOLT"] = f"{facts.bolt.version} {_code(facts.bolt.arguments or [])}"
    reported = {name.replace("_", " ").capitalize(): _cell(value) for name, value in (facts.told or {}).items()}
    return {**(shown or {"Flags": "unknown"}), **reported}


def compiler(facts: BuildFacts) -> str:
    """Return name and version of the compiler, or that it is unknown."""
    chosen = facts.toolchain
    return f"{chosen.name} ({chosen.version})" if chosen else "unknown: the server came ready-made"


def audit_sentence(about: About) -> str:
    """Return what the audit found of the use of the compiler's profile."""
    if about.audit:
        return f"{executed_share(about.audit)} {units_text(about.audit)}."
    return "no audit of these profiles was made" if about.profiles else "nothing to audit: no profile"


def _measured(about: About) -> list[str]:
    answer = about.answer or (f"The study `{about.study}` has not measured this build.",)
    paragraphs = [line for paragraph in answer for line in (paragraph, "")]
    return ["## What was measured", "", *paragraphs, "Server options of the variant:", "", *_block(about.options)]


def _libraries(libraries: tuple[Library, ...]) -> list[str]:
    rows = [f"| {library.name} | {_holder(library)} |" for library in libraries]
    packages = sorted({library.package for library in libraries if library.package})
    install = [f"    apt-get install {' '.join(packages)}", ""] if packages else []
    head = ["## What it needs", "", "Shared libraries of the system, and the packages that held them here:", ""]
    return [*head, *install, "| library | package |", "|---|---|", *rows, ""]


def _holder(library: Library) -> str:
    if not library.found:
        return "**not found** on the machine that packed this"
    return library.package or "unknown"


def _code(flags: list[str]) -> str:
    shown = _cell(" ".join(shlex.quote(flag) for flag in flags).replace(f"{Path.cwd()}/", ""))
    return f"`{shown}`" if shown else "none"


def _cell(value: Json) -> str:
    if isinstance(value, dict):
        value = ", ".join(f"{name.replace('_', ' ')}: {item}" for name, item in value.items())
    return str(value).replace("\n", " ").replace("|", r"\|")


def _block(content: str) -> list[str]:
    return ["```", content.rstrip("\n"), "```", ""]


def paragraphs(answer: StudyAnswer, variant: str) -> tuple[str, ...]:
    """Return Markdown paragraphs of what a study says of a variant; of the reference what it says of all others."""
    answers = answer.variants if variant == answer.reference else filter(None, [answer.about(variant)])
    return tuple(
        "\n".join([f"**{markdown(about.headline)}**", *(markdown(sentence.text) for sentence in about.sentences)])
        for about in answers
    )
