"""Stub: an empty figure under each name. Tests of figures and of real studies draw them."""

from scripts.jobs.stub import begin

from scripts.lib.json_record import write_text
from scripts.lib.resolved_study import read_study
from scripts.report.page.figures.naming import figure_names

EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>\n'

if __name__ == "__main__":
    job = begin()
    factors = len(job.tables["factors"].read_text().splitlines()) > 1
    for name in figure_names(read_study(job.study), factors):
        write_text(job.figures / f"{name}.svg", EMPTY)
