"""A study of both installed servers with all diagnoses, made where it can write to few places."""

import os
import pwd
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.endtoend.folders import open_folder
from tests.made import studies
from tests.workflow.running import command_line, environment

SERVERS = {"mariadb-installed": "/usr/sbin/mariadbd", "postgresql-installed": "/usr/lib/postgresql/15/bin/postgres"}
STUDY: dict[str, Any] = studies.tiny(
    study="looked_into",
    variants={name.partition("-")[0]: {"server": name, "build": "prebuilt"} for name in SERVERS},
    reference="mariadb",
    diagnose={"seconds": 3},
    together=6,
)
# A shell in a mount namespace of its own: everything but these folders can only be read.
READ_ONLY = r"""
set -eu
for place in "$1" /tmp /var/tmp /dev/shm; do mount --rbind "$place" "$place"; done
for point in $(cut -d ' ' -f 2 /proc/self/mounts | sort -u); do
    case $point in
    "$1" | /tmp | /tmp/* | /var/tmp | /var/tmp/* | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) ;;
    *) mount -o remount,bind,ro "$point" ;;
    esac
done
if (: >"$HOME/written") 2>/dev/null; then echo "$HOME can still be written" >&2; exit 99; fi
shift
exec "$@"
"""
UNSHARE = ["unshare", "--mount", "--propagation", "private"]
NAMESPACE = os.getuid() == 0 and subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


def missing() -> str:
    """Return which of the servers are not installed, an empty text when both are."""
    lost = [path for path in SERVERS.values() if not Path(path).exists()]
    return f"not installed: {', '.join(lost)}" if lost else ""


@contextmanager
def made() -> Iterator[Path]:
    """Bring the study to its report; yields its working directory.

    Where there can be a mount namespace, only that folder, the cache and temporary folders can be written.
    """
    with open_folder("looked-into-") as folder:
        (folder / "study.yaml").write_text(yaml.safe_dump(STUDY, sort_keys=False))
        command = command_line(folder, "--cores", "all", "--configfile", folder / "study.yaml")
        shut_in = [*UNSHARE, "sh", "-c", READ_ONLY, "sh", folder] if NAMESPACE else []
        home = pwd.getpwuid(os.getuid()).pw_dir
        done = subprocess.run(
            [*shut_in, *command],
            cwd=folder,
            env=environment(HOME=home, XDG_CACHE_HOME=str(folder / "cache")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-4000:]
        yield folder
