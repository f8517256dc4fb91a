"""Pack the install tree of a variant's build so that it starts on another machine: results/packages/….tar.gz."""

import argparse
import gzip
import os
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from scripts.build.compilation import binary
from scripts.build.sources.tree import link_problem
from scripts.commands.arguments import add_arguments, paths_of, report_command
from scripts.commands.package import readme
from scripts.lib import json_record
from scripts.lib.build_records import Audit, BuildFacts, BuildIdentity
from scripts.lib.host import outcome, workplace
from scripts.lib.host.entry import WrongCall, entry, say
from scripts.lib.host.workplace import SNAKEMAKE_STAMP
from scripts.measure.servers import families
from scripts.report.page.study_answer import ANSWER_FILE, StudyAnswer
from scripts.study.config.mistakes import suggestion
from scripts.study.plan.schedule import Schedule

START_SCRIPT = Path(__file__).with_name("start.sh")
# Snakemake marks the folders it made.
LEFT_OUT = frozenset({SNAKEMAKE_STAMP})


def main(config: Path, variant: str, log: Path, scale: str = "") -> Path:
    """Write the package of a variant of the study in `config`, and return its path, which holds the build's digest.

    Raises ValueError naming the variant if it is unknown, not built yet, or cannot be packed.
    """
    paths = paths_of(config, scale)
    folder = built(paths, variant, config, scale)
    identity = json_record.read(folder / "identity.json")
    if (commands := families.of(identity["family"]).START_COMMANDS) is None:
        raise ValueError(f"variant {variant}: family {identity['family']!r} has no start commands, so no package")
    install = workplace.installed(folder / "identity.json")
    about = described(paths, variant, folder, install, commands.read_text(encoding="utf-8"))
    name = f"{identity['server']}-{identity['release']}-{folder.name}"
    package = Path("results") / "packages" / f"{name}.tar.gz"
    written = {
        "README.md": (readme.text(about), 0o644),
        "start.sh": (START_SCRIPT.read_text(encoding="utf-8"), 0o755),
        "server.sh": (about.commands, 0o644),
    }
    pack(package, name, install, written)
    size_mib = package.stat().st_size / 2**20
    say(f"[package] {package} ({size_mib:.0f} MiB, sha256 {json_record.file_sha256(package)})")
    return package


def built(paths: Schedule, variant: str, config: Path, scale: str) -> Path:
    """Return the folder of a variant's finished build; raise ValueError naming the command that makes it."""
    arms = paths.plan.study.arms
    if variant not in arms:
        raise WrongCall(f"VARIANT={variant}: unknown in {config}{suggestion(variant, arms)}")
    folder = Path(paths.build(*arms[variant].built))
    if not (folder / "identity.json").is_file():
        command = report_command(config, scale)
        raise ValueError(f"VARIANT={variant}: {folder} is not built yet; `{command}` builds and measures it")
    if reason := outcome.first_reason(judgements(paths, variant, folder)):
        raise ValueError(f"VARIANT={variant}: {reason}")
    return folder


def judgements(paths: Schedule, variant: str, folder: Path) -> list[Path]:
    """Return the existing records of a build, its audits and its check; a build with a failure in one is not packed."""
    judged = [Path(file) for file in paths.judged(*paths.plan.study.arms[variant].built)]
    return [folder / "identity.json", *(file for file in judged if file.is_file())]


def described(paths: Schedule, variant: str, folder: Path, install: Path, commands: str) -> readme.About:
    """Gather the content of the README."""
    plan, identity = paths.plan, json_record.read_part(BuildIdentity, folder / "identity.json")
    family = families.of(identity.family or "")
    stages = [name for name in (plan.stages.input(identity.build), identity.build) if name]
    profiles = [profile for name in stages if (profile := paths.profile(identity.server, name))]
    # BOLT's input is what was compiled with a profile
    audit = Path(paths.build(identity.server, stages[0])) / "audit.json"
    return readme.About(
        variant=variant,
        study=plan.study.name,
        identity=identity,
        facts=json_record.read_part(BuildFacts, folder / "facts.json"),
        profiles=tuple(Path(profile).name for profile in profiles),
        audit=json_record.read_part(Audit, audit) if audit.is_file() else None,
        answer=answer(paths, variant),
        options=family.option_text(plan.options(variant)),
        commands=commands,
        client=family.CLIENT_COMMAND.format(sockets="/tmp/sockets"),
        libraries=tuple(binary.needed_libraries(install)),
    )


def answer(paths: Schedule, variant: str) -> tuple[str, ...]:
    """Return the paragraphs on a variant of a study's answer; none if it measured another build of that name."""
    file = Path(paths.study, ANSWER_FILE)
    measured = any(block.finished and variant in block.arms for block in paths.blocks)
    if not (file.is_file() and measured):
        return ()
    return readme.paragraphs(StudyAnswer.read(file), variant)


def pack(package: Path, top: str, install: Path, written: dict[str, tuple[str, int]]) -> None:
    """Write an install tree and the files `written` (name -> text, mode) below the folder `top` of a .tar.gz.

    The same content gives the same bytes: sorted, owned by root, of the time in SOURCE_DATE_EPOCH (s, default 0).
    """
    package.parent.mkdir(parents=True, exist_ok=True)
    temporary = package.with_name(f".{package.name}.{os.getpid()}")
    try:
        with (
            temporary.open("wb") as raw,
            gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as zipped,
            tarfile.open(fileobj=zipped, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            for name, (text, mode) in sorted(written.items()):
                content = text.encode()
                tar.addfile(_info(f"{top}/{name}", mode, len(content)), BytesIO(content))
            for path in files(install):
                _add(tar, path, f"{top}/{path.relative_to(install)}", install)
        temporary.replace(package)
    finally:
        temporary.unlink(missing_ok=True)


def files(install: Path) -> Iterator[Path]:
    """Yield the paths below an install tree, folders before their content."""
    for path in sorted(install.rglob("*")):
        if path.name not in LEFT_OUT:
            yield path


def _add(tar: tarfile.TarFile, path: Path, name: str, install: Path) -> None:
    if path.is_symlink():
        target = str(path.readlink())
        if problem := link_problem(str(path.relative_to(install)), target):
            raise ValueError(f"{path}: {problem}; a server that is installed on this machine cannot be packed")
        info = _info(name, 0o777, 0)
        info.type, info.linkname = tarfile.SYMTYPE, target
        tar.addfile(info)
    elif path.is_dir():
        info = _info(name, 0o755, 0)
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    else:
        status = path.stat()
        with path.open("rb") as stream:
            tar.addfile(_info(name, 0o755 if status.st_mode & 0o100 else 0o644, status.st_size), stream)


def _info(name: str, mode: int, size_bytes: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode, info.size, info.mtime = mode, size_bytes, int(os.environ.get("SOURCE_DATE_EPOCH", 0))
    info.uname = info.gname = "root"
    return info


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.commands.package", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--variant", required=True)
    parser.add_argument("--log", type=Path, default=Path("results/logs/package_build.log"))
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    with entry(arguments.log):
        main(**vars(arguments))
