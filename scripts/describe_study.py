"""Write the resolved study and the list of its runs, for the rules that interpret them."""

import json
from pathlib import Path
from typing import Any

from scripts import record


def main(study: dict[str, Any], runs: list[str], study_file: Path, runs_file: Path) -> None:
    """Write `study` as a record, and `runs`, one path a line."""
    record.write(study_file, study)
    record.write_text(runs_file, "".join(f"{path}\n" for path in runs))


if __name__ == "__main__":
    job = globals()["snakemake"]
    main(json.loads(job.params.study), list(job.params.runs), Path(job.output.study), Path(job.output.runs))
