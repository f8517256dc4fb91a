"""Show the progress of a study: phase, run n of m, time left, ratios so far, warnings. Reads files only."""

import argparse
import os
import signal
import sys
from pathlib import Path

import psutil

from scripts.lib.host.entry import say, user_command


def main(config: Path, scale: str, once: bool) -> None:
    """Show the study of `config` at a scale until it is finished or the user leaves; with `once`, show it once."""
    if sys.stdout.isatty():
        say("[watch] uses only idle CPU time: during a run, the first view may appear at its end")
    stand_back()
    # These imports take a second of CPU time, which must not come from a measurement.
    from scripts.commands.console import VisibleConsole
    from scripts.commands.watch.loop import show_progress

    show_progress(config, scale, once, VisibleConsole())


def stand_back() -> None:
    """Use only idle CPU and disk time; where the system refuses that, lower the priority with nice(2)."""
    os.nice(19)
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        psutil.Process().ionice(psutil.IOPRIO_CLASS_IDLE)
    except (OSError, psutil.Error) as error:
        say(f"watch: the system refuses idle priority ({error}); using nice 19")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.watch", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="the study: config.yaml or studies/x.yaml")
    parser.add_argument("--scale", choices=("", "full", "small"), default="", help="the size of the study")
    parser.add_argument("--once", action="store_true", help="show it once; the default without a terminal")
    return parser.parse_args()


def command() -> None:
    """Run the command line; leaving with Ctrl-C or a signal is not an error."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        with user_command():
            main(**vars(_arguments()))
    except KeyboardInterrupt:
        raise SystemExit(0) from None


if __name__ == "__main__":
    command()
