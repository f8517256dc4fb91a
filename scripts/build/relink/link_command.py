"""The link of a server as the compiler wrapper recorded it, taken apart so that its objects can have another order."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.build.compilation.compiler_calls import ARCHIVE_MEMBER, TRACED_MEMBER, CompilerCall
from scripts.lib.host.process import output_of
from scripts.lib.json_record import file_sha256

TRACE = "-Wl,--trace"
ARCHIVE, THIN_ARCHIVE, BITCODE, ELF = b"!<arch>\n", b"!<thin>\n", b"BC\xc0\xde", b"\x7fELF"
RELOCATABLE_TYPE, LITTLE_ENDIAN = 1, 1


@dataclass(frozen=True, order=True)
class Piece:
    """An object in a link: the absolute path of its file or archive, and the archive's member."""

    file: str
    member: str = ""


@dataclass(frozen=True)
class Link:
    """A link: where it runs, its objects in their order with their arguments, the arguments around them.

    `whole` are archives of the build tree that could not be taken apart.
    """

    folder: Path
    before: tuple[str, ...]
    pieces: tuple[Piece, ...]
    arguments: tuple[str, ...]
    after: tuple[str, ...]
    whole: tuple[str, ...]

    def command(self, order: Sequence[int], program: Path) -> list[str]:
        """Return the command that links `program` from the objects in an order."""
        return with_output([*self.before, *(self.arguments[number] for number in order), *self.after], program)


def server_link(calls: Iterable[CompilerCall], build: Path, program: Path) -> CompilerCall:
    """Return the call that linked an installed program. Raises ValueError unless there is one such call."""
    sought = file_sha256(program)
    links = [call for call in calls if call.links and (build / call.unit).is_file()]
    found = {
        call.arguments: call
        for call in links
        if (build / call.unit).stat().st_size == program.stat().st_size and file_sha256(build / call.unit) == sought
    }
    if len(found) != 1:
        raise ValueError(f"{program}: {len(found)} recorded links made it, expected 1")
    return next(iter(found.values()))


def with_output(arguments: Sequence[str], program: Path) -> list[str]:
    """Return a link's arguments with another output. Raises ValueError when they name none."""
    places = [place for place, argument in enumerate(arguments) if argument == "-o"]
    if not places:
        raise ValueError(f"{arguments[0]}: the recorded link has no -o, expected the server's program after it")
    changed = list(arguments)
    changed[places[-1] + 1] = str(program)
    return changed


def traced_pieces(trace: str, folder: Path) -> list[Piece]:
    """Return the pieces in a linker's trace, in which each member of an archive has a line of its own."""
    return [
        _piece(folder, member["archive"], member["member"]) if (member := TRACED_MEMBER.match(line)) else
        _piece(folder, line) for line in trace.splitlines()
    ]  # fmt: skip


def mapped_piece(name: str, folder: Path) -> Piece:
    """Return the piece that a linker's map names."""
    member = ARCHIVE_MEMBER.match(name)
    return _piece(folder, member["archive"], member["member"]) if member else _piece(folder, name)


def recorded_pieces(call: CompilerCall, build: Path) -> list[Piece]:
    """Return the pieces in the record of a link, each once."""
    return [mapped_piece(name, build) for name in call.linked]


def _piece(folder: Path, file: str, member: str = "") -> Piece:
    return Piece(os.path.normpath(folder / file), member)


def take_apart(call: CompilerCall, taken: Sequence[Piece], build: Path, ar: str, scratch: Path) -> Link:
    """Return a link with the members that it took from archives of the build tree in the archives' place.

    `taken` are the pieces that the linker took in, in their order. Members are extracted below `scratch`. Archives of
    the system stay, and so do thin ones and those in which the trace leaves open which of several members of one name
    was taken. Raises ValueError when fewer than two objects can change places, CommandFailed when `ar` fails.
    """
    folder, arguments = Path(call.folder), [one for one in call.arguments if one != TRACE]
    places = dict(_places(arguments, folder, build))
    objects = {file: arguments[place] for place, file in places.items() if Piece(file) in taken and is_object(file)}
    archives = dict.fromkeys(file for file in places.values() if _head(file, 8) in (ARCHIVE, THIN_ARCHIVE))
    members = {file: [each.member for each in taken if each.file == file and each.member] for file in archives}
    extracted = {
        file: _extracted(ar, file, used, scratch / str(number))
        for number, (file, used) in enumerate(members.items())
        if used and is_clear(ar, file, used)
    }
    queues = {Piece(file, name): iter(paths) for file, found in extracted.items() for name, paths in found.items()}
    pieces = [each for each in taken if each in queues or (each.file in objects and not each.member)]
    spelt = [str(next(queues[each])) if each.member else objects[each.file] for each in pieces]
    gone = {place for place, file in places.items() if file in objects or file in extracted}
    if len(pieces) < 2:
        raise ValueError(f"{call.unit}: linked from {len(pieces)} objects of the build tree, expected at least 2")
    first = min(gone)
    before = tuple(arguments[:first])
    after = tuple(argument for place, argument in enumerate(arguments) if place > first and place not in gone)
    whole = tuple(file for file, used in members.items() if used and file not in extracted)
    return Link(folder, before, tuple(pieces), tuple(spelt), after, whole)


def _places(arguments: Sequence[str], folder: Path, build: Path) -> Iterator[tuple[int, str]]:
    """Yield (place, absolute path) of the arguments that are files of the build tree, but for the output."""
    for place, argument in enumerate(arguments):
        if argument.startswith("@"):
            raise ValueError(f"{argument}: the recorded link has its arguments in a file, expected them in its command")
        path = os.path.normpath(folder / argument)
        if arguments[place - 1] != "-o" and path.startswith(f"{build}/") and Path(path).is_file():
            yield place, path


def is_object(file: str) -> bool:
    """Return whether a file is an object: a relocatable ELF file, or LLVM's bitcode."""
    head = _head(file, 18)
    if not head.startswith(ELF):
        return head.startswith(BITCODE)
    return int.from_bytes(head[16:18], "little" if head[5] == LITTLE_ENDIAN else "big") == RELOCATABLE_TYPE


def _head(file: str, size: int) -> bytes:
    with Path(file).open("rb") as stream:
        return stream.read(size)


def is_clear(ar: str, archive: str, used: Sequence[str]) -> bool:
    """Return whether an archive holds its members, and their names state which of them were `used`."""
    if _head(archive, 8) == THIN_ARCHIVE:
        return False
    held, taken = Counter(output_of([ar, "t", archive]).splitlines()), Counter(used)
    return all(count in (1, taken[name]) for name, count in held.items() if name in taken)


def _extracted(ar: str, archive: str, used: Sequence[str], folder: Path) -> dict[str, list[Path]]:
    """Return name -> files of the members of an archive; each of several members of one name has its own folder."""
    counts, found = Counter(used), {}
    single = [name for name, count in counts.items() if count == 1]
    folder.mkdir(parents=True)
    if single:
        output_of([ar, "x", archive, *single], cwd=folder)
        found = {name: [folder / name] for name in single}
    for name in counts.keys() - set(single):
        found[name] = [folder / str(number) / name for number in range(1, counts[name] + 1)]
        for number, path in enumerate(found[name], start=1):
            path.parent.mkdir(exist_ok=True)
            output_of([ar, "xN", str(number), archive, name], cwd=path.parent)
    return found
