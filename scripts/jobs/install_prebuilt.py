"""Use a ready-made server: make its install tree, its identity, and facts on its compilation read from the program."""

import os
import shutil
from pathlib import Path

from scripts.build.compilation import binary
from scripts.build.sources import debian, installed, kinds
from scripts.lib import json_record
from scripts.lib.host import entry
from scripts.lib.host.process import output_of
from scripts.lib.recipe_models import PrebuiltRecipe
from scripts.measure.loadgen import reached_servers
from scripts.measure.servers import families
from scripts.measure.servers.families.family import RELEASE_FILE, Family

# Facts that are known only if the workflow compiled the server.
UNKNOWN = (
    *("toolchain", "flags", "configure_command", "compile_arguments", "link_arguments", "steps_s", "wall_s", "cpu_s"),
    *("peak_rss_mib", "units_compiled", "threads"),
)


def main(recipe: PrebuiltRecipe, source: Path, install: Path, facts: Path, identity: Path, log: Path) -> None:
    """Input: `source`, the record of a source. Outputs: `install`, then `facts`, then `identity`.

    An unpacked distribution is hard-linked or copied, so that it does not change with its source; a server installed on
    this machine is linked symbolically. Raises ValueError if there is no server of the family, or if its release is not
    the declared one.
    """
    family, described = families.of(recipe.family), json_record.read(source)
    if described["kind"] == kinds.RUNNING:
        reached_servers.describe_build(recipe, described, install, facts, identity, UNKNOWN)
        return
    here = described["kind"] == "installed"
    parts = family.layout(Path(described["path"]) if here else source.parent.absolute() / "tree")
    shutil.rmtree(install, ignore_errors=True)
    for name, place in parts.items():
        (install / name).parent.mkdir(parents=True, exist_ok=True)
        (link if here else keep)(place, install / name)
    program = install / family.SERVER
    release = release_of(program, recipe.source.version, family)
    (install / RELEASE_FILE).write_text(f"{release}\n", encoding="utf-8")
    names = recipe.names(release)
    known = binary.identify(program)
    sizes = {**binary.section_sizes(program, install), "install_bytes": sum(map(size, parts.values()))}
    shown = {**names, "stage": recipe.stage, "source_sha256": described["tree_sha256"], "server_file": family.SERVER}
    program_facts = {
        "version": version_line(program),
        **binary.binary_facts(program),
        "has_build_id": known["build_id"] is not None,
    }
    json_record.write_signed(
        facts, {**shown, "recipe": recipe.dump(), **dict.fromkeys(UNKNOWN), **known, **sizes, "told": program_facts}
    )
    origin = str(parts[family.SERVER].resolve()) if here else described["origin"]
    json_record.write(identity, {**names, **known, "server_file": family.SERVER, "source_path": origin})


def link(place: Path, target: Path) -> None:
    """Link `target` symbolically to a file or folder of this machine."""
    target.symlink_to(place)


def keep(place: Path, target: Path) -> None:
    """Put a file or folder into the install tree: as hard links if the file system allows it, else as a copy.

    Programs are copied and made executable, because archives do not always have that mode.
    """
    if place.is_dir():
        shutil.copytree(place, target, symlinks=True, copy_function=_hard_link)
    elif target.parent.name == "bin":
        shutil.copy2(place, target)
        target.chmod(0o755)
    else:
        _hard_link(place, target)


def _hard_link(place: str | Path, target: str | Path) -> None:
    try:
        os.link(place, target, follow_symlinks=False)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(place, target, follow_symlinks=False)


def size(place: Path) -> int:
    """Return the bytes of a file, or of the files below a folder, links not followed below it."""
    files = place.rglob("*") if place.is_dir() else [place.resolve()]
    return sum(path.stat().st_size for path in files if path.is_file() and not path.is_symlink())


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
