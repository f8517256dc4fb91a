"""What tables, figures and the report of a measured study take, and whether a browser opens the page."""

import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.table import ROOT, Row, run
from benchmarks.timed import REFERENCE, Spent, spent
from scripts.report.analysis import dictionary
from tests.browser import chromium, large
from tests.made import synthetic

STEPS = ("collect_runs", "compare_variants", "plot_figures", "render_report")
# runs -> seconds for all steps, MiB of the page, seconds until a browser has opened it
LIMITS = {500: (60, 4.76, 10), 10_000: (120, None, 30)}
BENCH = "render"


def written(runs: int, root: Path) -> synthetic.Tree:
    """Write the records of a study of so many runs, each as long as a real one."""
    plan = large.plan(runs)
    return synthetic.write_tree(plan, root, list(large.runs(plan)))


def command(step: str, tree: synthetic.Tree) -> list[str]:
    """Return the command of a step, with the arguments its rule gives it."""
    tables = dictionary.files(tree.tables)
    given = {"study": [tree.study], "tables": tables.values(), "runs-list": [tree.runs_list]}
    given |= {"figures": [tree.figures], "log": [tree.study.with_name("log")]}
    given |= {name: [tables[name]] for name in ("runs", "executions")}
    used = {
        "collect_runs": ("study", "runs-list", "tables", "log"),
        "compare_variants": ("study", "runs", "executions", "tables", "log"),
        "plot_figures": ("study", "tables", "figures", "log"),
        "render_report": ("study", "runs-list", "tables", "figures", "log"),
    }
    line = [sys.executable, "-m", f"scripts.jobs.{step}"]
    for key in used[step]:
        line += [f"--{key}", *given[key]]
    if step == "render_report":
        for kind in ("facts", "audits", "checks", "proofs", "profiles", "sources", "datasets"):
            line += [f"--{kind}", *getattr(tree, kind)]
        line += ["--output", page(tree), "--summary", page(tree).with_name("summary.md")]
        line += ["--answer", page(tree).with_name("answer.json")]
    return list(map(str, line))


def page(tree: synthetic.Tree) -> Path:
    """Return where the report of a study is written."""
    return tree.study.with_name("report.html")


def opening(tree: synthetic.Tree, home: Path) -> list[str]:
    """Return the command that opens the page in a browser and ends when it is loaded."""
    options = [option for option in chromium.OPTIONS if option != "--remote-debugging-pipe"]
    return [str(chromium.PROGRAM), *options, f"--user-data-dir={home}", "--dump-dom", page(tree).as_uri()]


def rows(runs: int, root: Path) -> list[Row]:
    """Make everything of a study of so many runs and return what each part took."""
    most_s, most_mib, most_open_s = LIMITS[runs]
    # A process's peak counts what its parent held when it was forked: the records are made by another one.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        tree = pool.submit(written, runs, root).result()
    reference = spent(REFERENCE, ROOT)
    steps = {step: spent(command(step, tree), ROOT) for step in STEPS}
    whole = Spent(*(sum(getattr(step, key) for step in steps.values()) for key in ("wall_s", "cpu_s", "peak_mib")))
    found = [Row(BENCH, f"whole, {runs} runs", whole.wall_s, "s", reference.wall_s, most_s)]
    for name, step in {"whole": whole, **steps}.items():
        found.append(Row(BENCH, f"{name}, {runs} runs", step.cpu_s, "CPU s", reference.cpu_s))
    peak_mib = max(step.peak_mib for step in steps.values())
    found.append(Row(BENCH, f"whole, {runs} runs", peak_mib, "MiB", reference.peak_mib))
    found.append(Row(BENCH, f"page, {runs} runs", page(tree).stat().st_size / 2**20, "MiB", 1.0, most_mib))
    if chromium.PROGRAM:
        opened = spent(opening(tree, root / "browser"), ROOT)
        found.append(Row(BENCH, f"opened, {runs} runs", opened.wall_s, "s", reference.wall_s, most_open_s))
    return found


def measured() -> list[Row]:
    """Return the rows of all sizes."""
    found = []
    for runs in LIMITS:
        with tempfile.TemporaryDirectory(prefix="render-") as root:
            found += rows(runs, Path(root))
    return found


if __name__ == "__main__":
    sys.exit(run([measured]))
