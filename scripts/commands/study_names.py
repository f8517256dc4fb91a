"""Refuse a STUDY or SCALE that does not exist, naming the nearest that does: what `make` asks before anything else.

Imports the standard library alone, since `make` asks before .venv exists. Exit codes: 0 both exist, 2 one does not.
"""

import argparse
import difflib
import sys
from pathlib import Path

STUDIES, RESULTS = Path("studies"), Path("results/studies")
SCALES = ("small", "full")


def main(target: str, study: str, scale: str, finished: bool) -> int:
    """Print what is wrong with the study or scale of a target of make, and return the exit code.

    With `finished`, a study that has results counts as well: one that was imported has no file in studies/.
    """
    studies = sorted(file.stem for file in STUDIES.glob("*.yaml"))
    if finished and (RESULTS / study).is_dir():
        studies.append(study)
    complaints = []
    if study and study not in studies:
        file = STUDIES / f"{study}.yaml"
        complaints.append(f"STUDY={study}: no file {file}{guess(study, studies)}; there are: {', '.join(studies)}")
    if scale and scale not in SCALES:
        complaints.append(f"SCALE={scale}: expected small or full{guess(scale, SCALES)}")
    for complaint in complaints:
        sys.stderr.write(f"{complaint}\n")
    if complaints:
        sys.stderr.write(
            f"usage: make {target} [STUDY=name] [SCALE=small]; without STUDY it is the study of config.yaml\n"
        )
    return 2 if complaints else 0


def guess(name: str, names: list[str] | tuple[str, ...]) -> str:
    """Return the question after the known name that is nearest to a name, or a path; empty where none is near."""
    stem = Path(name).name.removesuffix(".yaml")
    near = [stem] if stem in names else difflib.get_close_matches(stem, names, n=1)
    return f", did you mean {near[0]}?" if near else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.study_names", description=__doc__)
    parser.add_argument("--target", default="report", help="the target of make")
    parser.add_argument("--study", default="", help="the name of a study, empty for that of config.yaml")
    parser.add_argument("--scale", default="", help="small, full, or empty")
    parser.add_argument("--finished", action="store_true", help="a study that has results counts too")
    arguments = parser.parse_args()
    sys.exit(main(arguments.target, arguments.study, arguments.scale, arguments.finished))
