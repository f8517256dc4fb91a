"""The table of answers in studies/README.md: published figures beside measured ones."""

from pathlib import Path
from typing import Any

import yaml

from scripts.commands.answers.measured import FIRST, KEPT, Measured, published_ladder, together, with_most_clients
from scripts.lib.vocabulary import AA, COLD
from scripts.lib.wording import interval, plural, ratio
from scripts.measure.sql.statement_files import read_timed, timed_sql_path
from scripts.report.analysis import published, stats
from scripts.report.analysis.metrics import EVERY
from scripts.report.page.words import verdict_word

README = Path("studies/README.md")
BEGIN, END = "<!-- answers -->", "<!-- /answers -->"
SMALL = "-small"
HEAD = "| study | published | measured |\n|---|---|---|\n"


def table(root: Path, rows: list[Measured]) -> str:
    """Return the table of answers: one row per study of the checkout that has published or measured figures."""
    lines = []
    for file in sorted((root / "studies").glob("*.yaml")):
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
        said, own = published_text(root, config), [row for row in rows if of_config(row.study) == file.stem]
        if said or own:
            lines.append(f"| `{file.stem}` | {said} | {measured_text(own)} |\n")
    return f"{HEAD}{''.join(lines)}\n{same_text(rows)}\n"


def same_text(rows: list[Measured]) -> str:
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


def published_text(root: Path, config: dict[str, Any]) -> str:
    """Return the published ratios of a study; empty where it names no file."""
    if not config.get("published"):
        return ""
    known = published.read(root / config["published"])
    study = {"reference": config["reference"], "published": known}
    rows = published.frame(study)
    for metric in KEPT[:3]:
        found = published.ratios(study, rows, metric) if len(rows) else rows
        if len(found):
            return f"{_label(metric)} to `{published.base_of(study, rows)}`: {_published_arms(found)}"
    if len(rungs := published_ladder(study)):
        shown = with_most_clients(rungs).itertuples()
        texts = [f"{_pair(row.metric)} `{row.variant}` {ratio(row.ratio)} ×" for row in shown]
        return f"TPS within a server: {'; '.join(texts)}"
    if pairs := _published_pairs(root, config, rows):
        return f"cold time within a server: {'; '.join(pairs)}"
    return "in words" if known.get("findings") else f"{plural(len(rows), 'figure')}, no ratio between variants"


def _published_pairs(root: Path, config: dict[str, Any], rows: Any) -> list[str]:
    """Return the published ratios of the statements that the study's SQL files compare, one text per pair."""
    texts = []
    for workload, given in config["workloads"].items():
        every = read_timed(timed_sql_path(root, given["sql"])) if "sql" in (given or {}) else []
        taken = published.statement_seconds(rows, workload, COLD)
        for name, other in dict.fromkeys((one.name, one.against) for one in every if one.against):
            found = {variant: published.quotient(seconds, name, other) for variant, seconds in taken.items()}
            known = [f"`{variant}` {ratio(value)} ×" for variant, value in found.items() if value]
            texts += [f"{name} / {other} {', '.join(known)}"] if known else []
    return texts


def _published_arms(found: Any) -> str:
    arms = found.groupby("variant", sort=False)["ratio"].agg(mean=stats.geometric_mean, cells="count")
    cells = together(plural(count, "cell") for count in arms["cells"])
    return f"{'; '.join(f'`{row.Index}` {ratio(row.mean)} ×' for row in arms.itertuples())} ({cells})"


def _label(metric: str) -> str:
    return "TPS" if metric == KEPT[0] else EVERY[metric].label.lower()


def measured_text(rows: list[Measured]) -> str:
    """Return what a study measured, at each scale, of the first metric that it has."""
    return "<br>".join(_scale_text(name, rows) for name in dict.fromkeys(row.study for row in rows)) or "not yet"


def _scale_text(study: str, rows: list[Measured]) -> str:
    every = [row for row in rows if row.study == study]
    own = [row for row in every if row.variant != AA]
    metric = next(name for name in KEPT if any(row.metric == name for row in own))
    shown = [row for row in own if row.metric == metric]
    scale = "small scale" if study.endswith(SMALL) else "full scale"
    if pairs := _pairs_text(own):
        kind = "TPS" if metric == KEPT[0] else "cold time"
        scale += f", {kind} within a server: {pairs}; between servers"
    campaigns = dict.fromkeys(row.campaign for row in shown)
    return f"{scale}, {_label(metric)}: {'; '.join(_campaign_text(each, shown, every) for each in campaigns)}"


def _campaign_text(campaign: tuple[str, str], shown: list[Measured], every: list[Measured]) -> str:
    own = [row for row in shown if row.campaign == campaign]
    blocks = f"{together(row.blocks for row in own)} blocks a cell"
    # A/A among them: it has the reference's.
    releases = ", ".join(dict.fromkeys(row.release for row in every if row.campaign == campaign))
    return f"{'; '.join(map(_arm_text, own))} ({blocks}; {releases}; {', '.join(campaign)})"


def _pairs_text(rows: list[Measured]) -> str:
    pairs: dict[str, list[str]] = {}
    for row in rows:
        if "/" in row.metric:
            pairs.setdefault(_pair(row.metric), []).append(_ratio_text(row))
    return "; ".join(f"{pair} {', '.join(arms)}" for pair, arms in pairs.items())


def _pair(metric: str) -> str:
    """Return what a metric of the form of PAIR or MOST compares."""
    return metric.partition("/")[2]


def _ratio_text(row: Measured) -> str:
    known = interval(float(row.low), float(row.high)) if row.low else "no interval"
    return f"`{row.variant}` {ratio(float(row.ratio))} × ({known})"


def _arm_text(row: Measured) -> str:
    word = f", {verdict_word(EVERY[row.metric], row.verdict, float(row.matters))}" if row.verdict else ""
    return f"{_ratio_text(row)}{word}"


def with_table(text: str, answers: str) -> str:
    """Return a README with the table between its marks. Raises ValueError unless each mark stands there once."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"{README}: expected one line {BEGIN} and, below it, one line {END}")
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{answers}{END}{rest.partition(END)[2]}"
