"""Write the resolved study and the list of its runs, which the rules for tables, figures and report read."""

import json
from dataclasses import replace
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis import published


def main(study: ResolvedStudy, runs: list[str], figures: Path | None, study_file: Path, runs_file: Path) -> None:
    """Inputs: `study`, `runs`, and `figures`, a CSV file of published figures.

    Outputs: `study_file`, the study with the published figures; `runs_file`, the paths of `runs`, one per line.

    Raises ValueError naming file, line and column of a published figure that cannot be read.
    """
    if figures:
        study = replace(study, published=published.read(figures))
    json_record.write(study_file, json_record.dump(study))
    json_record.write_text(runs_file, "".join(f"{path}\n" for path in runs))


if __name__ == "__main__":
    job = globals()["snakemake"]
    (published_file,) = job.input.get("published", []) or [None]
    main(
        ResolvedStudy.of(json.loads(job.params.study)),
        list(job.params.runs),
        Path(published_file) if published_file else None,
        Path(job.output.study),
        Path(job.output.runs),
    )
