"""The page of a study that looked into its servers: what each tool found, a notice where one could not be used."""

import pytest

from scripts.jobs import render_report
from scripts.lib import json_record
from scripts.lib.host import outcome
from scripts.report.analysis import dictionary
from scripts.study.plan.diagnosis_plan import TOOLS
from tests.made import synthetic
from tests.made.diagnoses import diagnosed
from tests.made.rendering import Elements, worded

pytestmark = pytest.mark.slow

ODD = "<img src=x onerror=alert(1)>"
WHY = "perf ended with status 255: Permission denied <b>\n(kernel setting kernel.perf_event_paranoid is 4)"


def page_with(root, edit=lambda facts: facts, tools=TOOLS, clients=8):
    """Render a made-up study of one workload with diagnoses of its two variants, each edited before."""
    plan = synthetic.Plan(workloads=("oltp",))
    tree, *_ = worded(plan, root)
    paths = []
    for variant in ("baseline", "pgo"):
        for tool in tools:
            place = {"study": plan.study, "variant": variant, "workload": "oltp", "clients": clients}
            paths.append(root / f"{variant}-{tool}.json")
            json_record.write(paths[-1], edit(diagnosed(place, tool)))
    records = {kind: getattr(tree, kind) for kind in render_report.RECORDS} | {"diagnoses": paths}
    made = [root / name for name in ("report.html", "summary.md", "answer.json")]
    places = [tree.runs_list, dictionary.files(tree.tables), tree.figures, *made]
    study = json_record.read(tree.study) | {"diagnose": {"seconds": 10}}
    json_record.write(root / "asked.json", study)
    render_report.main(root / "asked.json", *places, **records)
    return (root / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("diagnosed"))


def section(page):
    return page.split('<section id="diagnosis">')[1].split("</section>")[0]


def test_a_study_that_asks_for_nothing_has_no_such_section(report):
    assert 'id="diagnosis"' not in report[1]
    assert "Inside the server" not in report[1]


def test_functions_that_differ_are_named_with_intervals_and_others_are_not(page):
    said = Elements(section(page)).said()
    assert "Largest differences, in the functions themselves: parse (−" in said
    assert "no verdict is based on it" in said
    sentence = said.split("Largest differences, in the functions themselves: ")[1].split(".")[0]
    assert "±" in sentence


def test_each_variant_has_a_flame_graph_the_others_beside_the_reference(page):
    found = Elements(section(page)).found
    graphs = [
        attributes["aria-label"] for tag, attributes in found if tag == "svg" and attributes.get("class") == "flame"
    ]
    assert graphs == ["flame graph of baseline", "flame graph of pgo"]
    classes = [attributes.get("class") for tag, attributes in found if tag == "g"]
    assert {"server", "library", "kernel", "thread"} <= set(classes)
    assert "less3" in classes


def test_waits_for_the_load_generator_are_told_apart(page):
    said = Elements(section(page)).said()
    assert "wait/io/socket/sql/client_connection for the load generator" in said
    told = said.replace("\u202f", " ")
    assert (
        "waiting for the load generator and 5 % in events that the server reports, 100 % of that in wait/io/file"
        in told
    )
    assert "wait/synch/cond/idle" in said


def test_waits_for_the_disk_have_percentiles_and_a_curve(page):
    said = Elements(section(page)).said().replace("\u202f", " ")
    assert "baseline fdatasync" in said
    assert "0.400 ms" in said
    assert "2.00 ms" in said
    assert "Share of waits for the disk done by a time" in said


def test_engines_own_account_stands_once_for_each_variant(page):
    assert section(page).count("INNODB MONITOR OUTPUT, early") == 2


def test_tool_that_cannot_be_used_is_a_notice_and_the_rest_is_shown(tmp_path):
    def without_perf(facts):
        return {**facts, **outcome.failure_facts(WHY)} if facts["tool"] == "perf" else facts

    shown = section(page_with(tmp_path, without_perf))
    assert "Failed: perf of baseline and perf of pgo: perf ended with status 255" in Elements(shown).said()
    assert "Permission denied &lt;b&gt;" in shown
    assert "flame graph" not in shown
    assert "wait/io/file/log" in shown


def test_diagnoses_of_a_client_count_nobody_measured_are_shown_by_themselves(tmp_path):
    said = Elements(section(page_with(tmp_path, clients=3))).said()
    assert "oltp, 3 clients" in said
    assert "TPS" in said


def test_a_window_without_transactions_has_holes_and_no_numbers(tmp_path):
    def idle(facts):
        return {**facts, "window": {**facts["window"], "transactions": 0}}

    said = Elements(section(page_with(tmp_path, idle, clients=3))).said()
    assert "nan" not in said.lower()


def test_nothing_from_outside_becomes_markup(tmp_path):
    kept = {"variant", "workload", "tool", "outcome", "study", "family"}

    def spoil(value, key=None):
        match value:
            case dict():
                names = key in ("syncs",)
                return {(name + ODD if names else name): spoil(inner, name) for name, inner in value.items()}
            case list():
                return [spoil(inner, key) for inner in value]
            case str() if key not in kept:
                return value + ODD
        return value

    page = page_with(tmp_path, spoil)
    assert ODD not in page
    assert "&lt;img src=x onerror" in section(page)
