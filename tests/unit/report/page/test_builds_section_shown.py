"""Builds on the page: facts side by side, audits, checks, held-out workloads, and results that lack them."""

from dataclasses import replace

import pytest

from scripts.lib import wording
from scripts.lib.build_records import Audit, BuildFacts, Check, JudgedFlags, Proof, TrainedProfile
from scripts.lib.json_record import read
from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis import held_out
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import audits_section as report_audits
from scripts.report.page import build_findings, machine_section
from scripts.report.page import builds_section as report_builds
from scripts.report.page.document import Prose
from tests.made import records, synthetic
from tests.made.rendering import Elements, answer_of, findings_of, rendered, worded

NAMES = ("baseline", "lto", "pgo", "pgo_lto", "pgo_lto_bolt", "as_published", "prebuilt")
FACTS = list(map(BuildFacts.of, records.of_builds(NAMES)["facts"]))
STUDY = {
    "variants": {name: {"server": "mariadb-10.11", "build": name} for name in NAMES},
    **records.declared(NAMES),
}


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """A study of all builds."""
    variants = {**dict.fromkeys(NAMES, 0.5), "baseline": 0.0, "aa": 0.0}
    plan = synthetic.Plan(variants=variants, workloads=("simple_select", "index_update"))
    return rendered(plan, tmp_path_factory.mktemp("builds"))


def fields(table, label):
    (row,) = (row for row in table.rows if row.cells[0].text == label)
    return dict(zip(names(table), row.cells[1:], strict=True))


def names(table):
    """The names of the builds that a table has side by side."""
    return tuple(head.text for head in table.heads[1:])


def test_measured_builds_stand_before_the_stages_behind_them():
    (shown,) = report_builds.by_server(ResolvedStudy.of(STUDY), list(reversed(FACTS)))
    assert names(shown.measured) == NAMES
    assert set(names(shown.behind)) == {
        "instrumented_gcc-12", "relocatable_gcc-12_abc", "bolt_instrumented_bolt-16_abc",
    }  # fmt: skip


def test_values_that_differ_from_the_first_build_are_marked():
    (shown,) = report_builds.by_server(ResolvedStudy.of(STUDY), FACTS)
    lto = fields(shown.measured, "link-time optimisation")
    assert {name: (field.text, field.state) for name, field in lto.items()} == {
        "baseline": ("no", "same"), "lto": ("yes", "differs"), "pgo": ("no", "same"), "pgo_lto": ("yes", "differs"),
        "pgo_lto_bolt": ("no", "same"), "as_published": ("no", "same"), "prebuilt": ("unknown", "differs"),
    }  # fmt: skip
    assert fields(shown.measured, ".text")["pgo"].notes[0].startswith("\u221216.3")


def test_thin_lto_is_told_from_that_of_gcc():
    thin = [replace(one, compile_arguments=["-O2", "-flto=thin"]) if one.build == "lto" else one for one in FACTS]
    (shown,) = report_builds.by_server(ResolvedStudy.of(STUDY), thin)
    found = fields(shown.measured, "link-time optimisation")
    assert (found["lto"].text, found["pgo_lto"].text) == ("thin", "yes")


def test_a_bolted_build_has_the_compiler_of_its_input():
    (shown,) = report_builds.by_server(ResolvedStudy.of(STUDY), FACTS)
    assert fields(shown.measured, "compiler")["pgo_lto_bolt"].text == "gcc-12 12.2.0"
    assert fields(shown.measured, "BOLT")["pgo_lto_bolt"].text == "bolt-16 16.0.6"


def test_a_prebuilt_server_tells_what_its_binary_tells_and_no_flags():
    (shown,) = report_builds.by_server(ResolvedStudy.of(STUDY), FACTS)
    labels = [row.cells[0].text for row in shown.measured.rows]
    ours = {label: fields(shown.measured, label)["prebuilt"].text for label in labels}
    assert ours["flags, common"] == ours["compiler"] == "unknown"
    assert "Debian 12.2.0" in ours["binary: compiler comment"]
    assert ours["binary: hardening"] == "pie: yes\nrelro: full\nstack protector: unknown"


def test_arguments_are_sets_in_all_builds_and_in_some():
    compiled, linked = report_builds.arguments(FACTS)
    assert compiled.shared == "-O2 -fPIC"
    marks = fields(compiled.marks, "-flto=2")
    assert {name for name, cell in marks.items() if cell.text == "●"} == {"lto", "pgo_lto"}
    assert "prebuilt" in compiled.without
    assert linked.shared == "-Wl,--build-id=sha1"


def test_builds_of_two_servers_are_not_compared_with_each_other():
    other = replace(FACTS[2], server="postgresql-15")
    study = {**STUDY, "variants": {**STUDY["variants"], "pg": {"server": "postgresql-15", "build": "pgo"}}}
    first, second = report_builds.by_server(ResolvedStudy.of(study), [*FACTS, other])
    assert (first.server, second.server, names(second.measured)) == ("mariadb-10.11", "postgresql-15", ("pgo",))
    assert fields(second.measured, "training of its profile")["pgo"].state == "same"


def test_a_lost_profile_is_told_in_answer_findings_and_audit(builds):
    tree, page, summary = builds
    assert answer_of(tree, "as_published").sentences[0].bad
    assert "profile was lost: 0 of 612 units" in answer_of(tree, "as_published").sentences[0].text
    assert findings_of(tree)["profile_used"].state == "look"
    assert next(iter(findings_of(tree))) == "profile_used"
    said = Elements(page).said()
    assert "#build2#sql#x.cc.gcda" in said
    assert "0 of 773 counter files sought were found" in said
    assert "profile was lost" in summary.replace("\\", "")


def test_the_share_of_the_executed_code_is_one_sentence(builds):
    assert "99.8\u202f% of the code that ran in training was optimised with its profile." in Elements(builds[1]).said()


def test_a_bolted_build_is_audited_through_its_input(builds):
    tree, _, _ = builds
    good = findings_of(tree)["profile_used"].details
    assert any(line.startswith("pgo_lto_bolt of mariadb-10.11: 611 of 612") for line in good)
    assert "the input of pgo_lto_bolt" in Elements(builds[1]).said()


def test_a_build_with_a_profile_and_without_an_audit_is_told():
    built = build_findings.Built(FACTS, [], [], [])
    found = build_findings.audited(ResolvedStudy.of(STUDY), built)
    assert found.state == "look"
    assert "pgo of mariadb-10.11: compiled with a profile, but never audited" in found.text
    assert "lto of mariadb-10.11: compiled" not in found.text.replace("pgo_lto of", "")


def test_an_audit_shows_what_it_lacks():
    audit = {"server": FACTS[2].server, "build": FACTS[2].build,
           "training": "mixed", "units_nonzero": 2, "units_matched": 2, "matched_share": 1.0, "threshold": 0.99,
           "by_directory": [{"directory": "sql", "units_nonzero": 2, "units_matched": 2}]}  # fmt: skip
    audits = [Audit.of(audit)]
    blocks = report_audits.audit_blocks([FACTS[2]], audits)
    said = " ".join(block.text for block in blocks if hasattr(block, "text"))
    assert "optimised with its profile is unknown" in said
    assert "Unknown: units compiled" in said
    assert [head.text for head in report_audits.directory_table(audits[0]).heads] == [
        "directory",
        "ran in training",
        "optimised with it",
        "of the units that ran",
        "of the code that ran",
    ]
    assert (
        build_findings.audited(ResolvedStudy.of(STUDY), build_findings.Built([FACTS[2]], audits, [], [])).state
        == "good"
    )


def test_the_answers_of_every_measured_build_are_asked_for():
    checks = [Check.of(records.check(name)) for name in NAMES]
    good = build_findings.checked(ResolvedStudy.of(STUDY), build_findings.Built(FACTS, [], checks, []))
    assert good.state == "good"
    assert "6 of 6 builds answered 409 statements" in good.text
    differing = [replace(check, answered_identically=408) if check.build == "pgo" else check for check in checks[:-1]]
    bad = build_findings.checked(ResolvedStudy.of(STUDY), build_findings.Built(FACTS, [], differing, []))
    assert bad.state == "look"
    assert bad.details == (
        "pgo of mariadb-10.11 answers differently from baseline",
        "prebuilt of mariadb-10.11: not checked",
    )


def test_a_proof_that_does_not_hold_is_told_first():
    proofs = [
        {"kind": "machine_code", "builds": ["a", "b"], "holds": True, "text": "differs"},
        {"kind": "machine_code", "builds": ["a", "c"], "holds": False, "text": "the same machine code"},
    ]
    found = build_findings.proven(ResolvedStudy.of(TWO), build_findings.Built([], [], [], list(map(Proof.of, proofs))))
    assert (found.state, found.details[0]) == ("look", "a and c: the same machine code")
    assert "1 of 2 pairs that should differ have different machine code" in found.text


def test_a_training_tells_what_ran_for_each_kind_of_profile():
    names = {"training": "mixed", "server": "m"}
    counted = {"files": 3, "files_nonzero": 2, "functions": 9, "functions_nonzero": 5}
    branches = {"tool": "bolt", "files": 1, "functions_nonzero": 5, "branches": 70}
    compiler, bolt = trainings([{**names, **counted, "compiler": "gcc-12"}, {**names, **branches}])
    assert compiler.endswith(", gcc-12: 2 of 3 files and 5 of 9 functions ran.")
    assert bolt.endswith(", compiler unknown: 5 functions and 70 branches ran.")


def test_training_shows_its_server_options_and_whether_it_loaded_its_tables():
    names = {"training": "mixed", "server": "m"}
    load = {"name": "oltp", "tables": {"rows": 5, "fresh": True}}
    recipe = {"options": {"flush": 0, "autovacuum": False}, "workloads": [load]}
    loaded, plain = trainings([{**names, "recipe": recipe}, {**names, "recipe": {"workloads": []}}])
    text = "flush=0 autovacuum=off; the server in training loaded the tables"
    assert loaded.endswith(f" Server in training: {text}.")
    assert "Server in training" not in plain


def trainings(profiles):
    """The sentence on each profile."""
    blocks = machine_section.training_blocks(map(TrainedProfile.of, profiles))
    return [block.text for block in blocks if isinstance(block, Prose)]


def test_bolt_tells_functions_and_branches(builds):
    said = Elements(builds[1]).said()
    assert "6\u202f021 of 31\u202f288 functions (19.2\u202f%) had a profile" in said
    assert "-reorder-blocks=ext-tsp" in said


def test_each_workload_says_in_whose_training_it_was(builds):
    study = read(builds[0].study)
    assert (
        held_out.label(ResolvedStudy.of(study), "simple_select")
        == "In the training of pgo, pgo_lto, pgo_lto_bolt and as_published."
    )
    assert held_out.label(ResolvedStudy.of(study), "index_update").startswith("Held out from the training of pgo, ")
    assert held_out.label(ResolvedStudy.of({**study, "trained_on": {"pgo": ["x"], "pgo_lto": ["oltp"]}}), "x") == (
        "In the training of pgo; held out from the training of pgo_lto."
    )
    assert held_out.label(ResolvedStudy.of({"variants": {}}), "x") == ""


def test_trained_and_held_out_workloads_have_a_mean_each(builds):
    tree, _, _ = builds
    cells = read_csv(tree.tables / "cells.csv").query("variant == 'pgo' and metric == 'tps'").set_index("workload")
    said = answer_of(tree, "pgo").sentences[-1].text
    for kind, workload in (("trained", "simple_select"), ("held-out", "index_update")):
        assert f"{kind} workloads ({workload}) {wording.ratio(cells.loc[workload, 'ratio'])}" in said


def test_the_factor_table_follows_the_answer(builds):
    tree, page, summary = builds
    rows = read_csv(tree.tables / "factors.csv")
    assert set(rows["factor"]) >= {"PGO alone", "LTO alone", "interaction of PGO and LTO", "BOLT on top of PGO + LTO"}
    assert page.index('id="answer"') < page.index("What each factor brings") < page.index('id="where"')
    assert "PGO alone" in summary


def test_results_of_an_earlier_release_still_render(tmp_path):
    later = ("builds", "trained_on", "stage", "published")

    def old(facts):
        return {key: value for key, value in facts.items() if key not in later}

    _, page, _ = worded(synthetic.Plan(workloads=("oltp",)), tmp_path, old, without=("audits", "checks", "proofs"))
    said = Elements(page).said()
    assert "never audited" in said
    assert "No build's answers were compared" in said
    assert "What each factor brings" not in said


ONE = {"variants": {"a": {"server": "x", "build": "prebuilt"}, "b": {"server": "y", "build": "prebuilt"}}}
TWO = {"variants": {"a": {"server": "x", "build": "baseline"}, "b": {"server": "x", "build": "pgo"}}}


@pytest.mark.parametrize(("study", "state", "told"), [(ONE, "plain", "one build"), (TWO, "look", "was not checked")])
def test_missing_proofs_are_told_unless_there_was_nothing_to_prove(study, state, told):
    found = build_findings.proven(ResolvedStudy.of(study), build_findings.Built([], [], [], []))
    assert found.state == state
    assert told in found.text


def judged(**flags):
    records = [{"server": "postgresql-15", "build": name, "flags": text} for name, text in flags.items()]
    return build_findings.foreign_flags_finding(
        build_findings.Built([], [], [], [], list(map(JudgedFlags.of, records)))
    )


def test_flags_of_a_shell_are_read_first_and_named_with_their_build():
    found = judged(baseline="-O0 -g", pgo="")
    assert (found.state, found.code) == ("look", "foreign_flags")
    assert found.text.startswith("1 of 2 builds were compiled with flags that no recipe gave")
    assert found.details == ("baseline of postgresql-15: -O0 -g",)


def test_builds_without_such_flags_are_told_and_older_records_are_not_judged():
    assert judged(baseline="", pgo="").state == "good"
    assert "2 builds" in judged(baseline="", pgo="").text
    assert judged() is None
