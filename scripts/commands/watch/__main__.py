"""Show how far a study has come: phase, run n of m, time left, ratios so far, warnings. Reads files only."""

import argparse
import os
import signal
import sys
from pathlib import Path

import psutil

from scripts.host.entry import say, user_command


def main(config: Path, scale: str, once: bool) -> None:
    """Show the study of `config` at a scale until it is finished or the user leaves; `once`: a single time."""
    if sys.stdout.isatty():
        say("[watch] works only while nobody else wants the CPUs: beside a run the first view may take until its end")
    stand_back()
    # What these import takes a second of CPU time, which must not be a measurement's.
    from rich.console import Console

    from scripts.commands.watch.loop import show

    show(config, scale, once, Console())


def stand_back() -> None:
    """Take only CPU time and disk time that nobody else wants; where that is forbidden, as little as nice(2) gives."""
    os.nice(19)
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        psutil.Process().ionice(psutil.IOPRIO_CLASS_IDLE)
    except (OSError, psutil.Error) as error:
        say(f"watch: the system refuses idle priority ({error}), nice 19 must do")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="the study: config.yaml or studies/x.yaml")
    parser.add_argument("--scale", choices=("", "full", "small"), default="", help="the size of the study")
    parser.add_argument("--once", action="store_true", help="show it a single time; so it is without a terminal")
    return parser.parse_args()


def command() -> None:
    """Do what the command line says; to leave, with Ctrl-C or a signal, is no error."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        with user_command():
            main(**vars(_arguments()))
    except KeyboardInterrupt:
        raise SystemExit(0) from None


if __name__ == "__main__":
    command()
