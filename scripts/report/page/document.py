"""A page as data: sections made of a few kinds of blocks. Each kind is drawn by the partial of its name in blocks/."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from scripts.report.page.finding import Finding


class PageBlock:
    """A part of a page; `kind` names the partial that draws it."""

    @property
    def kind(self) -> str:
        """The name of the partial."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Prose(PageBlock):
    """A paragraph; `style` is quiet, worse, label or another class of the style sheet.

    `variant` puts the colour of a variant before the text.
    """

    text: str
    style: str = ""
    variant: str = ""


@dataclass(frozen=True)
class Heading(PageBlock):
    """A heading inside a section; `variant` puts the colour of a variant before it."""

    text: str
    level: int = 3
    id: str = ""
    variant: str = ""


@dataclass(frozen=True)
class Items(PageBlock):
    """A list of sentences."""

    texts: Sequence[str]
    style: str = "reasons"


@dataclass(frozen=True)
class Verbatim(PageBlock):
    """A text as it is: a command, a file, a log. `label` stands above it."""

    text: str
    label: str = ""


@dataclass(frozen=True)
class Facts(PageBlock):
    """Names and values, side by side."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Definitions(PageBlock):
    """Terms and their meanings."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Figures(PageBlock):
    """Drawings as SVG; `style` is figures (several in a row), wide, time, flames or answer (wide and narrow)."""

    drawings: Sequence[Markup]
    style: str = "figures"
    caption: str = ""


@dataclass(frozen=True)
class Legend(PageBlock):
    """What the colours of a flame graph stand for: (class of the style sheet, words)."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Cell:
    """One field: its main text, smaller lines under it, a state (good, bad, hole or empty), a hint on hovering.

    `variant` puts the colour of a variant before the text.
    """

    text: str
    notes: tuple[str, ...] = ()
    state: str = ""
    hint: str = ""
    variant: str = ""
    is_code: bool = False

    @property
    def line(self) -> str:
        """Text and notes in one line."""
        return f"{self.text} ({', '.join(self.notes)})" if self.notes else self.text


def variant_cell(name: str) -> Cell:
    """Return the field that names a variant, with its colour."""
    return Cell(name, variant=name)


@dataclass(frozen=True)
class Head:
    """The head of a column; the fields of a column of words stand at the left."""

    text: str
    is_words: bool = False
    variant: str = ""


@dataclass(frozen=True)
class TableRow:
    """One row; `style` is a class of the style sheet."""

    cells: tuple[Cell, ...]
    style: str = ""


@dataclass(frozen=True)
class Table(PageBlock):
    """A table for page, summary and terminal; the first `labels` fields of a row name it."""

    heads: tuple[Head, ...]
    rows: tuple[TableRow, ...]
    style: str = "values"
    caption: str = ""
    labels: int = 1

    def __bool__(self) -> bool:
        """Return whether the table has a row."""
        return bool(self.rows)

    def markdown(self, escaped: Callable[[str], str]) -> str:
        """Return the table in Markdown, each text through `escaped`."""
        lines = [[head.text for head in self.heads], *([cell.line for cell in row.cells] for row in self.rows)]
        texts = [f"| {' | '.join(map(escaped, line))} |" for line in lines]
        return "\n".join([texts[0], f"|{'---|' * len(self.heads)}", *texts[1:]])

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table in columns, for a terminal."""
        table = [[head.text for head in self.heads], *([cell.line for cell in row.cells] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row in table:
            yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def word_heads(*heads: str) -> tuple[Head, ...]:
    """Return the heads of columns of words."""
    return tuple(Head(text, is_words=True) for text in heads)


def variant_heads(names: Iterable[str]) -> tuple[Head, ...]:
    """Return the heads of columns that each hold a variant's figures, with its colour."""
    return tuple(Head(name, variant=name) for name in names)


def table_row(*cells: str | Cell, style: str = "") -> TableRow:
    """Return a row; a text is a field without notes."""
    return TableRow(tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells), style)


def grid(heads: Sequence[str], rows: Iterable[Sequence[str | Cell]], n_words: int = 1) -> Table:
    """Return a plain table, of whose columns the first `n_words` hold words."""
    named = (*word_heads(*heads[:n_words]), *map(Head, heads[n_words:]))
    return Table(named, tuple(table_row(*fields) for fields in rows), style="", labels=0)


def sided(heads: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Table:
    """Return a table of properties, with one column of words per thing that has them."""
    return Table(word_heads(*heads), tuple(table_row(name, *values) for name, values in rows), style="sided")


@dataclass(frozen=True)
class Fold(PageBlock):
    """Blocks under a line that unfolds them."""

    summary: str
    blocks: Sequence[PageBlock]
    id: str = ""
    is_open: bool = False
    style: str = ""


@dataclass(frozen=True)
class AnswerBox(PageBlock):
    """Paragraphs beside a bar in the colour of a variant, grey without one."""

    blocks: Sequence[PageBlock]
    variant: str = ""


@dataclass(frozen=True)
class RunView:
    """One run: the fields of its row, then the details that it unfolds to."""

    fields: tuple[str, ...]
    is_ok: bool
    reason: str
    json_link: str
    text_link: str
    lines: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    spark: str = ""
    spark_top: str = ""


@dataclass(frozen=True)
class FindingList(PageBlock):
    """Findings with their remedies."""

    findings: Sequence[Finding]


@dataclass(frozen=True)
class RunList(PageBlock):
    """Every run as a row that unfolds; `style` is logs for imported ones."""

    heads: tuple[str, ...]
    runs: Sequence[RunView]
    style: str = ""


@dataclass(frozen=True)
class Partial(PageBlock):
    """Fixed text with markup, a partial of its own: `name` without the ending, filled with `values`."""

    name: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """A part of the page with a title; `nav` is its name in the navigation, empty for one that is not in it."""

    id: str
    title: str
    blocks: Sequence[PageBlock]
    nav: str = ""
    is_folded: bool = False


@dataclass(frozen=True)
class Page:
    """A whole page: its first screen, and its sections in order."""

    title: str
    header: Sequence[PageBlock]
    sections: Sequence[Section]
    colours: Mapping[str, str]
    has_script: bool = True
