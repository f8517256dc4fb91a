"""Use a ready-made server: make its install tree, its identity, and facts on its compilation read from the program."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from scripts.build.compilation import binary
from scripts.build.sources import debian, installed, kinds
from scripts.build.sources.declared import SourceIdentity
from scripts.lib import json_record
from scripts.lib.build_records import BuildFacts, BuildIdentity
from scripts.lib.host import entry
from scripts.lib.host.process import output_of
from scripts.lib.recipe_models import PrebuiltRecipe
from scripts.measure.servers import families
from scripts.measure.servers.families.family import RELEASE_FILE, Family

IN_FACTS = (
    *("server", "family", "build", "release", "stage", "source_sha256", "server_file", "recipe"),
    # These are known only if the workflow compiled the server.
    *("toolchain", "flags", "configure_command", "compile_arguments", "link_arguments", "steps_s", "wall_s", "cpu_s"),
    *("peak_rss_mib", "units_compiled", "threads", "sha256", "build_id"),
)


def main(recipe: PrebuiltRecipe, source: Path, install: Path, facts: Path, identity: Path, log: Path) -> None:
    """Input: `source`, the record of a source. Outputs: `install`, then `facts`, then `identity`.

    An unpacked distribution is hard-linked or copied, so that it does not change with its source; a server installed on
    this machine is linked symbolically. Raises ValueError if there is no server of the family, or if its release is not
    the declared one.
    """
    family, described = families.of(recipe.family), json_record.read_part(SourceIdentity, source)
    names = BuildIdentity.declared(recipe, described.release)
    if described.kind == kinds.RUNNING:
        describe_running(recipe, replace(names, running=described.running), install, facts, identity)
        return
    here = described.kind == "installed"
    parts = family.layout(Path(described.path or "") if here else source.parent.absolute() / "tree")
    shutil.rmtree(install, ignore_errors=True)
    for name, file in parts.items():
        (install / name).parent.mkdir(parents=True, exist_ok=True)
        if here:
            (install / name).symlink_to(file)
        else:
            keep(file, install / name)
    program = install / family.SERVER
    names = replace(names, release=release_of(program, recipe.source.version, family))
    (install / RELEASE_FILE).write_text(f"{names.release}\n", encoding="utf-8")
    origin = str(parts[family.SERVER].resolve()) if here else described.origin
    installed_as = binary.identified(names, install, family.SERVER, origin)
    declared = BuildFacts(stage=recipe.stage, source_sha256=described.tree_sha256, recipe=recipe.dump())
    has_build_id = installed_as.build_id is not None
    sized = replace(
        binary.sized(declared.of_program(installed_as), install),
        install_bytes=sum(map(size, parts.values())),
        told={"version": version_line(program), **binary.binary_facts(program), "has_build_id": has_build_id},
    )
    json_record.write_signed(facts, sized.to_json(*IN_FACTS))
    json_record.write(identity, installed_as.to_json(*BuildIdentity.ORDER))


def describe_running(recipe: PrebuiltRecipe, names: BuildIdentity, install: Path, facts: Path, identity: Path) -> None:
    """Write the records of a build that already runs: its release is known, its program is not."""
    install.mkdir(parents=True, exist_ok=True)
    (install / RELEASE_FILE).write_text(f"{names.release}\n", encoding="utf-8")
    declared = BuildFacts(stage=recipe.stage, recipe=recipe.dump(), told={}).of_program(names)
    json_record.write_signed(facts, declared.to_json(*IN_FACTS, "install_bytes", "told"))
    json_record.write(identity, names.to_json("server", "family", "build", "release", "build_id", "sha256", "running"))


def keep(file: Path, target: Path) -> None:
    """Put a file or folder into the install tree: as hard links if the file system allows it, else as a copy.

    Programs are copied and made executable, because archives do not always have that mode.
    """
    if file.is_dir():
        shutil.copytree(file, target, symlinks=True, copy_function=_hard_link)
    elif target.parent.name == "bin":
        shutil.copy2(file, target)
        target.chmod(0o755)
    else:
        _hard_link(file, target)


def _hard_link(file: str | Path, target: str | Path) -> None:
    try:
        os.link(file, target, follow_symlinks=False)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(file, target, follow_symlinks=False)


def size(path: Path) -> int:
    """Return the bytes of a file, or of the files below a folder, links not followed below it."""
    files = path.rglob("*") if path.is_dir() else [path.resolve()]
    return sum(file.stat().st_size for file in files if file.is_file() and not file.is_symlink())


def release_of(program: Path, version: str, family: Family) -> str:
    """Return the release that a server program reports. Raises ValueError if it is not of the declared version."""
    release = installed.program_release(program, family.PRODUCT)
    if not debian.in_series(release, version):
        raise ValueError(f"{program.resolve()}: is release {release}, expected {version} (key servers.*.version)")
    return release


def version_line(program: Path) -> str:
    """Return the version line of a server program, without the program's path."""
    answer = output_of([program, "--version"], environment={"LC_ALL": "C"})
    return answer.strip().removeprefix(str(program)).strip()


if __name__ == "__main__":
    entry.run(main, __doc__, "source", "install", "facts", "identity", recipe=entry.recipe(PrebuiltRecipe))
