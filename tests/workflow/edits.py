"""Edits of a finished study of stubs, each under the name that the table of docs/reruns.md has for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.workflow import code_edits, moves
from tests.workflow.edited_study import (
    ARCHIVE,
    CONTENT,
    MINE,
    POSTGRESQL,
    SCRIPT,
    TREE,
    VARIANTS,
    WORKLOADS,
    configure,
    sources,
)
from tests.workflow.running import Answer
from tests.workflow.stubbed import Stubbed

TRAINING = {"workloads": ["simple_select", "index_update", "oltp"], "clients": 4, "seconds": 5}
NOWHERE = {"file": "/nowhere/archive.tar", "sha256": "ab" * 32}


@dataclass(frozen=True)
class Edit:
    """An edit: `do` makes it, and has Snakemake plan it where the study and its files do not say all.

    `of` are the variants, the server or the workload that it is about.
    """

    do: Callable[[Stubbed], Answer | None]
    of: tuple[str, ...] = ()


def config(*of: str, **changes: Any) -> Edit:
    """Return an edit of keys of the config."""
    return Edit(lambda study: configure(study, **changes), of)


def variant(name: str, **keys: Any) -> Edit:
    """Return an edit that adds a variant, or changes keys of one."""
    before = VARIANTS.get(name, {"server": POSTGRESQL})
    return config(name, variants={**VARIANTS, name: {**before, **keys}})


def build(name: str, of: str, **keys: Any) -> Edit:
    """Return an edit of a build."""
    return config(of, builds={name: keys})


def appended(name: str, line: str = code_edits.COMMENT, of: tuple[str, ...] = ()) -> Edit:
    """Return an edit that adds a line to a file of the checkout."""

    def do(study: Stubbed) -> None:
        file = study.root / name
        file.write_text(file.read_text() + line)

    return Edit(do, of)


def in_sources(name: str, text: str, of: str) -> Edit:
    """Return an edit of the user's own sources."""

    def do(study: Stubbed) -> None:
        (sources(study) / name).write_text(text)

    return Edit(do, (of,))


def places_moved(study: Stubbed) -> None:
    place = sources(study) / "moved.tar"
    place.write_text(CONTENT[ARCHIVE])
    configure(study, archive={"file": str(place)}, storage={"disk": "/tmp"})


EDITS = {
    "a comment in `config.yaml`": appended("config.yaml"),
    "`title`, `question`, `matters`, `expect`, `seed`": config(
        title="A", question="B?", matters=0.03, expect={"pgo": {"tps": "> 1.05"}}, seed=2
    ),
    "fewer workloads and `repetitions`": config(workloads={"oltp": None}, repetitions=3),
    "an archive or a storage moved": Edit(places_moved),
    "back to an earlier config": Edit(moves.made_and_taken_back),
    "a variant removed": config(variants={name: VARIANTS[name] for name in ("baseline", "pgo")}),
    "a comment in a rule, the schema, the catalog": Edit(code_edits.comments),
    "white space in a rule": Edit(code_edits.white_space),
    "`--cores`": Edit(moves.other_cores),
    "sources touched": Edit(moves.sources_touched),
    "the checkout moved": Edit(moves.checkout_moved),
    "`results` moved and linked": Edit(moves.results_linked),
    "`results` moved and `-d`": Edit(moves.results_elsewhere),
    "`results` copied into a fresh clone": Edit(moves.results_copied),
    "code of the page": appended("scripts/report/page/study_report.py"),
    "code of the figures": appended("scripts/report/page/figures/drawing.py"),
    "code of the tables": appended("scripts/jobs/compare_variants.py"),
    "code that collects runs": appended("scripts/jobs/collect_runs.py"),
    "code of the plan": appended("scripts/study/plan/recipes.py"),
    "code of the audit": appended("scripts/jobs/audit_build.py"),
    "the compiler's wrapper": appended("scripts/build/compilation/compiler/cc"),
    "code of measuring": appended("scripts/measure/engine/block.py"),
    "comments and variables' names in all modules": Edit(code_edits.all_modules),
    "SQL of the check": appended("workloads/check/common/10-tables.sql", "-- another comment\n"),
    "a workload added": config(workloads={**WORKLOADS, "simple_select": None}),
    "`repetitions` 5 to 7": config(repetitions=7),
    "a number of `clients` added": config(clients=[8, 16]),
    "our Lua of a workload": appended("workloads/mine.lua", "-- another comment\n", of=(MINE,)),
    "options of a workload": config(
        MINE, workloads={**WORKLOADS, MINE: {**SCRIPT, "options": {"rand-type": "pareto"}}}
    ),
    "options of a variant": variant("pgo", options={"work_mem": "8MB"}),
    "another `reference`": config("aa", reference="pgo"),
    "`options` of all variants": config("pgo", options={"work_mem": "8MB"}),
    "`measure_s`": config(measure_s=4),
    "`warmup_s`": config(warmup_s=2),
    "`rest_s`": config(rest_s=1),
    "`restart`": config(restart="never"),
    "`placement`": config(placement={"server": "0", "client": "1"}),
    "`campaign`": config(campaign=2),
    "an option that shapes data directories": variant("patched", options={"data_checksums": False}),
    "a variant added": variant("third", build="o3"),
    "a flag of a build": build("o3", "patched", flags="-O3 -g"),
    "LTO for a build with a profile": build("pgo", "pgo", profile="mixed", lto=True),
    "another training for a build": build("pgo", "pgo", profile="read"),
    "seconds of a training": config("pgo", trainings={"mixed": TRAINING}),
    "options of a workload that is trained with": config(
        "pgo", "oltp", workloads={**WORKLOADS, "oltp": {"options": {"range_size": 20}}}
    ),
    "a flag of a build with a profile": build("pgo", "pgo", profile="mixed", flags="-O3"),
    "rows of a dataset": config(datasets={"sbtest": {"tables": 4, "rows": 5}}),
    "an edit in a working tree": in_sources(f"{TREE}/configure", "PACKAGE_VERSION='15.2'\n", TREE),
    "another archive in the place of the old": in_sources(ARCHIVE, "another archive\n", POSTGRESQL),
    "another `sha256`": config(POSTGRESQL, archive=NOWHERE),
    "the compiler updated": Edit(moves.compiler_updated),
}

# Edits of each kind that Snakemake plans too, beside those that only Snakemake can plan.
BY_SNAKEMAKE = [
    "a comment in `config.yaml`",
    "a variant removed",
    "code of the audit",
    "code of the page",
    "comments and variables' names in all modules",
    "SQL of the check",
    "our Lua of a workload",
    "options of a variant",
    "a flag of a build with a profile",
    "an edit in a working tree",
    "another archive in the place of the old",
]
# Edits that change nothing, made all at once for one plan of Snakemake's.
HARMLESS = [
    "a comment in a rule, the schema, the catalog",
    "white space in a rule",
    "sources touched",
]
