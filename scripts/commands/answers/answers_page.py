"""The answers in docs/results/answers.md: published figures beside measured ones, a section for each study."""

from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypedDict

import pandas as pd
import yaml

from scripts.commands.answers.measured import (
    FIRST,
    KEPT,
    MOST,
    MeasuredAnswer,
    published_ladder,
    together,
    with_most_clients,
)
from scripts.lib.parts import Part
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import AA, COLD
from scripts.lib.wording import interval, plural, ratio
from scripts.measure.sql.statement_files import read_timed, timed_sql_path
from scripts.report.analysis import published, stats
from scripts.report.analysis.metrics import EVERY
from scripts.report.page.words import verdict_word

PAGE = Path("docs/results/answers.md")
BEGIN, END = "<!-- answers -->", "<!-- /answers -->"
SMALL = "-small"
HEAD = "| measured | variant | ratio | verdict |\n|---|---|---|---|\n"


class WorkloadKeys(TypedDict, total=False):
    """What the answers need of a workload in a config; of a known workload it may be empty."""

    sql: str


@dataclass(frozen=True, slots=True)
class Config(Part):
    """What the answers need of a study's config."""

    question: str = ""
    reference: str = ""
    published: str | None = None
    workloads: dict[str, WorkloadKeys | None] = field(default_factory=dict)


def sections(root: Path, rows: list[MeasuredAnswer]) -> str:
    """Return a section for each study of a checkout that has published or measured figures, the last measured first."""
    texts = []
    for file in sorted((root / "studies").glob("*.yaml")):
        config = Config.of(yaml.safe_load(file.read_text(encoding="utf-8")), file.name)
        published_ratios = published_text(root, config)
        of_study = [row for row in rows if of_config(row.study) == file.stem]
        if published_ratios or of_study:
            date = max((row.date for row in of_study), default="")
            texts.append((date, _section(file.stem, config.question, published_ratios, of_study)))
    newest_first = sorted(texts, key=lambda dated: dated[0], reverse=True)
    return f"\n{same_text(rows)}\n\n{''.join(section for _, section in newest_first)}"


def _section(name: str, question: str, published_ratios: str, rows: list[MeasuredAnswer]) -> str:
    shown = [f"## {name}", question, f"Published: {published_ratios}." if published_ratios else "", measured_text(rows)]
    return "\n\n".join(part for part in shown if part) + "\n\n"


def same_text(rows: list[MeasuredAnswer]) -> str:
    """Return how often the reference differs from itself, measured a second time, by a campaign's first metric."""
    ends = [(float(row.low), float(row.high)) for row in rows if row.variant == AA and row.metric in FIRST and row.low]
    missed = sum(not low <= 1 <= high for low, high in ends)
    return (
        f"A/A, the reference measured a second time: the 95 % interval over all cells leaves out 1 in {missed} of "
        f"{plural(len(ends), 'campaign')}."
    )


def of_config(study: str) -> str:
    """Return the name of a study's config, which a small scale does not change."""
    return study.removesuffix(SMALL)


def published_text(root: Path, config: Config) -> str:
    """Return the published ratios of a study; empty where it names no file."""
    if not config.published:
        return ""
    figures = published.read(root / config.published)
    study = ResolvedStudy(reference=config.reference, published=figures)
    rows = published.frame(study)
    for metric in KEPT[:3]:
        ratios = published.ratios(study, rows, metric) if len(rows) else rows
        if len(ratios):
            return f"{_label(metric)} to `{published.base_of(study, rows)}`: {_published_arms(ratios)}"
    if len(rungs := published_ladder(study)):
        shown = with_most_clients(rungs).itertuples()
        texts = [f"{_pair(row.metric)} `{row.variant}` {ratio(row.ratio)} ×" for row in shown]
        return f"TPS within a server: {'; '.join(texts)}"
    if pairs := _published_pairs(root, config, rows):
        return f"cold time within a server: {'; '.join(pairs)}"
    return "in words" if figures.findings else f"{plural(len(rows), 'figure')}, no ratio between variants"


def _published_pairs(root: Path, config: Config, rows: pd.DataFrame) -> list[str]:
    """Return the published ratios of the statements that the study's SQL files compare, one text per pair."""
    texts = []
    for workload, entry in config.workloads.items():
        statements = read_timed(timed_sql_path(root, entry["sql"])) if entry and "sql" in entry else []
        seconds_of = published.statement_seconds(rows, workload, COLD)
        for name, other in dict.fromkeys((sent.name, sent.against) for sent in statements if sent.against):
            quotients = {variant: published.quotient(seconds, name, other) for variant, seconds in seconds_of.items()}
            shown = [f"`{variant}` {ratio(value)} ×" for variant, value in quotients.items() if value]
            texts += [f"{name} / {other} {', '.join(shown)}"] if shown else []
    return texts


def _published_arms(ratios: pd.DataFrame) -> str:
    arms = ratios.groupby("variant", sort=False)["ratio"].agg(mean=stats.geometric_mean, cells="count")
    cells = together(plural(count, "cell") for count in arms["cells"])
    return f"{'; '.join(f'`{row.Index}` {ratio(row.mean)} ×' for row in arms.itertuples())} ({cells})"


def _label(metric: str) -> str:
    return "TPS" if metric == KEPT[0] else EVERY[metric].label.lower()


def measured_text(rows: list[MeasuredAnswer]) -> str:
    """Return what a study measured: for each scale and campaign, the last one first, a line about it and a table."""
    groups = sorted(rows, key=_campaign, reverse=True)
    texts = [_campaign_text(list(group)) for _, group in groupby(groups, key=_campaign)]
    return "\n\n".join(text for text in texts if text) or "Not measured yet."


def _campaign(row: MeasuredAnswer) -> tuple[str, str, str]:
    return row.date, row.cpu_model, row.study


def _campaign_text(rows: list[MeasuredAnswer]) -> str:
    """Return scale, day, machine and releases of a campaign, then its ratios by the first metric that it has."""
    arm_rows = [row for row in rows if row.variant != AA]
    if not arm_rows:
        return ""
    metric = next((name for name in KEPT if any(row.metric == name for row in arm_rows)), "")
    between = [row for row in arm_rows if row.metric == metric]
    within = [row for row in arm_rows if "/" in row.metric]
    scale = "Small scale" if arm_rows[0].study.endswith(SMALL) else "Full scale"
    blocks = f"{together(row.blocks for row in between)} blocks a cell" if between else ""
    about = ", ".join(part for part in (scale, arm_rows[0].date, arm_rows[0].cpu_model, blocks) if part)
    # A/A among them: it has the reference's.
    releases = ", ".join(dict.fromkeys(row.release for row in rows))
    lines = [_line(_label(metric), row) for row in between]
    lines += [_line(f"{_kind(row.metric)} within a server: {_pair(row.metric)}", row) for row in within]
    return f"{about}: {releases}.\n\n{HEAD}{''.join(lines)}".rstrip()


def _kind(metric: str) -> str:
    return "TPS" if metric.startswith(MOST) else "cold time"


def _pair(metric: str) -> str:
    """Return what a metric of the form of PAIR or MOST compares."""
    return metric.partition("/")[2]


def _line(measured: str, row: MeasuredAnswer) -> str:
    bounds = interval(float(row.low), float(row.high)) if row.low else "no interval"
    word = verdict_word(EVERY[row.metric], row.verdict, float(row.matters)) if row.verdict else ""
    return f"| {measured} | `{row.variant}` | {ratio(float(row.ratio))} ({bounds}) | {word} |\n"


def with_table(text: str, answers: str) -> str:
    """Return a page with the answers between its marks. Raises ValueError unless each mark stands there once."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"{PAGE}: expected one line {BEGIN} and, below it, one line {END}")
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{answers}{END}{rest.partition(END)[2]}"
