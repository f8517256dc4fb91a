"""Keep what finished studies measured in studies/measured.csv, and make the answers in docs/results/answers.md of it.

Without folders only the page is made anew. Published figures come from the files in studies/published.
"""

import argparse
from pathlib import Path

from scripts import ROOT
from scripts.commands.answers.answers_page import PAGE, SMALL, of_config, sections, with_table
from scripts.commands.answers.measured import MEASURED, as_csv, merged, of_study, read
from scripts.lib.host.entry import WrongCall, say, user_command
from scripts.lib.json_record import write_text
from scripts.lib.wording import plural


def main(root: Path, folders: list[Path], answered: str = "", keeps_others: bool = False) -> None:
    """Take finished studies in, under their own names or as answers of one study, and write both files of a checkout.

    With `keeps_others`, answers of variants, releases and CPUs that these studies lack are kept.
    Raises WrongCall for an `answered` that is not a study of the checkout.
    """
    studies = root / "studies"
    if answered and not (studies / f"{of_config(answered)}.yaml").is_file():
        raise WrongCall(f"--answers {answered}: expected a study of {studies}, with {SMALL} for its small scale")
    new = [row for folder in folders for row in of_study(folder, answered)]
    rows = merged(read(root / MEASURED), new, keeps_others)
    write_text(root / MEASURED, as_csv(rows))
    page = root / PAGE
    write_text(page, with_table(page.read_text(encoding="utf-8"), sections(root, rows)))
    say(f"{MEASURED}: {plural(len(rows), 'row')} of {len({row.study for row in rows})} studies")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.answers", description=__doc__)
    parser.add_argument("studies", type=Path, nargs="*", help="folders of finished studies, results/studies/x")
    parser.add_argument(
        "--answers", default="", metavar="x-small", help="the study whose question they answer with another release"
    )
    parser.add_argument(
        "--beside", action="store_true", help="keep the answers of variants, releases and CPUs that they lack"
    )
    arguments = parser.parse_args()
    with user_command():
        main(ROOT, arguments.studies, arguments.answers, arguments.beside)
