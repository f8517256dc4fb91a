"""The link of a server as the compiler wrapper recorded it, taken apart so that its objects can have another order."""

import os
import re
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

    `intact` are archives of the build tree that could not be taken apart.
    """

    folder: Path
    before: tuple[str, ...]
    pieces: tuple[Piece, ...]
    arguments: tuple[str, ...]
    after: tuple[str, ...]
    intact: tuple[str, ...]

    def command(self, order: Sequence[int], program: Path) -> list[str]:
        """Return the command that links `program` from the objects in an order."""
        return with_output([*self.before, *(self.arguments[number] for number in order), *self.after], program)


def server_link(calls: Iterable[CompilerCall], build: Path, program: Path) -> CompilerCall:
    """Return the call that linked an installed program. Raises ValueError unless there is one such call."""
    sought = file_sha256(program)
    links = [call for call in calls if call.links and (build / call.unit).is_file()]
    by_arguments = {
        call.arguments: call
        for call in links
        if (build / call.unit).stat().st_size == program.stat().st_size and file_sha256(build / call.unit) == sought
    }
    if len(by_arguments) != 1:
        raise ValueError(f"{program}: {len(by_arguments)} recorded links made it, expected 1")
    return next(iter(by_arguments.values()))


def with_output(arguments: Sequence[str], program: Path) -> list[str]:
    """Return a link's arguments with another output. Raises ValueError when they name none."""
    if "-o" not in arguments:
        raise ValueError(f"{arguments[0]}: the recorded link has no -o, expected the server's program after it")
    output = len(arguments) - [*reversed(arguments)].index("-o")
    return [*arguments[:output], str(program), *arguments[output + 1 :]]


def traced_pieces(trace: str, folder: Path) -> list[Piece]:
    """Return the pieces in a linker's trace, in which each member of an archive has a line of its own."""
    return [_piece(TRACED_MEMBER, line, folder) for line in trace.splitlines()]


def mapped_piece(name: str, folder: Path) -> Piece:
    """Return the piece that a linker's map, or the record of a link, names."""
    return _piece(ARCHIVE_MEMBER, name, folder)


def _piece(of_archive: re.Pattern[str], name: str, folder: Path) -> Piece:
    file, member = match.group("archive", "member") if (match := of_archive.match(name)) else (name, "")
    return Piece(os.path.normpath(folder / file), member)


def take_apart(call: CompilerCall, used: Sequence[Piece], build: Path, ar: str, scratch: Path) -> Link:
    """Return a link with the members that it took from archives of the build tree in the archives' place.

    `used` are the pieces that the linker took in, in their order. Members are extracted below `scratch`. Archives of
    the system stay, and so do thin ones and those in which the trace leaves open which of several members of one name
    was used. Raises ValueError when fewer than two objects can change places, CommandFailed when `ar` fails.
    """
    folder, arguments = Path(call.folder), [argument for argument in call.arguments if argument != TRACE]
    files = dict(_files(arguments, folder, build))
    objects = {file: arguments[index] for index, file in files.items() if Piece(file) in used and is_object(file)}
    archives = dict.fromkeys(file for file in files.values() if _head(file, 8) in (ARCHIVE, THIN_ARCHIVE))
    members = {file: [piece.member for piece in used if piece.file == file and piece.member] for file in archives}
    extracted = {
        file: _extracted(ar, file, names, scratch / str(number))
        for number, (file, names) in enumerate(members.items())
        if names and is_clear(ar, file, names)
    }
    queues = {Piece(file, name): iter(paths) for file, copies in extracted.items() for name, paths in copies.items()}
    pieces = [piece for piece in used if piece in queues or (piece.file in objects and not piece.member)]
    spelt = [str(next(queues[piece])) if piece.member else objects[piece.file] for piece in pieces]
    gone = {index for index, file in files.items() if file in objects or file in extracted}
    if len(pieces) < 2:
        raise ValueError(f"{call.unit}: linked from {len(pieces)} objects of the build tree, expected at least 2")
    first = min(gone)
    after = tuple(argument for index, argument in enumerate(arguments) if index > first and index not in gone)
    intact = tuple(file for file, names in members.items() if names and file not in extracted)
    return Link(folder, tuple(arguments[:first]), tuple(pieces), tuple(spelt), after, intact)


def _files(arguments: Sequence[str], folder: Path, build: Path) -> Iterator[tuple[int, str]]:
    """Yield (index, absolute path) of the arguments that are files of the build tree, but for the output."""
    for index, argument in enumerate(arguments):
        if argument.startswith("@"):
            raise ValueError(f"{argument}: the recorded link has its arguments in a file, expected them in its command")
        path = os.path.normpath(folder / argument)
        if arguments[index - 1] != "-o" and path.startswith(f"{build}/") and Path(path).is_file():
            yield index, path


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
    in_archive, counts = Counter(output_of([ar, "t", archive]).splitlines()), Counter(used)
    return all(count in (1, counts[name]) for name, count in in_archive.items() if name in counts)


def _extracted(ar: str, archive: str, used: Sequence[str], folder: Path) -> dict[str, list[Path]]:
    """Return name -> files of the members of an archive; each of several members of one name has its own folder."""
    counts, files = Counter(used), {}
    single = [name for name, count in counts.items() if count == 1]
    folder.mkdir(parents=True)
    if single:
        output_of([ar, "x", archive, *single], cwd=folder)
        files = {name: [folder / name] for name in single}
    for name in counts.keys() - set(single):
        files[name] = [folder / str(number) / name for number in range(1, counts[name] + 1)]
        for number, path in enumerate(files[name], start=1):
            path.parent.mkdir(exist_ok=True)
            output_of([ar, "xN", str(number), archive, name], cwd=path.parent)
    return files
