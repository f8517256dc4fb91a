"""A flame graph as SVG: each box a function, as wide as the share of samples in which it or what it called ran."""

from collections.abc import Callable
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from scripts.flames import Frame, Samples, difference
from scripts.wording import count, percent

WIDTH, ROW = 1000, 16
NARROWEST = 2.0  # of a box, in units of which the whole graph has 1000
LETTER, MARGIN = 6.6, 5  # widths of one, and of what stays free beside the text of a box
LEAST_LETTERS = 3
# From here on a change of a function's time has the next stronger colour.
STEPS = (0.0, 0.2, 0.5)
KERNEL = "kernel"


@dataclass
class Node:
    """A function at one place of the stacks."""

    frame: Frame
    count: int = 0
    callees: dict[Frame, "Node"] = field(default_factory=dict)


@dataclass(frozen=True)
class Box:
    """A node at its place: `depth` counts from the bottom."""

    node: Node
    depth: int
    left: float
    width: float


def draw(samples: Samples, label: str, program: str, reference: Samples | None = None) -> Markup:
    """Return the flame graph of samples, callers below what they call, the callees of one in alphabetical order.

    Boxes are coloured by whose code runs (`program` is the server's file name), or with a reference by how much more or
    less CPU time a transaction takes in that function, wherever it is called from. What is too narrow is left out.
    """
    boxes = _boxes(_tree(samples), samples.total)
    height = (max(box.depth for box in boxes) + 1) * ROW
    kind, more = _by_module(program), _by_change(samples, reference) if reference else None
    head = f'<svg class="flame" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">'
    drawn = (_drawn(box, height, samples, more(box.node) if more else kind(box.node)) for box in boxes)
    return Markup("".join([head, *drawn, "</svg>"]))


def _tree(samples: Samples) -> Node:
    root = Node(("all", ""))
    for stack, number in samples.stacks:
        root.count += number
        node = root
        for frame in stack:
            node = node.callees.setdefault(frame, Node(frame))
            node.count += number
    return root


def _boxes(root: Node, total: int) -> list[Box]:
    """Lay the tree out, depth first, without recursion: stacks may be deeper than Python's."""
    found, waiting = [], [Box(root, 0, 0.0, WIDTH)]
    while waiting:
        box = waiting.pop()
        found.append(box)
        left = box.left
        for frame in sorted(box.node.callees):
            callee = box.node.callees[frame]
            width = WIDTH * callee.count / total
            if width >= NARROWEST:
                waiting.append(Box(callee, box.depth + 1, left, width))
            left += width
    return found


def _drawn(box: Box, height: int, samples: Samples, kind: tuple[str, str]) -> str:
    name, module = box.node.frame
    share = f"{percent(samples.share(box.node.count))}, {count(samples.microseconds(box.node.count))} µs a transaction"
    told = f"{name}{f' ({module})' if module else ''}: {share}{kind[1]}"
    top = height - (box.depth + 1) * ROW
    place = f'x="{box.left:.1f}" y="{top}" width="{box.width:.1f}" height="{ROW - 1}"'
    letters = int((box.width - MARGIN) / LETTER)
    text = f'<text x="{box.left + 3:.1f}" y="{top + ROW - 5}">{escape(_cut(name, letters))}</text>'
    written = text if letters >= LEAST_LETTERS else ""
    return f'<g class="{kind[0]}"><title>{escape(told)}</title><rect {place}/>{written}</g>'


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _by_module(program: str) -> Callable[[Node], tuple[str, str]]:
    """Return the class of a node by whose code it is."""

    def kind(node: Node) -> tuple[str, str]:
        match node.frame[1]:
            case "":
                return "thread", ""
            case module if module == KERNEL:
                return "kernel", ""
            case module:
                return ("server" if module == program else "library"), ""

    return kind


def _by_change(ours: Samples, theirs: Samples) -> Callable[[Node], tuple[str, str]]:
    """Return the class of a node by how its function's time differs, and that in words."""

    def kind(node: Node) -> tuple[str, str]:
        name = node.frame[0]
        if not node.frame[1]:
            return "thread", ""
        found = difference(ours, ours.whole[name], theirs, theirs.whole[name])
        most = max(ours.microseconds(ours.whole[name]), theirs.microseconds(theirs.whole[name]))
        words = f"; {change(found.us)} ± {count(found.half_us)} µs against the reference"
        if not found.shown:
            return "same", words
        step = sum(abs(found.us) >= share * most for share in STEPS)
        return f"{'more' if found.us > 0 else 'less'}{step}", words

    return kind


def change(value: float) -> str:
    """Write a difference with its sign."""
    return f"{'+' if value > 0 else ''}{count(value)}"
