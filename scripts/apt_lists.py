"""Lay a private configuration over the user's apt: its package lists with `deb-src` in place of `deb`.

Both of apt's formats are rewritten, one-line (*.list) and deb822 (*.sources), keeping keys and options; nothing of the
system's is edited.
"""

import re
import shutil
import subprocess
from pathlib import Path

CDROM = re.compile(r"^\s*cdrom:", re.IGNORECASE)


def source_line(line: str) -> str | None:
    """Turn a line of a *.list file into its deb-src line; None for comments, CD-ROMs and blanks."""
    found = re.match(r"\s*deb(?:-src)?\s+(?:\[(?P<options>[^]]*)\]\s*)?(?P<rest>[^#]+)", line)
    if not found or CDROM.match(found["rest"]):
        return None
    kept = [option for option in (found["options"] or "").split() if source_option(option.split("=")[0])]
    options = f"[{' '.join(kept)}] " if kept else ""
    return f"deb-src {options}{found['rest'].strip()}"


def source_option(name: str) -> bool:
    """Tell whether an option of an apt source may stay: not those that would turn signature checks off."""
    return not name.lower().rstrip("+-").startswith(("trusted", "allow-"))


def source_list(text: str) -> str:
    """Turn a one-line-style *.list file into one of deb-src lines, each once."""
    lines = dict.fromkeys(line for line in map(source_line, text.splitlines()) if line)
    return "".join(f"{line}\n" for line in lines)


def source_stanza(stanza: str) -> str | None:
    """Turn one deb822 stanza into its deb-src form; None for CD-ROMs and stanzas without Types."""
    kept, keep, has_types = [], True, False
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if not line[:1].isspace():
            name, _, value = line.partition(":")
            keep = source_option(name)
            if name.lower() == "types":
                line, has_types = "Types: deb-src", True
            if name.lower() == "uris" and CDROM.match(value):
                return None
        if keep:
            kept.append(line)
    return "\n".join(kept) + "\n" if has_types else None


def source_deb822(text: str) -> str:
    """Turn a deb822-style *.sources file into one of deb-src stanzas, each once."""
    stanzas = dict.fromkeys(map(source_stanza, re.split(r"\n[ \t]*\n", text)))
    return "\n".join(stanza for stanza in stanzas if stanza)


def system_lists() -> tuple[Path, Path]:
    """Return the (sources.list, sources.list.d) that the user's apt reads."""
    argv = ["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"]
    text = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^(\w+)='(.*)'$", text, re.MULTILINE))
    return Path(found["LIST"]), Path(found["PARTS"])


def write_lists(system_list: Path, system_parts: Path, parts: Path) -> int:
    """Write deb-src copies of the system's package lists into `parts`; return how many hold a source."""
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    named = sorted(system_parts.iterdir()) if system_parts.is_dir() else []
    count = 0
    for file in [system_list, *named]:
        convert = {".list": source_list, ".sources": source_deb822}.get(file.suffix)
        if not convert or not file.is_file():
            continue
        if text := convert(file.read_text(encoding="utf-8", errors="surrogateescape")):
            (parts / file.name).write_text(text, encoding="utf-8", errors="surrogateescape")
            count += 1
    return count


def write_configuration(folder: Path) -> Path:
    """Write the private apt configuration below `folder`; return its file, for apt's `-c`."""
    system_list, system_parts = system_lists()
    if not write_lists(system_list, system_parts, folder / "parts"):
        raise FileNotFoundError(f"no usable entry in {system_list} or {system_parts}: apt has nowhere to fetch from")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    configuration = folder / "apt.conf"
    configuration.write_text(
        # the hooks clean the system's caches, which is not ours to do
        "#clear APT::Update::Post-Invoke;\n"
        "#clear APT::Update::Post-Invoke-Success;\n"
        'Dir::Etc::sourcelist "/dev/null";\n'
        f'Dir::Etc::sourceparts "{folder}/parts";\n'
        f'Dir::State::lists "{folder}/lists";\n'
        f'Dir::Cache "{folder}/cache";\n'
        'APT::Get::AllowUnauthenticated "false";\n'
        'Acquire::AllowInsecureRepositories "false";\n'
        'Acquire::AllowDowngradeToInsecureRepositories "false";\n'
        'APT::Status-Fd "1";\n',
        encoding="utf-8",
    )
    return configuration
