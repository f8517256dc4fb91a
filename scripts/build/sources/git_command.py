"""The only module that starts git: nothing that a repository configures is run, whatever the command.

Git takes programs to run from a repository's configuration, hooks and attributes, and from the environment. Settings on
the command line win over files; filters have names of the repository's choice, so no command here writes or compares
the content of a working tree, and `git archive` runs in a repository of ours, whose attributes turn filters off.
"""

import os
import re
import subprocess
from pathlib import Path

from scripts.build.sources import SourceError
from scripts.lib.host import process
from scripts.lib.host.address import Address
from scripts.lib.host.made_environment import download_variables, made_environment

NOTHING = os.devnull
SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": NOTHING,
    "core.attributesFile": NOTHING,
    "core.pager": "cat",
    "core.editor": "false",
    "core.alternateRefsCommand": "",
    "core.autocrlf": "false",
    "diff.external": "",
    "gpg.program": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "protocol.ext.allow": "never",
}
# Without a network git asks no server for missing objects, and needs no login.
OFFLINE_SETTINGS = {"core.sshCommand": "false", "core.gitProxy": "false", "credential.helper": ""}
OFFLINE = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
# A submodule's URL comes with the commit, so transports that run commands (ext::) are not allowed; nor are questions.
ONLINE = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "GIT_TERMINAL_PROMPT": "0"}
# Git lists the 80 000 files of a kernel in a second; from a pipe in place of .gitignore it reads for ever.
ANSWER_S = 300
PAIR = ("KEY", "VALUE")
LIST_FILES = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


def command(*arguments: str, online: bool = False) -> list[str]:
    """Return the command line of git with these arguments."""
    settings = SETTINGS if online else {**SETTINGS, **OFFLINE_SETTINGS}
    flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return ["git", "--no-pager", *flags, *arguments]


def is_local(repository: str) -> bool:
    """Return whether a repository is a path of this machine, or a file: URL."""
    return repository.startswith("file:") or not ("://" in repository or re.match(r"[^/~.][^/]*:", repository))


def files_of(folder: str) -> set[str]:
    """Return the names that git lists in the working tree `folder`, which has .git at its top: tracked files, and
    others that are not ignored; of a submodule its folder.

    Raises SourceError with the folder and git's words.
    """
    # where the user's own list of ignored files may be
    settings = {name: value for name, value in download_variables().items() if name == "XDG_CONFIG_HOME"}
    # a damaged .git must not make git look for a repository above
    ceiling = {"GIT_CEILING_DIRECTORIES": os.path.dirname(folder.rstrip("/"))}  # noqa: PTH120
    try:
        answer = subprocess.run(
            command(*LIST_FILES),
            cwd=folder,
            env=made_environment(**settings, **OFFLINE, **ceiling),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise SourceError(f"directory: {folder} is a git working tree, and the command git is missing") from error
    except subprocess.TimeoutExpired as error:
        text = f"git did not list its files within {ANSWER_S} s; is a list of ignored files a pipe or on a slow disk?"
        raise SourceError(f"directory: {folder}: {text}") from error
    if answer.returncode:
        reason = answer.stderr.decode(errors="replace").strip()
        raise SourceError(f"directory: {folder}: git cannot list its files: {reason}")
    return {name.rstrip("/") for name in os.fsdecode(answer.stdout).split("\0") if name}


def in_ours(bare: Path, *arguments: str) -> str:
    """Return the standard output of git in a bare repository of ours, without network. Raises CommandFailed."""
    return process.run(command(*arguments), cwd=bare, environment=OFFLINE).output


def online(folder: Path, action: str, repository: Address, *rest: str, options: tuple[str, ...] = ()) -> str:
    """Return the standard output of `git fetch` or `git ls-remote` with a repository, run in `folder`.

    Raises CommandFailed with git's words.
    """
    served = ("--upload-pack", _upload_pack()) if is_local(repository.real) else ()
    argv = command(action, "--quiet", *options, *served, "--", str(repository), *rest, online=True)
    variables = {**download_variables(), **ONLINE, **_connection(repository)}
    try:
        return process.run(argv, cwd=folder, environment=variables).output
    except process.CommandFailed as error:
        raise type(error)(repository.redacted(str(error))) from None


def _connection(repository: Address) -> dict[str, str]:
    """Return the variables by which git connects to the real address where the command line holds the one shown."""
    if not repository.is_secret:
        return {}
    # a helper of the user's would keep the login
    settings = {f"url.{repository.real}.insteadOf": str(repository), "credential.helper": ""}
    numbered = enumerate(settings.items())
    variables = {
        f"GIT_CONFIG_{part}_{number}": text for number, pair in numbered for part, text in zip(PAIR, pair, strict=True)
    }
    return {"GIT_CONFIG_COUNT": str(len(settings)), **variables}


def _upload_pack() -> str:
    """Return the command that serves a repository of this machine; git passes its own settings to no such command."""
    return " ".join(["env", *(f"{name}={value}" for name, value in OFFLINE.items()), *command("upload-pack")])
