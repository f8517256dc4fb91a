"""Answers of finished studies: taken in as rows, and shown beside the published figures on a page."""

import csv
import json
import shutil
from dataclasses import replace

import pytest

from scripts.commands.answers import __main__, answers_page, measured
from scripts.lib import json_record
from scripts.report.analysis import published
from scripts.report.analysis.run_tables import read_csv
from tests.made import sql, synthetic
from tests.made.rendering import rendered, worded
from tests.made.studies import CHECKOUT


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished study, results/studies/x."""
    tree, *_ = worded(synthetic.Plan(workloads=("oltp",), repetitions=5), tmp_path_factory.mktemp("answers"))
    return tree.study.parent


def a_run(folder):
    """Return the record of a run of the variant pgo."""
    return json_record.read(next(folder.rglob("pgo*/**/1.json"), None) or next(folder.rglob("*pgo.json")))


def sections(text):
    """Return study -> its section on the page of answers, with plain spaces."""
    parts = text.replace("\u202f", " ").split("\n## ")[1:]
    return {part.partition("\n")[0]: part for part in parts}


def test_page_has_the_answers_of_measured_csv_and_the_published_files():
    text = (CHECKOUT / answers_page.PAGE).read_text(encoding="utf-8")
    made = answers_page.sections(CHECKOUT, measured.read(CHECKOUT / measured.MEASURED))
    assert answers_page.with_table(text, made) == text, "python -m scripts.commands.answers makes it anew"
    of_study = sections(made)
    assert "\nPublished: TPS to `baseline`: `as_published` 1.28 × (44 cells).\n" in of_study["pgo-mysql-8.0.36"]
    assert "\nPublished: TPS to `none`: `lz4` 0.87 ×; `zlib` 0.72 × (1 cell).\n" in of_study["page-compression"]


def test_page_has_a_row_for_each_ratio_and_the_last_measured_first():
    rows = measured.read(CHECKOUT / measured.MEASURED)
    made = answers_page.sections(CHECKOUT, rows)
    between = {(row.study, row.campaign, row.variant) for row in rows if row.variant != "aa"}
    within = [row for row in rows if "/" in row.metric]
    assert made.count("\n| ") >= len(between) + len(within)
    names = list(sections(made))
    last = {
        name: max((row.date for row in rows if answers_page.of_config(row.study) == name), default="") for name in names
    }
    assert [last[name] for name in names] == sorted(last.values(), reverse=True)


def test_every_row_of_measured_csv_belongs_to_a_study_and_is_complete():
    for row in measured.read(CHECKOUT / measured.MEASURED):
        assert (CHECKOUT / "studies" / f"{answers_page.of_config(row.study)}.yaml").exists(), row.study
        if row.low or not row.metric.startswith(measured.MOST):  # the best client count has no interval to itself
            assert float(row.low) <= float(row.ratio) <= float(row.high)
        assert all((row.cpu_model, row.release, row.workflow, row.date)), row


def test_finished_study_is_taken_in_with_what_its_tables_say(finished):
    rows = measured.of_study(finished)
    overall = read_csv(finished / "tables" / "overall.csv").set_index(["variant", "metric"])
    assert {row.variant for row in rows} == set(overall.index.get_level_values("variant"))
    assert "`aa`" not in answers_page.measured_text(rows)
    for row in rows:
        told = overall.loc[row.variant, row.metric]
        assert float(row.ratio) == pytest.approx(told["ratio"], rel=1e-4)
        assert float(row.low) == pytest.approx(told["ratio_low"], rel=1e-4)
        said = "" if row.variant == "aa" else told["verdict"]
        assert (row.metric != "tps") or (row.verdict == said and row.blocks == "5")
    (first,) = {(row.study, row.cpu_model, row.release, row.workflow, row.date) for row in rows}
    run = a_run(finished)
    assert first[:2] == (json_record.read(finished / "study.json")["study"], run["host"]["cpu_model"])
    assert first[2] == f"{run['server']['family']} {run['server']['release']}"


def test_product_is_that_of_the_sources_of_the_server_and_no_other(tmp_path, finished):
    own = finished.parents[1]
    results = shutil.copytree(own, tmp_path / own.name)
    name = a_run(finished)["server"]["name"]
    for server, product in ((f"{name}-0", "another"), (name, "Percona Server")):
        (source := results / "sources" / f"{server}-0123456789ab").mkdir(parents=True)
        (source / "source.json").write_text(json.dumps({"product": product}))
    rows = measured.of_study(results / finished.relative_to(own))
    assert {row.release.rsplit(" ", 1)[0] for row in rows} == {"Percona Server"}


def test_statements_of_one_server_are_compared_as_published_and_measured(tmp_path_factory):
    tree, *_ = rendered(sql.PLAN, tmp_path_factory.mktemp("pairs"), sql.timed())
    rows = measured.of_study(tree.study.parent)
    pairs = [row for row in rows if row.metric == "cold_s/group / join"]
    assert [(row.variant, row.blocks, row.verdict) for row in pairs] == [("baseline", "5", ""), ("pgo", "5", "")]
    said = answers_page.measured_text(rows).replace("\u202f", " ")
    assert "\n| cold time within a server: group / join | `baseline` | 0.25 (0.2" in said
    assert "\n| cold time of the statements | `pgo` | 0.50 (" in said
    made = sections(answers_page.sections(CHECKOUT, []))
    assert "cold time within a server: count with gaps / count as loaded `aurora` 0.907 ×; " in made["fragmentation"]


def test_published_ladder_stands_beside_what_is_left_with_the_most_clients(tmp_path_factory):
    told = json_record.dump(published.read(CHECKOUT / "studies/published/point-select-ladder.csv"))
    rows = [{**row, "workload": "simple_select"} for row in told["rows"]]
    plan = synthetic.Plan(workloads=("simple_select",), clients=(8, 64, 512))
    tree, *_ = worded(plan, tmp_path_factory.mktemp("ladder"), lambda facts: (
        {**facts, "published": {**told, "rows": rows}} if "order" in facts else facts
    ))  # fmt: skip
    found = [row for row in measured.of_study(tree.study.parent) if row.metric.startswith(measured.MOST)]
    assert {row.metric for row in found} == {"tps/simple_select, 512 clients / best"}
    assert {row.variant for row in found} == set(json_record.read(tree.study)["variants"]) - {"aa"}
    said = answers_page.measured_text(measured.of_study(tree.study.parent))
    assert "\n| TPS within a server: simple_select, 512 clients / best | `baseline` | 1.00" in said
    ours = "\nPublished: TPS within a server: point_selects, 4096 clients / best `mysql-5.7.17` 1.00"
    assert ours in sections(answers_page.sections(CHECKOUT, []))["point-select-ladder"]


def test_campaigns_whose_reference_differs_from_itself_are_counted(finished):
    (aa,) = [row for row in measured.of_study(finished) if (row.variant, row.metric) == ("aa", "tps")]
    other = replace(aa, study="another", low="1.01", high="1.03")
    assert answers_page.same_text([aa, other]).endswith("leaves out 1 in 1 of 2 campaigns.")


def test_study_measured_again_replaces_its_rows_and_no_others(finished):
    rows = measured.of_study(finished)
    other = replace(rows[0], study="another")
    old = replace(rows[0], ratio="9")
    assert measured.merged([old, other], rows) == sorted([other, *rows], key=lambda row: row.study)


def test_variants_measured_later_stand_beside_those_of_an_earlier_campaign(finished):
    rows = [row for row in measured.of_study(finished) if row.metric == "tps"]
    earlier = [replace(row, date="2020-01-01", ratio="9") for row in rows]
    earlier += [replace(row, variant="clang") for row in earlier if row.variant == "pgo"]
    both = measured.merged(earlier, rows, keeps_others=True)
    assert [row for row in both if row.date != "2020-01-01"] == rows
    assert [row.variant for row in both if row.date == "2020-01-01"] == ["aa", "clang"]
    later, (clang,) = answers_page.measured_text(rows), [row for row in both if row.variant == "clang"]
    (control,) = [row for row in both if (row.variant, row.date) == ("aa", clang.date)]
    assert answers_page.measured_text(both) == f"{later}\n\n{answers_page.measured_text([control, clang])}"


@pytest.mark.parametrize("other", [{"cpu_model": "older"}, {"release": "X 1", "date": "2020-01-01"}], ids=str)
def test_variant_of_another_release_or_cpu_stays_beside_the_new_one(finished, other):
    rows = [row for row in measured.of_study(finished) if row.metric == "tps"]
    earlier = [replace(row, **other) for row in rows]
    assert measured.merged(earlier, rows, keeps_others=True) == [*earlier, *rows]
    assert measured.merged(earlier, rows) == rows


def test_variant_added_in_the_same_campaign_has_its_later_control_alone(finished):
    rows = [row for row in measured.of_study(finished) if row.metric == "tps"]
    earlier = [replace(row, ratio="9") for row in rows]
    kept = [replace(row, variant="clang") for row in earlier if row.variant == "pgo"]
    assert measured.merged([*earlier, *kept], rows, keeps_others=True) == [*kept, *rows]


def checkout_with(folder, study):
    """Make a checkout with one study, its published figures and an empty table."""
    (folder / "studies" / "published").mkdir(parents=True)
    (folder / "studies" / f"{study}.yaml").write_text("reference: none\npublished: studies/published/x.csv\n")
    shutil.copy(CHECKOUT / "studies/published/page-compression-linkbench-mysql-5.7.csv",
                folder / "studies" / "published" / "x.csv")  # fmt: skip
    (folder / answers_page.PAGE).parent.mkdir(parents=True)
    (folder / answers_page.PAGE).write_text(
        f"# Studies\n\n{answers_page.BEGIN}\nold\n{answers_page.END}\n\nSnapshot.\n"
    )


def test_page_shows_published_beside_measured_and_keeps_what_stands_around(tmp_path, finished):
    name = json_record.read(finished / "study.json")["study"]
    checkout_with(tmp_path, name)
    __main__.main(tmp_path, [finished])
    text = (tmp_path / answers_page.PAGE).read_text()
    assert text.startswith("# Studies\n\n")
    assert text.endswith(f"{answers_page.END}\n\nSnapshot.\n")
    section = sections(text)[name]
    first = next(row for row in measured.of_study(finished) if (row.variant, row.metric) == ("pgo", "tps"))
    assert "\nPublished: TPS to `none`: `lz4` 0.87 ×; `zlib` 0.72 × (1 cell).\n" in section
    assert f"\nFull scale, {first.date}, {first.cpu_model}, 5 blocks a cell: {first.release}.\n" in section
    assert f"\n| TPS | `{first.variant}` | {float(first.ratio):.2f} (" in section
    with (tmp_path / measured.MEASURED).open() as stream:
        assert {row["study"] for row in csv.DictReader(stream)} == {name}
    __main__.main(tmp_path, [])
    assert (tmp_path / answers_page.PAGE).read_text() == text


def test_small_scale_is_named_and_stands_at_its_study():
    assert answers_page.of_config("storage-small") == "storage"
    row = measured.MeasuredAnswer("storage-small", "tmpfs", "tps", "1.5", "1.2", "1.9", "far_above", "0.02", "5",
                           "CPU", "mariadb 10.11.18", "1.0", "2026-11-23")  # fmt: skip
    said = answers_page.measured_text([row]).replace("\u202f", " ")
    assert said.startswith("Small scale, 2026-11-23, CPU, 5 blocks a cell: mariadb 10.11.18.\n")
    assert said.endswith("\n| TPS | `tmpfs` | 1.50 (1.20–1.90) | more than 2 % faster |")
    other = replace(row, variant="aa", release="mysql 8.0.33")
    assert ": mysql 8.0.33, mariadb 10.11.18.\n" in answers_page.measured_text([other, row])


def test_study_of_another_release_answers_the_question_of_a_study_that_exists(tmp_path, finished):
    checkout_with(tmp_path, "asked")
    __main__.main(tmp_path, [finished], "asked-small")
    assert {row.study for row in measured.read(tmp_path / measured.MEASURED)} == {"asked-small"}
    assert "Published: TPS to `none`: `lz4`" in sections((tmp_path / answers_page.PAGE).read_text())["asked"]
    with pytest.raises(ValueError, match="--answers askd-small: expected a study of"):
        __main__.main(tmp_path, [finished], "askd-small")


def test_unfinished_study_and_a_page_without_marks_are_errors(tmp_path):
    with pytest.raises(ValueError, match=r"study\.json: missing, expected the folder of a finished study"):
        measured.of_study(tmp_path)
    with pytest.raises(ValueError, match="expected one line <!-- answers -->"):
        answers_page.with_table("# Studies\n", "")


def test_texts_that_a_spreadsheet_takes_for_formulas_are_written_as_texts_and_read_back(tmp_path):
    row = measured.MeasuredAnswer(
        "s", "v", "tps", "1.5", "1.2", "1.9", "far_above", "0.02", "5", "=CPU", "-x", "@w", "'=d"
    )
    (file := tmp_path / "measured.csv").write_text(measured.as_csv([row]))
    assert file.read_text().splitlines()[1].endswith(",5,'=CPU,'-x,'@w,''=d")
    assert measured.read(file) == [row]
