"""Effects of factors, computed block by block: contrasts between builds (factors.csv), a matrix (effects.csv)."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd

from scripts.lib.json_record import canonical
from scripts.lib.resolved_study import ResolvedBuild, ResolvedStudy
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import listing
from scripts.report.analysis import intervals
from scripts.report.analysis.columns import Row
from scripts.report.analysis.comparison import CellMean, Terms, mean_over_cells
from scripts.report.analysis.pairing import Arms
from scripts.report.analysis.table_columns import EFFECTS, FACTORS
from scripts.report.analysis.verdicts import with_verdicts

CONTRAST_WORDS = ("profile", "lto", "bolt", "flags", "debug_information", "toolchain")
PAIR = ("profile", "lto")
NAMES = {"lto": "LTO", "profile": "PGO", "bolt": "BOLT", "debug_information": "debug information"}
ALONE, TOGETHER, ON_TOP = range(3)
JUDGED = ["p_holm", "p_beyond_holm", "verdict"]


@dataclass(frozen=True)
class Contrast:
    """A signed sum of logs of variants' values: `terms` holds (variant, sign), `rank` is the order to show it in.

    `sides` are the two variants or levels whose quotient it is, None for an interaction.
    """

    factor: str
    formula: str
    server: str
    terms: tuple[tuple[str, float], ...]
    rank: tuple[int, int]
    sides: tuple[str, str] | None = None

    @property
    def is_interaction(self) -> bool:
        """Whether it is an interaction of factors; else it is the quotient of two variants."""
        return len(self.terms) > 2


@dataclass(frozen=True)
class BuiltVariant:
    """One variant with the factors of its build; a factor it does not have is None."""

    variant: str
    server: str
    factors: dict[str, str | None]

    def without(self, *names: str) -> dict[str, str | None]:
        """Return the factors that are not named."""
        return {name: value for name, value in self.factors.items() if name not in names}

    def has(self, *names: str) -> tuple[bool, ...]:
        """Return for each named factor whether the build has it."""
        return tuple(self.factors[name] is not None for name in names)


def build_groups(study: ResolvedStudy) -> list[list[BuiltVariant]]:
    """Return the variants with one server, the same options and storage, and a build whose factors are known.

    A build made elsewhere or with the published recipe differs in more than its factors and is left out, as are A/A
    and relinks.
    """
    groups: dict[str, list[BuiltVariant]] = {}
    for name, arm in study.variants.items():
        build = study.builds.get(arm.build, ResolvedBuild())
        if name in CONTROLS or not build.toolchain or build.published:
            continue
        factors = {factor: getattr(build, factor) or None for factor in CONTRAST_WORDS}
        factors["flags"] = " ".join(build.flags) or None
        factors["bolt"] = ", ".join(filter(None, (build.bolt, build.bolt_toolchain))) or None
        setting = canonical([arm.server, arm.options, arm.storage])
        groups.setdefault(setting, []).append(BuiltVariant(name, arm.server, factors))
    return list(groups.values())


def factor_contrasts(study: ResolvedStudy) -> list[Contrast]:
    """Return the contrasts of a study: each factor alone, PGO with LTO, each on top of others, in this order."""
    contrasts = [contrast for group in build_groups(study) for contrast in (*_steps(group), *_together(group))]
    return sorted(contrasts, key=lambda contrast: contrast.rank)


def _steps(group: list[BuiltVariant]) -> Iterator[Contrast]:
    """Yield the quotient of every two arms that differ in one factor: with it over without, else later over earlier."""
    for first, second in combinations(group, 2):
        differing = [name for name in CONTRAST_WORDS if first.factors[name] != second.factors[name]]
        if len(differing) == 1:
            factor = differing[0]
            lower, upper = (second, first) if second.factors[factor] is None else (first, second)
            base = _factor_names(lower, group, without=factor)
            rank = (ON_TOP if base else ALONE, CONTRAST_WORDS.index(factor))
            yield _quotient(_step(factor, lower, upper, base, group), upper, lower, rank)


def _step(factor: str, lower: BuiltVariant, upper: BuiltVariant, base: str, group: list[BuiltVariant]) -> str:
    """Return the name of a step: PGO alone, PGO on top of LTO, clang-16 instead of gcc-12, with PGO."""
    name = _factor_name(factor, upper, group)
    if lower.factors[factor] is None:
        return f"{name} on top of {base}" if base else f"{name} alone"
    changed = f"{name} instead of {_factor_name(factor, lower, group)}"
    return f"{changed}, with {base}" if base else changed


def _together(group: list[BuiltVariant]) -> Iterator[Contrast]:
    """Yield PGO and LTO together over neither, and their interaction: that over the product of each alone."""
    for lower, both in permutations(group, 2):
        if both.without(*PAIR) != lower.without(*PAIR) or lower.has(*PAIR) != (False, False):
            continue
        if both.has(*PAIR) != (True, True):
            continue
        base = _factor_names(lower, group)
        names = f"{_factor_name('profile', both, group)} and LTO"
        yield _quotient(f"{names} on top of {base}" if base else names, both, lower, (TOGETHER, 0))
        with_one = [{**lower.factors, name: both.factors[name]} for name in PAIR]
        alone = [[arm for arm in group if arm.factors == factors] for factors in with_one]
        if all(alone):
            names = f"{names}, with {base}" if base else names
            yield _interaction(names, both, lower, [arms[0] for arms in alone])


def _quotient(label: str, upper: BuiltVariant, lower: BuiltVariant, rank: tuple[int, int]) -> Contrast:
    terms = ((upper.variant, 1), (lower.variant, -1))
    sides = (upper.variant, lower.variant)
    return Contrast(label, " / ".join(sides), lower.server, terms, rank, sides)


def _interaction(names: str, both: BuiltVariant, neither: BuiltVariant, alone: list[BuiltVariant]) -> Contrast:
    terms = ((both.variant, 1), (neither.variant, 1), *((arm.variant, -1) for arm in alone))
    formula = f"{both.variant} · {neither.variant} / ({alone[0].variant} · {alone[1].variant})"
    return Contrast(f"interaction of {names}", formula, both.server, terms, (TOGETHER, 1))


def _factor_name(factor: str, arm: BuiltVariant, group: list[BuiltVariant]) -> str:
    """Return a factor's name, with its value where the group has several: PGO (read)."""
    value = arm.factors[factor]
    if factor not in NAMES:
        return str(value)
    several = len({other.factors[factor] for other in group} - {None}) > 1
    return f"{NAMES[factor]} ({value})" if several else NAMES[factor]


def _factor_names(arm: BuiltVariant, group: list[BuiltVariant], without: str = "") -> str:
    """Return the factors of an arm: `PGO + LTO`; the toolchain only where it differs from the group's first."""
    usual = {"toolchain": group[0].factors["toolchain"]}
    names = [name for name in CONTRAST_WORDS if name != without and arm.factors[name] not in (None, usual.get(name))]
    return " + ".join(_factor_name(name, arm, group) for name in names)


def factor_table(
    study: ResolvedStudy, arms: Arms, factors: dict[str, float], terms: Terms, overall: pd.DataFrame
) -> pd.DataFrame:
    """Return factors.csv: one row per contrast and metric, computed like `comparison.overall_table`.

    `factors` widen the intervals of each metric. An interaction is not tested and gets no verdict. A variant beside the
    reference has its verdict of `overall`, so that a page says one thing of it; Holm's adjustment is over the others.
    """
    rows, tested, variants = list[Row](), list[bool](), list[str | None]()
    judged = overall.set_index(["variant", "metric"])
    for contrast in factor_contrasts(study):
        named: Row = {"factor": contrast.factor, "formula": contrast.formula, "server": contrast.server}
        named["interaction"] = contrast.is_interaction
        for metric in arms.metrics:
            mean = _mean(block_contrast(arms, contrast, metric), arms, metric, factors[metric])
            rows.append({**named, "metric": metric, **mean.columns(terms.matters)})
            variants.append(_beside_reference(contrast, study))
            tested.append(not contrast.is_interaction and mean.n_cells > 0 and not variants[-1])
    table = with_verdicts(pd.DataFrame(rows), tested, "n_blocks_least", terms.primary).reindex(columns=FACTORS.names)
    for row, variant in enumerate(variants):
        if (key := (variant, table["metric"][row])) in judged.index:
            table.loc[row, JUDGED] = judged.loc[key, JUDGED]
    return table


def _beside_reference(contrast: Contrast, study: ResolvedStudy) -> str | None:
    """Return the variant that a contrast divides by the reference, None of every other contrast."""
    (variant, sign), *rest = contrast.terms
    return variant if sign == 1 and rest == [(study.reference, -1)] else None


def block_contrast(arms: Arms, contrast: Contrast, metric: str) -> intervals.SignedSum:
    """Return the signed sum of the logs of a contrast's variants, one value per cell and repetition."""
    _, y, slices = arms.of(metric)
    signs = {arms.names.index(variant): sign for variant, sign in contrast.terms if variant in arms.names}
    if len(signs) < len(contrast.terms):
        y, signs = np.full_like(y, np.nan), {0: 1}
    return intervals.combination(y, slices, signs, arms.repetitions)


def _mean(logs: intervals.SignedSum, arms: Arms, metric: str, factor: float, cell: int | None = None) -> CellMean:
    """Return the mean over all cells, or the figures of one of them; `factor` widens the interval."""
    _, y, _ = arms.of(metric)
    if cell is not None:
        y, logs = y[[cell]], logs.of_cells([cell])
    (interval,) = intervals.overall_intervals(y, [logs])
    return mean_over_cells(logs.values, interval.widened(factor), arms)


def matrix_table(study: ResolvedStudy, arms: Arms, factors: dict[str, float], terms: Terms) -> pd.DataFrame:
    """Return effects.csv: one row per effect and metric over all cells; with several cells, also one per cell.

    An effect is computed like `comparison.overall_table`, with its sum of logs in place of a variant's difference.
    There are verdicts over all cells only, and Holm's adjustment runs over the effects of a metric.
    """
    rows = [
        {"factor": effect.factor, "formula": effect.formula, "n_factors": effect.rank[0], "metric": metric, **row}
        for effect in matrix_contrasts(study)
        for metric in arms.metrics
        for row in _matrix_rows(effect, arms, metric, factors[metric], terms.matters)
    ]
    tested = [row["workload"] is None for row in rows]
    table = with_verdicts(pd.DataFrame(rows), tested, "n_blocks_least", terms.primary).reindex(columns=EFFECTS.names)
    return table.assign(clients=table["clients"].astype("Int64"))


def matrix_contrasts(study: ResolvedStudy) -> list[Contrast]:
    """Return the main effects of a study's matrix, then the interactions of two factors, of three, and so on.

    The base level of a factor is the reference's if the reference is in the matrix, else the factor's first.
    The effect of levels of some factors is the product of (this level - the base level) of these factors with the mean
    over the levels of all others, in logs: the classical effects of a full factorial (Box, Hunter & Hunter 1978).
    """
    section = study.matrix
    if not section:
        return []
    factors, arms = section.factors, section.arms
    base = arms.get(study.reference) or {name: levels[0] for name, levels in factors.items()}
    return [
        _effect(dict(zip(chosen, levels, strict=True)), base, factors, arms)
        for size in range(1, len(factors) + 1)
        for chosen in combinations(factors, size)
        for levels in product(*([level for level in factors[name] if level != base[name]] for name in chosen))
    ]


def _effect(
    chosen: dict[str, str], base: dict[str, str], factors: dict[str, list[str]], arms: dict[str, dict[str, str]]
) -> Contrast:
    def weight(levels: dict[str, str]) -> float:
        signs = ({chosen[name]: 1, base[name]: -1}.get(levels[name], 0) for name in chosen)
        return math.prod(signs) / math.prod(len(factors[name]) for name in factors if name not in chosen)

    weights = {variant: weight(levels) for variant, levels in arms.items()}
    terms = tuple((variant, value) for variant, value in weights.items() if value)
    sides = next((level, base[name]) for name, level in chosen.items()) if len(chosen) == 1 else None
    return Contrast(" × ".join(chosen), _formula(chosen, base), "", terms, (len(chosen), 0), sides)


def _formula(chosen: dict[str, str], base: dict[str, str]) -> str:
    """Return the levels that are compared: b / a, or b.d · a.c / (a.d · b.c)."""
    if len(chosen) == 1:
        return " / ".join((*chosen.values(), *(base[name] for name in chosen)))
    sides: dict[int, list[str]] = {1: [], 0: []}
    for picks in product((True, False), repeat=len(chosen)):
        levels = (chosen[factor] if pick else base[factor] for factor, pick in zip(chosen, picks, strict=True))
        name = ".".join(levels)
        sides[1 - (len(chosen) - sum(picks)) % 2].append(name)
    return f"{' · '.join(sides[1])} / ({' · '.join(sides[0])})"


def sides_by_formula(contrasts: Iterable[Contrast]) -> dict[str, tuple[str, str]]:
    """Return formula -> the two variants or levels whose quotient it is, without interactions."""
    return {contrast.formula: contrast.sides for contrast in contrasts if contrast.sides}


def effect_label(formula: str, n_factors: int) -> str:
    """Return the name of an effect of the matrix: `dw_off / dw_on`, or `interaction of ahi_off and dw_off`."""
    if n_factors == 1:
        return formula
    return f"interaction of {listing(formula.partition(' · ')[0].split('.'))}"


def _matrix_rows(effect: Contrast, arms: Arms, metric: str, factor: float, matters: float) -> Iterator[Row]:
    logs = block_contrast(arms, effect, metric)
    yield {"workload": None, "clients": None, **_mean(logs, arms, metric, factor).columns(matters)}
    cells, _, _ = arms.of(metric)
    for cell, (workload, clients) in enumerate(cells if len(cells) > 1 else ()):
        yield {"workload": workload, "clients": clients, **_mean(logs, arms, metric, factor, cell).columns(matters)}
