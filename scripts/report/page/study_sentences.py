"""Sentences about a study as a whole: its size, when it was measured, what its first figure shows, what is missing."""

from collections.abc import Sized

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import duration, plural
from scripts.report.analysis.metrics import METRICS
from scripts.report.page.results import Results
from scripts.report.page.study_answer import ESTABLISHED


def caption(study: ResolvedStudy, shown: Results) -> str:
    """Return what the marks of the first screen's figure are."""
    if study.is_imported:
        return "Thick: mean over all cells; small: each cell; Welch's 95 % intervals from unpaired repetitions."
    cells = "each workload" if len(study.clients) == 1 else "each workload and client count"
    text = f"Thick: mean with its 95 % interval; small: {cells}. Bold: established, {ESTABLISHED}."
    return f"{text} CPU is the server's." if METRICS["cpu_us_per_tx"] in shown.metrics else text


def measured_at(runs: pd.DataFrame) -> str:
    """Return when the first run began and how long all took; empty where no date is known."""
    began, ended = (pd.to_datetime(value, unit="s") for value in (runs["started_at"].min(), runs["ended_at"].max()))
    return "" if pd.isna(began) else f"{began:%Y-%m-%d %H:%M} UTC, {duration((ended - began).total_seconds())}"


def extent(study: ResolvedStudy, runs: pd.DataFrame) -> str:
    """Return how many runs, variants, workloads, client counts and repetitions a study has."""
    counted: dict[str, Sized] = {"variant": study.variants, "workload": study.workloads, "client count": study.clients}
    parts = [plural(len(found), noun) for noun, found in counted.items() if noun != "client count" or len(found) > 1]
    return f"{plural(len(runs), 'run')}: {', '.join(parts)}, {plural(study.repetitions, 'repetition')}"


def partial_sentence(study: ResolvedStudy, runs: pd.DataFrame) -> str:
    """Return the sentence above a report made before the end of its study; nothing for a whole study."""
    if not study.partial:
        return ""
    there = int((runs["outcome"] != "missing").sum())
    return (
        f"Partial: {there} of {plural(len(runs), 'planned run')}. Runs not yet made are shown as holes, and no verdict "
        "is final: stopping a study as soon as its figures look right finds effects that are chance."
    )
