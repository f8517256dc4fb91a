"""What a dry run would do, in the words of the table of docs/reruns.md."""

import re
from collections import Counter, defaultdict
from typing import Any, Protocol

BEGIN, END = "<!-- what reruns -->", "<!-- end -->"
Labels = dict[str, set[tuple[str, ...]]]
# Record of a block -> (variant, workload, clients, repetition) of the runs in it.
Runs = dict[str, set[tuple[str, ...]]]


class Jobs(Protocol):
    """Planned jobs, counted by rule, and the first output of every job of a rule."""

    @property
    def jobs(self) -> Counter[str]: ...

    def made(self, rule: str) -> list[str]: ...


# What tells the jobs of a rule apart in the path of their first output, and what that table calls what they make.
MADE = {
    "fetch_source": ("sources", "results/sources/(.+)-[0-9a-f]{12}/"),
    "build_server": ("builds", "results/builds/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "bolt_server": ("builds", "results/builds/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "install_prebuilt": ("builds", "results/builds/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "load_dataset": ("datasets", "results/datasets/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "train_server": ("profiles", "results/profiles/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "audit_build": ("audits", "results/builds/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "answer_statements": ("answers", "results/checks/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "compare_answers": ("comparisons", "results/checks/([^/]+)/(.+)-[0-9a-f]{12}/"),
    "diagnose_run": ("diagnoses", r"/diagnoses/(.+)-[0-9a-f]{12}/(.+)-[0-9a-f]{12}/(\d+)/(\w+)\.json"),
}
KINDS = ["sources", "datasets", "instrumented builds", "profiles", "builds", "audits", "answers", "comparisons"]
KINDS += ["checks", "runs", "diagnoses"]
STAGE = re.compile("(instrumented)_.*")
REPORT = {
    "describe_study": "description",
    "collect_runs": "facts of runs",
    "compare_variants": "tables",
    "export_tables": "exports",
    "plot_figures": "figures",
    "render_report": "page",
}
# The report's copy, and notes that make nothing else run.
BESIDE = {"publish_report", "choose_loader", "finish_preparations"}


def table(text: str) -> dict[str, str]:
    """Return edit -> what runs again of the table between the two comments; a row may hold edits apart by `; `."""
    if BEGIN not in text:
        return {}
    lines = text.split(BEGIN)[1].split(END)[0].strip().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {edit: words for edits, words in rows[2:] for edit in edits.split("; ")}


def labels(answer: Jobs, runs: Runs) -> Labels:
    """Return what the jobs of an answer make, by kind; the digests in its names are left out.

    `runs` holds what is measured in each block, the reference left out where there is anything else.
    """
    found: Labels = defaultdict(set)
    for rule, (kind, pattern) in MADE.items():
        for path in answer.made(rule):
            label = re.search(pattern, path).groups()
            stage = STAGE.match(label[-1])
            found["instrumented builds" if stage else kind].add((*label[:-1], stage[1]) if stage else label)
    assert sum(map(len, found.values())) == sum(count for rule, count in answer.jobs.items() if rule in MADE)
    found["runs"] = {run for block in answer.made("measure_block") for run in runs[block]}
    if found["answers"] and found["answers"] == found["comparisons"]:
        found["checks"] = found.pop("answers")
        del found["comparisons"]
    return found


def all_runs(config: dict[str, Any]) -> set[tuple[str, ...]]:
    """Return (variant, workload, clients, repetition) of every run of a study but those of its reference."""
    return {
        (variant, workload, str(clients), str(repetition))
        for variant in set(config["variants"]) - {config["reference"]}
        for workload in config["workloads"]
        for clients in config["clients"]
        for repetition in range(1, config["repetitions"] + 1)
    }


class Words:
    """The words for jobs planned after an edit of the finished study, whose own jobs were `finished`.

    `config` is the edited one, `of` are the variants, server or workload that the edit is about: their jobs are "its".
    """

    def __init__(self, finished: Labels, config: dict[str, Any], of: tuple[str, ...], runs: Runs) -> None:
        self.finished, self.config, self.of, self.runs = finished, config, of, runs
        every = {**config["variants"], "aa": config["variants"][config["reference"]]}
        servers = {arm["server"] for arm in every.values()}
        self.variants = {name: arm for name, arm in every.items() if name in of or arm["server"] in of}
        # The build that loads a server's datasets is the server's, whether a variant uses it or not.
        self.names = {"instrumented", "sbtest", *(["baseline"] if {*of} & servers else [])}
        for arm in self.variants.values():
            training = config.get("builds", {}).get(arm["build"], {}).get("profile", "mixed")
            self.names |= {arm["server"], arm["build"], training}

    def owns(self, kind: str, label: tuple[str, ...]) -> bool:
        """Tell whether a thing is of what the edit is about."""
        if kind == "runs":
            return label[0] in self.variants or label[1] in self.of
        return bool(self.variants) and set(label) <= self.names

    def scope(self, kind: str, planned: set[tuple[str, ...]]) -> str:
        """Return which of their kind these things are; names of things where no other word fits, which no table has."""
        before = self.finished[kind] or self.finished["checks"]
        every = all_runs(self.config) if kind == "runs" else before
        scopes = {
            "its": {label for label in planned | every if self.owns(kind, label)},
            "all": every,
            "the trained": self.finished["audits"],
            "the new": every - before,
        }
        return next((word for word, those in scopes.items() if planned == those), f"{sorted(planned)} of the")

    def of_answer(self, answer: Jobs) -> str:
        """Return all planned jobs in words."""
        made = labels(answer, self.runs)
        scopes: dict[str, list[str]] = defaultdict(list)
        for kind in filter(made.get, KINDS):
            scopes[self.scope(kind, made[kind])].append(kind)
        parts = [f"{scope} {', '.join(kinds)}" for scope, kinds in scopes.items()]
        others = answer.jobs.keys() - MADE.keys() - {"measure_block"} - BESIDE
        shown = [word for rule, word in REPORT.items() if rule in others]
        parts += ["proofs" if rule == "prove_builds" else rule for rule in sorted(others - REPORT.keys())]
        parts += ["report"] if len(shown) == len(REPORT) else [", ".join(shown)] if shown else []
        return "; ".join(parts) or "nothing"
