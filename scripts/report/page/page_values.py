"""The values of the report's page and summary, one function per section of the page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.lib import version
from scripts.lib.host.outcome import sound_records
from scripts.lib.vocabulary import AA, MIN_BLOCKS
from scripts.lib.wording import percent, plural, share
from scripts.measure.engine.run_record import Diagnosis, Run
from scripts.report.analysis import held_out, stats
from scripts.report.analysis.bounds import FULL
from scripts.report.analysis.metrics import METRICS
from scripts.report.page import audits_section as report_audits
from scripts.report.page import (
    bounds_section,
    build_findings,
    builds_section,
    effects_section,
    efforts_section,
    engine_section,
    first_screen,
    imported_answers,
    imported_findings,
    ladder_section,
    published_figures,
    running_servers_section,
    statement_section,
    verdict,
    workloads_section,
)
from scripts.report.page import diagnoses_section as report_diagnoses
from scripts.report.page import findings as report_findings
from scripts.report.page import machine_section as machine
from scripts.report.page import runs_section as report_runs
from scripts.report.page.figures.naming import answer_names, look_of, machine_name
from scripts.report.page.finding import Finding, State
from scripts.report.page.imported_columns import columns_of
from scripts.report.page.levels_section import level_means
from scripts.report.page.measuring_section import looks_text, method_text, stopping_text
from scripts.report.page.results import results, summary_rows
from scripts.report.page.study_sentences import ESTABLISHED, caption, extent, measured_at, partial_sentence
from scripts.report.page.value_tables import measured_metrics, overall_rows
from scripts.report.page.verdict import matters_of, noise_sentence, study_answer
from scripts.report.page.workloads_section import by_workload

Values = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True)
class Evidence:
    """Everything a report is made of.

    `tables` holds the tables of `render_report.TABLES` by name, `records` the records of runs,
    `figures` SVG by name. `folder` is that of the page: links to the files of runs are relative to it. `archive` names
    the archive that holds these files instead, relative to `folder`; it is empty where they lie unpacked.
    """

    study: dict[str, Any]
    tables: dict[str, pd.DataFrame]
    records: list[Run]
    facts: list[Record]
    audits: list[Record]
    checks: list[Record]
    proofs: list[Record]
    profiles: list[Record]
    sources: list[Record]
    datasets: list[Record]
    diagnoses: list[Diagnosis]
    figures: dict[str, str]
    folder: Path
    archive: str = ""

    @property
    def built(self) -> build_findings.Built:
        """The records about builds."""
        return build_findings.Built(
            self.facts,
            report_audits.counted_audits(self.audits),
            self.checks,
            [proof for record in self.proofs for proof in record["proofs"]],
            [build for record in self.proofs for build in record.get("foreign_flags", [])],
        )


OVERALL = {
    "tps": "TPS", "p95_ms": "p95", "p99_ms": "p99", "cpu_us_per_tx": "server CPU", "cpu_user_us_per_tx": "user CPU",
    "cpu_system_us_per_tx": "system CPU", "host_cpu_us_per_tx": "host CPU without client",
    "slow_stop_s": "slow stop",
    "cold_s": "cold time", "warm_s": "warm time",
}  # fmt: skip


def view(evidence: Evidence) -> Values:
    """Return the values that the templates use: text is unescaped, figures are markup."""
    sections = sections_of(evidence)
    beside_speed = verdict.sentences_beside_speed(
        evidence.study,
        timed_sql=sections["workloads"]["timed_sql"],
        ladders=sections["where"]["ladders"],
        allocated=sections["why"]["allocated"],
        storage_sentences=sections["storage"].get("storage_sentences", ()),
        network=sections["hosts"].get("network", ()),
    )
    return merged(sections | {"beside speed": {"beside_speed": beside_speed}})


def sections_of(evidence: Evidence) -> dict[str, Values]:
    """Return the values of each section, by the id that most sections have on the page."""
    study, tables, records = evidence.study, evidence.tables, evidence.records
    split = held_out.splits(study, tables)
    return {
        "head": head_section(evidence, split),
        "trust": trust_section(evidence),
        "where": where_section(evidence),
        "levels": level_section(evidence),
        "workloads": workload_sections(evidence),
        "matrix": matrix_section(evidence),
        "why": why_section(evidence, split),
        "storage": machine.storage_view(study, tables["runs"], records),
        "hosts": machine.client_view(study, tables["runs"], records),
        "diagnosis": {"diagnoses": report_diagnoses.diagnosis_views(study, tables["cells"], evidence.diagnoses)},
        "cost": cost_section(evidence),
        "runs": run_section(evidence),
        "builds": build_section(evidence),
        "machine": machine_section(evidence),
        "commands": command_section(evidence),
        "method": method_section(evidence),
    }


def merged(sections: Mapping[str, Values]) -> Values:
    """Return the values of all sections. Raises ValueError naming a value that two sections set, and the sections."""
    values: Values = {}
    owners: dict[str, str] = {}
    for section, own in sections.items():
        for name in own:
            if name in owners:
                raise ValueError(f"value {name!r} is set by the sections {owners[name]} and {section}, expected one")
            owners[name] = section
        values |= own
    return values


def head_section(evidence: Evidence, split: Mapping[str, held_out.Split]) -> Values:
    """Return what stands above all others: the answers, and which study gave them when."""
    study, found = evidence.study, evidence.tables
    return {
        **answer_values(evidence, split),
        "study": study,
        "imported": study.get("imported"),
        "reference": study["reference"],
        "aa": AA,
        "colours": look_of(list(study["variants"]), study["reference"]).colours,
        "partial": partial_sentence(study, found["runs"]),
        "scaled": effects_section.scaled_sentence(study),
        "running": running_servers_section.sentences(evidence.records),
        "machine_line": first_screen.machine_line(study, evidence.records, evidence.sources, evidence.datasets),
        "measured_at": measured_at(found["runs"]),
        "extent": (imported_answers.extent if study.get("imported") else extent)(study, found["runs"]),
        "method": " ".join(filter(None, (method_text(found["runs"]), stopping_text(study), looks_text(study)))),
    }


def answer_values(evidence: Evidence, split: Mapping[str, held_out.Split]) -> Values:
    """Return the answer in words and numbers, what to doubt, and the figure with its rows as a table."""
    study, found, built = evidence.study, evidence.tables, evidence.built
    lost = build_findings.lost_profiles(study, built) | build_findings.failure_reasons(study, built)
    shown = results(study, found)
    if study.get("imported"):
        answers, answer, bad, plain = imported_answers.first_answers(study, found)
    else:
        answers = study_answer(study, found, lost, split)
        answer, (bad, plain) = (of(study, found, answers) for of in (first_screen.answer_sentence, first_screen.doubts))
    return {
        "answer": answer,
        "answers": answers,
        "doubts": bad,
        "powers": plain,
        "answer_figures": workloads_section.markup(evidence.figures, answer_names(study)),
        "caption": caption(study, shown),
        "established": ESTABLISHED,
        "result_heads": shown.heads,
        "result_rows": summary_rows(shown),
    }


LIMIT_HEAD = ("warning", "meaning, as worded for the first run beyond the limit", "limit", "what helps", "runs")


def trust_section(evidence: Evidence) -> Values:
    """Return the findings, the sentence on noise, and the warnings with their limits."""
    study, found = evidence.study, evidence.tables
    limits = report_runs.warning_rows(_in_planned_order(evidence.records))
    if study.get("imported"):
        every = imported_findings.findings(study, found)
        noise = imported_findings.VERDICT_TEXT if len(study["variants"]) > 1 else ""
    else:
        noise = noise_sentence(found["overall"])
        every = report_findings.findings(study, found["runs"], found, evidence.built)
    failing = [finding for finding in every if finding.state is State.LOOK]
    return {
        "noise": noise,
        "findings": every,
        "failing": failing,
        "others": [finding for finding in every if finding not in failing],
        "passed": passed_sentence(every),
        "limits": limits,
        "fired": [row for row in limits if row[-1] != "0"],
        "limit_head": LIMIT_HEAD,
    }


def passed_sentence(findings: Iterable[Finding]) -> str:
    """Return the proofs in one line: how many checks passed, and which."""
    judged = [finding for finding in findings if finding.state is not State.PLAIN]
    passed = [finding.title.lower() for finding in judged if finding.state is State.GOOD]
    if not passed:
        return f"None of {plural(len(judged), 'check')} passed." if judged else "Nothing was checked."
    counted = "All" if len(passed) == len(judged) else f"{len(passed)} of"
    return f"{counted} {plural(len(judged), 'check')} passed: {', '.join(passed)}."


def where_section(evidence: Evidence) -> Values:
    """Return the ratios over all cells, cell by cell, and beside published ones."""
    study, tables = evidence.study, evidence.tables
    known = [name for name in OVERALL if name in measured_metrics(tables["cells"])]
    return {
        "overall_head": [OVERALL[name] for name in known],
        "overall": overall_rows(study, tables["overall"], known),
        "heat": workloads_section.heat_maps(study, tables["cells"], evidence.figures),
        "machine_figure": workloads_section.markup(evidence.figures, filter(None, [machine_name(study)])),
        "forests": workloads_section.figures_of_all("forest", study, tables["cells"], evidence.figures),
        "published": effects_section.published_tables(study, tables),
        **published_figures.published_values(study, tables, evidence.records, evidence.diagnoses),
        "ladders": ladder_section.ladder_tables(study, tables),
    }


def level_section(evidence: Evidence) -> Values:
    """Return the means of imported logs per level of the parts of their paths."""
    levels = evidence.tables.get("levels")
    return {"level_means": None if levels is None else level_means(evidence.study, levels)}


def workload_sections(evidence: Evidence) -> Values:
    """Return the sections of the workloads: tables and figures, statements, operations, timed SQL."""
    study, tables = evidence.study, evidence.tables
    return {
        "by_workload": by_workload(study, tables),
        "workloads": workloads_section.workload_rows(study, tables, evidence.figures),
        "undrawn_note": workloads_section.undrawn_note(study),
        "sent": workloads_section.sent_views(study, _in_planned_order(evidence.records)),
        "timed_sql": statement_section.timed_sql_views(study, tables, evidence.records, evidence.figures),
        "operations": workloads_section.operation_tables(study, tables["operations"], tables["comparisons"]),
    }


def matrix_section(evidence: Evidence) -> Values:
    """Return the effects of a matrix and their figures."""
    study, tables = evidence.study, evidence.tables
    return {
        **effects_section.matrix_view(study, tables["effects"]),
        "effect_figures": workloads_section.figures_of_all("effects", study, tables["cells"], evidence.figures),
    }


def why_section(evidence: Evidence, split: Mapping[str, held_out.Split]) -> Values:
    """Return what set the pace of each cell, what each factor brings, and what a transaction cost the server."""
    study, tables = evidence.study, evidence.tables
    factors = effects_section.factor_rows(study, tables["factors"])
    return {
        "full": percent(FULL.threshold, 0),
        "bounds": bounds_section.bound_rows(study, tables["bounds"]),
        "bound_reasons": bounds_section.reasons(tables["bounds"]),
        "efforts": efforts_section.efforts(study, tables["runs"], evidence.records),
        "interactions": bool(tables["factors"]["interaction"].astype(bool).any()),
        "factor_head": effects_section.factor_head(study),
        # A single factor repeats the answer.
        "factors": factors if len(factors) > 1 else [],
        "factor_figures": workloads_section.figures_of_all("factors", study, tables["cells"], evidence.figures),
        "held_out": effects_section.held_out_rows(split),
        "file_tables": engine_section.size_tables(study, tables["files"]),
        "allocated": engine_section.allocated_tables(study, tables["files"]),
        "change_head": engine_section.CHANGE_BUFFER_HEAD,
        "changes": engine_section.change_buffer_rows(study, evidence.records),
        "engine_reports": engine_section.engine_reports(study, evidence.records),
    }


def cost_section(evidence: Evidence) -> Values:
    """Return the time and the bytes that builds, profiles and datasets took."""
    cells = evidence.tables["cells"]
    return {
        "cost_head": builds_section.COST_HEAD,
        "costs": builds_section.cost_rows(evidence.facts, evidence.profiles, evidence.datasets),
        "cost_notes": [
            *builds_section.instrumentation_sentences(evidence.study, cells, evidence.profiles),
            *builds_section.layout_sentences(evidence.facts),
        ],
    }


def run_section(evidence: Evidence) -> Values:
    """Return every run; up to `runs.MOST_UNFOLDED` runs carry the details that their rows unfold to."""
    unfold = len(evidence.records) <= report_runs.MOST_UNFOLDED
    records = _in_planned_order(evidence.records)
    base = None if evidence.archive else evidence.folder
    figures = report_runs.log_figures(evidence.study)
    return {
        "run_head": report_runs.run_head(evidence.study),
        "runs": [report_runs.run_view(run, base, unfold, figures) for run in records],
        "archive": evidence.archive,
        "unfold": unfold,
    }


def _in_planned_order(records: Iterable[Run]) -> list[Run]:
    return sorted(records, key=lambda run: run.run_number or 0)


def build_section(evidence: Evidence) -> Values:
    """Return the builds, those that failed, the audits of profiles, the differential checks, the trainings."""
    built = evidence.built
    facts = sound_records(built.facts)
    return {
        "failed": build_findings.failure_stories(built, evidence.profiles),
        "servers": builds_section.by_server(evidence.study, facts),
        "configures": builds_section.configure_commands(facts),
        "audits": report_audits.audit_views(facts, built.audits),
        "bolts": report_audits.bolt_views(facts),
        "check_head": build_findings.CHECK_HEAD,
        "checks": build_findings.check_rows(built.checks),
        "trainings": machine.training_rows(sound_records(evidence.profiles)),
    }


def machine_section(evidence: Evidence) -> Values:
    """Return the machine and the datasets."""
    records = _in_planned_order(evidence.records)
    # A page drawn from an archive is itself committed, so it cannot name its commit.
    drawn_by = version.workflow() | ({"commit": None} if evidence.archive else {})
    return {
        "machine": [
            *(running_servers_section.machine_rows(records) or machine.machine_rows(records)),
            *machine.workflow_rows(records, drawn_by),
        ],
        "datasets": machine.dataset_rows(evidence.datasets),
    }


def command_section(evidence: Evidence) -> Values:
    """Return command lines, option files and server variables."""
    return report_runs.command_values(evidence.study, _in_planned_order(evidence.records))


def method_section(evidence: Evidence) -> Values:
    """Return the parameters of the statistics, the measured quantities, and the sources."""
    return {
        "min_blocks": MIN_BLOCKS,
        "alpha": stats.ALPHA,
        "matters": share(matters_of(evidence.study)),
        "metrics": list(METRICS.values()),
        "columns": columns_of(evidence.study, evidence.tables["runs"]),
        "sources": machine.source_rows(evidence.sources),
    }
