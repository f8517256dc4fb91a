"""The report of a study: its answer, its page as a list of sections, and what the summary shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from scripts.lib import version
from scripts.lib.build_records import sound
from scripts.lib.vocabulary import MIN_BLOCKS
from scripts.lib.wording import share
from scripts.report.analysis import held_out, stats
from scripts.report.analysis.metrics import METRICS
from scripts.report.page import audits_section as report_audits
from scripts.report.page import (
    build_findings,
    builds_section,
    effects_section,
    efforts_section,
    engine_section,
    imported_findings,
    machine_section,
    published_figures,
    statement_section,
    workloads_section,
)
from scripts.report.page import findings as report_findings
from scripts.report.page import runs_section as report_runs
from scripts.report.page.bounds_section import bound_blocks
from scripts.report.page.diagnoses_section import diagnosis_section
from scripts.report.page.document import (
    AnswerBox,
    Definitions,
    Facts,
    Figures,
    Fold,
    Heading,
    Items,
    Page,
    PageBlock,
    Partial,
    Prose,
    Section,
    Table,
    Verbatim,
    grid,
)
from scripts.report.page.evidence import Evidence, answer_of, caption, extent, measured_at
from scripts.report.page.figures.naming import answer_names, look_of, machine_name
from scripts.report.page.finding import Finding
from scripts.report.page.levels_section import level_section
from scripts.report.page.measuring_section import looks_text, method_text, stopping_text
from scripts.report.page.results import results
from scripts.report.page.runs_section import columns_of
from scripts.report.page.study_answer import Sentence, StudyAnswer
from scripts.report.page.value_tables import overall_table
from scripts.report.page.verdict import noise_sentence
from scripts.report.page.workloads_section import ladder_tables


@dataclass(frozen=True)
class Summary:
    """What summary.md shows; `timed` has the sentences of each workload of timed SQL."""

    answer: StudyAnswer
    method: str
    effect_sentences: Sequence[Sentence]
    beside_speed: Sequence[str]
    noise: str
    factors: Table
    by_workload: Table
    timed: Mapping[str, Sequence[str]]
    findings: Sequence[Finding]
    passed: str


class StudyReport:
    """The report of a study, made from its evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence, self.study, self.tables = evidence, evidence.study, evidence.tables
        self.records = sorted(evidence.records, key=lambda run: run.run_number or 0)
        self.imported = self.study.is_imported
        self.reference = self.study.reference
        self.split = held_out.splits(self.study, self.tables)
        self.shown = results(self.study, self.tables)
        self.ladders = ladder_tables(self.study, self.tables)
        self.by_workload = workloads_section.by_workload(self.study, self.tables)
        self.answer = answer_of(evidence, self.shown, self.split)

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings, in the order to show."""
        if self.imported:
            return imported_findings.findings(self.study, self.tables)
        return report_findings.findings(self.study, self.tables["runs"], self.tables, self.evidence.built)

    @property
    def has_ratios(self) -> bool:
        """Whether there is something to compare: an import may have the logs of one variant."""
        return bool(self.answer.variants) or not self.imported

    @cached_property
    def method(self) -> str:
        """How the runs were measured; empty for an import."""
        texts = method_text(self.tables["runs"]), stopping_text(self.study), looks_text(self.study)
        return "" if self.imported else " ".join(filter(None, texts))

    @cached_property
    def effect_sentences(self) -> list[Sentence]:
        """The sentences on the effects of a matrix."""
        table = self.tables["effects"]
        return effects_section.matrix_sentences(self.study, table[table["workload"].isna()])

    @cached_property
    def noise(self) -> str:
        """The sentence on how wide the intervals are by chance."""
        if self.imported:
            return imported_findings.VERDICT_TEXT if len(self.study.variants) > 1 else ""
        return noise_sentence(self.tables["overall"])

    @cached_property
    def beside_speed(self) -> list[str]:
        """One sentence per result other than speed."""
        study, runs = self.study, self.tables["runs"]
        sizes = engine_section.allocated_places(study, self.tables["files"])
        return [
            *(
                sentence
                for name in statement_section.timed_workloads(study)
                for sentence in statement_section.against_sentences(
                    study, name, statement_section.timed_sql_of(self.tables, "against", name)
                )
            ),
            *(sentence for _, sentences in self.ladders for sentence in sentences),
            *engine_section.allocated_sentences(study, sizes),
            *(
                machine_section.storage_sentences(study, runs)
                if machine_section.has_storages(study, runs, self.records)
                else ()
            ),
            *machine_section.traffic_sentences(study, runs, self.records),
        ]

    def figures(self, kind: str) -> list[Markup]:
        """Return the figures of a kind (forest, factors or effects)."""
        return workloads_section.figures_of_all(kind, self.study, self.tables["cells"], self.evidence.figures)

    def summary(self) -> Summary:
        """Return what summary.md shows."""
        timed = {
            name: [
                *statement_section.left_out(statement_section.executions_of(self.records, name)),
                *statement_section.statement_sentences(
                    self.study, statement_section.timed_sql_of(self.tables, "statements", name)
                ),
            ]
            for name in statement_section.timed_workloads(self.study)
        }
        return Summary(
            answer=self.answer,
            method=self.method,
            effect_sentences=self.effect_sentences,
            beside_speed=self.beside_speed,
            noise=self.noise,
            factors=effects_section.factor_table(self.study, self.tables["factors"]),
            by_workload=self.by_workload,
            timed=timed,
            findings=self.findings,
            passed=report_findings.passed_sentence(self.findings),
        )

    def page(self) -> Page:
        """Return the page."""
        title = f"Partial: {self.answer.title}" if self.answer.is_partial else self.answer.title
        colours = look_of(list(self.study.variants), self.reference).colours
        return Page(title, list(self._header()), self.sections(), colours)

    def sections(self) -> list[Section]:
        """Return the sections in the order of the page, which is that of its navigation."""
        study, tables, records, evidence = self.study, self.tables, self.records, self.evidence
        return [
            section
            for section in (
                effects_section.matrix_section(study, tables["effects"], self.figures("effects")),
                effects_section.factor_section(study, tables["factors"], self.figures("factors")),
                level_section(study, tables["levels"]) if "levels" in tables else None,
                self._where(),
                self._time(),
                self._why(),
                diagnosis_section(study, tables["cells"], evidence.diagnoses),
                machine_section.storage_section(study, tables["runs"], records),
                machine_section.client_section(study, tables["runs"], records),
                *statement_section.timed_sections(study, tables, records, evidence.figures),
                report_findings.trust_section(
                    self.findings, () if self.imported else report_runs.warning_rows(self.records)
                ),
                self._overall(),
                *workloads_section.workload_sections(study, tables, records, evidence.figures),
                builds_section.cost_section(
                    study, tables["cells"], evidence.facts, evidence.profiles, evidence.datasets
                ),
                report_runs.run_section(study, records, evidence.folder, evidence.archive),
                *(() if self.imported else self._setting()),
                self._method(),
            )
            if section
        ]

    def _setting(self) -> Iterator[Section]:
        """Yield what was measured on: builds, machine and data, commands."""
        yield self._builds()
        yield self._machine()
        yield report_runs.command_section(self.study, self.records)

    def _header(self) -> Iterator[PageBlock]:
        answer = self.answer
        yield from (Prose(warning, "partial") for warning in answer.warnings)
        yield Heading(answer.title, 1)
        yield Prose(answer.question, "question")
        yield Prose(answer.answer, "headline")
        if answer.doubts or answer.powers:
            bad = (Markup('<span class="worse">{}</span> ').format(doubt.text) for doubt in answer.doubts)
            link = Markup(' <a href="#trust">{}</a>').format(report_findings.TRUST)
            yield Prose(Markup("").join(bad) + " ".join(answer.powers) + link, "doubts")
        yield Prose(answer.machine, "quiet machine")
        if answer.running:
            yield Prose(" ".join(answer.running), "quiet")
        if drawings := workloads_section.markup(self.evidence.figures, answer_names(self.study)):
            yield Figures(drawings, "answer", caption(self.study, self.shown))
        if self.beside_speed:
            yield Items(self.beside_speed, "beside")
        if self.has_ratios:
            yield Fold("In sentences, variant by variant", list(self._sentences()), id="sentences")
        runs = self.tables["runs"]
        parts = (extent(self.study, runs), self.method.removesuffix("."), measured_at(runs), f"study {answer.study}")
        yield Prose(" · ".join(filter(None, parts)), "quiet")

    def _sentences(self) -> Iterator[PageBlock]:
        """Yield what the study answers in sentences, effects first, then variant by variant."""
        if self.effect_sentences:
            yield AnswerBox(
                [Prose(sentence.text, "worse" if sentence.bad else "") for sentence in self.effect_sentences]
            )
        for about in self.answer.variants:
            paragraphs = (Prose(sentence.text, "worse" if sentence.bad else "") for sentence in about.sentences)
            yield AnswerBox([Prose(Markup("<b>{}</b>").format(about.headline)), *paragraphs], about.variant)
        yield Prose(self.noise, "noise")

    def _where(self) -> Section:
        table = self.by_workload
        fold = Fold(f"{len(table.rows)} rows", [table], is_open=len(table.rows) <= workloads_section.MOST_UNFOLDED)
        blocks: list[PageBlock] = [Prose(self._where_text(), "quiet"), fold]
        if note := workloads_section.undrawn_note(self.study):
            blocks.append(Prose(note, "quiet"))
        drawn = workloads_section.value_figures(self.study, self.tables, self.evidence.figures)
        if drawn:
            same = "; ratios are those of the table" if self.has_ratios else ""
            blocks.append(Prose(f"{VALUES}{same}.", "quiet"))
        blocks += [block for name, figures in drawn.items() for block in (Heading(name), Figures(figures))]
        if maps := workloads_section.heat_maps(self.study, self.tables["cells"], self.evidence.figures):
            blocks += [Heading("All workloads and client counts, as maps"), *map(Figures, maps)]
        if self.has_ratios:
            lines = Prose(f"Lines are {WELCH if self.imported else '95 % intervals over blocks'}.", "quiet")
            forests = (Figures(self.figures("forest")), lines)
            blocks.append(Fold("Every ratio with its interval, as figures", forests))
        evidence = self.evidence
        blocks += published_figures.published_blocks(
            self.study, self.tables, evidence.records, evidence.diagnoses, self.ladders
        )
        return Section("where", "By workload", blocks, nav="By workload")

    def _where_text(self) -> str:
        if not self.has_ratios:
            return "Geometric means over the logs of each cell, figures of whole calls."
        over = "repetitions" if self.imported else "blocks that have both"
        return (
            f"{self.reference} → variant: geometric means over the {over}; beside them their quotient, the ratio to "
            f"{self.reference}, with its 95 % interval. A value alone is the geometric mean over its runs."
            f"{'' if self.imported else ' Bold: established.'} {BETTER}"
            f"{f' {WELCH_FIGURES}' if self.imported else ''}"
        )

    def _time(self) -> Section | None:
        name = machine_name(self.study)
        drawings = workloads_section.markup(self.evidence.figures, [name] if name else [])
        return Section("time", "The machine over time", [Figures(drawings, "time")], "Over time") if drawings else None

    def _why(self) -> Section | None:
        """Return what set the pace of each cell, and what a transaction cost the server."""
        study, tables = self.study, self.tables
        main = [
            *bound_blocks(study, tables["bounds"]),
            effects_section.held_out_fold(study, self.split),
            efforts_section.effort_fold(study, tables["runs"], self.evidence.records),
            *engine_section.change_buffer_blocks(study, self.evidence.records),
            engine_section.file_fold(study, tables["files"]),
            *engine_section.allocated_blocks(study, engine_section.allocated_places(study, tables["files"])),
            engine_section.engine_fold(study, self.evidence.records),
        ]
        blocks = [block for block in main if block]
        return Section("why", "Why", blocks, nav="Why") if blocks else None

    def _overall(self) -> Section | None:
        if not self.has_ratios:
            return None
        n = WELCH_FIGURES if self.imported else "n counts complete repetitions."
        text = f"Ratio to {self.reference}, over all cells. Above 1 is more. {BETTER} {n}"
        table = overall_table(self.study, self.tables["overall"], self.tables["cells"])
        return Section("overall", "All quantities, mean over all cells", [Prose(text), table], is_folded=True)

    def _builds(self) -> Section:
        """Return the builds, those that failed, the audits of profiles, the differential checks, the trainings."""
        built, profiles = self.evidence.built, self.evidence.profiles
        facts = sound(built.facts)
        stories = build_findings.failure_stories(built, profiles)
        blocks: list[PageBlock] = [
            *(block for name, why in stories for block in (Prose(f"Failed: {name}", "worse"), Verbatim(why))),
            *builds_section.build_blocks(self.study, facts),
            *report_audits.audit_blocks(facts, built.audits),
            *report_audits.bolt_blocks(facts),
            *build_findings.check_blocks(built.checks),
            *machine_section.training_blocks(sound(profiles)),
        ]
        return Section("builds", "Builds", blocks, nav="Builds", is_folded=True)

    def _machine(self) -> Section:
        # A page drawn from an archive is itself committed, so it cannot name its commit.
        drawn_by = version.workflow() | ({"commit": None} if self.evidence.archive else {})
        hosts = machine_section.machine_rows(self.records)
        datasets = machine_section.dataset_rows(self.evidence.datasets)
        tables = [grid(machine_section.DATASET_HEAD, datasets, 3)] if datasets else []
        facts = Facts([*hosts, *machine_section.workflow_rows(self.records, drawn_by)])
        return Section("machine", "Machine and data", [facts, *tables], nav="Machine", is_folded=True)

    def _method(self) -> Section:
        """Return the parameters of the statistics, the measured quantities, and the sources."""
        blocks: list[PageBlock] = [*self._procedure(), Heading("Statistics")]
        if self.imported:
            blocks.append(Partial("imported_statistics", {}))
        else:
            matters, code = share(self.study.matters), Markup("{} <code>{}</code>")
            values = {"min_blocks": str(MIN_BLOCKS), "alpha": str(stats.ALPHA), "matters": matters}
            meanings = [(metric.heading, code.format(metric.meaning, metric.name)) for metric in METRICS.values()]
            blocks += [Partial("statistics", values), Heading("Quantities"), Definitions(meanings)]
        columns = columns_of(self.study, self.tables["runs"])
        named = [(Markup("<code>{}</code>").format(name), meaning) for name, meaning in columns.items()]
        blocks += [
            Fold("Columns of tables/runs.csv", [Definitions(named)]),
            *machine_section.source_blocks(self.evidence.sources),
            Heading("Config"),
            Verbatim(self.study.config_text),
        ]
        return Section("method", "How it was done", blocks, nav="How it was done", is_folded=True)

    def _procedure(self) -> Iterator[PageBlock]:
        study = self.study
        if self.imported:
            text = Markup(
                "The runs were made elsewhere; their sysbench output was read from {} with the pattern "
                "<code>{}</code>. Intervals are Welch's from unpaired repetitions, figures are of whole calls."
            )
            yield Prose(text.format(study.imported.folder, study.imported.pattern))
            return
        rest = f"{study.rest_s} s of rest before each run, " if study.rest_s is not None else ""
        took = f"{study.warmup_s} s of warm-up, {study.measure_s} s of measuring" if study.measure_s else ""
        drawn = f"The blocks were drawn from seed {study.seed}; repetition is the outermost loop, then block."
        yield Prose(f"{drawn} Campaign {study.campaign}; {rest}{took}. {self.method}")
        order = [(*map(str, position), ", ".join(names)) for *position, names in study.order]
        heads = ("workload", "clients", "repetition", "order")
        yield Fold(f"Planned order: {len(order)} blocks", [grid(heads, order, 4)])


VALUES = "Figures of values: dots are runs, lines the geometric means over all runs of a variant, with t intervals"
BETTER = "More TPS is better, less of all others is better."
WELCH = "Welch's 95 % intervals from unpaired repetitions; figures are of whole calls"
WELCH_FIGURES = "Welch's intervals from unpaired repetitions, figures of whole calls."
