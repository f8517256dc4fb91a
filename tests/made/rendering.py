"""Make a whole report of a made-up study, and read it as a browser would."""

import json
import re
from html.parser import HTMLParser

from scripts.jobs import collect_runs, compare_variants, export_tables, plot_figures, render_report
from scripts.lib.build_records import Audit, BuildFacts, Check, Proofs
from scripts.lib.json_record import read, read_part, write_text
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.report.analysis import dictionary, held_out, run_tables
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import build_findings, findings, verdict
from scripts.report.page.figures import naming
from tests.made import synthetic

KINDS = {"facts": BuildFacts, "audits": Audit, "checks": Check}
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>\n'


class Elements(HTMLParser):
    """Every element of a page with its attributes, and its text outside style and script."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found, self.text, self.within = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.within = tag

    def handle_data(self, data):
        if self.within not in ("style", "script"):
            self.text.append(data)

    def names(self):
        return {tag for tag, _ in self.found}

    def said(self):
        return re.sub(r"[ \n\t]+", " ", " ".join(self.text))


def worded(plan, root, edit=None, without=(), made=None):
    """Make the report like `rendered`, for a test of its words: its figures are empty, since drawing takes longest."""
    return rendered(plan, root, edit, without, made, draw=empty_figures)


def computed(tree):
    """Make the tables of a made-up study; return the file of each."""
    tables = dictionary.files(tree.tables)
    collect_runs.main(tree.study, tree.runs_list, tables)
    compare_variants.main(tree.study, tables["runs"], tables["executions"], tables)
    return tables


def exported(tree):
    """Write what the columns of a made-up study's tables mean, all tables as JSON, and the verdict."""
    outputs = (tree.study.parent / name for name in export_tables.OUTPUTS)
    export_tables.main(tree.study, dictionary.files(tree.tables), *outputs)


def empty_figures(study, tables, figures):
    """Write an empty figure under each name."""
    factors = len(read_csv(tables["factors"])) > 0
    for name in naming.figure_names(read_study(study), factors):
        write_text(figures / f"{name}.svg", EMPTY)


def rendered(plan, root, edit=None, without=(), made=None, draw=plot_figures.main):
    """Make the whole report of a made-up study without some kinds of records; `edit` changes every record first.

    `made` replaces the runs of the plan.
    """
    tree = synthetic.write_tree(plan, root, made)
    records = [getattr(tree, kind) for kind in render_report.RECORDS]
    listed = [*records, run_tables.listed(tree.runs_list), [tree.study]]
    for path in (path for paths in listed for path in paths):
        if edit:
            path.write_text(json.dumps(edit(read(path))))
    tables = computed(tree)
    draw(tree.study, tables, tree.figures)
    made = [tree.study.with_name(name) for name in ("report.html", "summary.md", "answer.json")]
    records = {kind: getattr(tree, kind) for kind in render_report.RECORDS if kind not in without}
    render_report.main(tree.study, tree.runs_list, tables, tree.figures, *made, **records)
    return tree, *(path.read_text(encoding="utf-8") for path in made[:2])


def answer_of(tree, variant="pgo"):
    tables = {
        name: read_csv(tree.tables / f"{name}.csv") for name in ("runs", "overall", "cells", "comparisons", "relinked")
    }
    study = read(tree.study)
    doubts = build_findings.lost_profiles(ResolvedStudy.of(study), built(tree)) | build_findings.failure_reasons(
        ResolvedStudy.of(study), built(tree)
    )
    answers = verdict.study_answer(
        ResolvedStudy.of(study), tables, doubts, held_out.splits(ResolvedStudy.of(study), tables)
    )
    return next(each for each in answers if each.variant == variant)


def built(tree):
    proofs = [proof for path in tree.proofs for proof in read_part(Proofs, path).proofs]
    records = ([read_part(kind, path) for path in getattr(tree, name)] for name, kind in KINDS.items())
    return build_findings.Built(*records, proofs)


def findings_of(tree):
    names = ("comparisons", "cells", "overall", "overall_unflagged", "calibration", "statements", "relinked")
    found = {name: read_csv(tree.tables / f"{name}.csv") for name in names}
    runs = read_csv(tree.tables / "runs.csv")
    return {finding.code: finding for finding in findings.findings(read_study(tree.study), runs, found, built(tree))}
