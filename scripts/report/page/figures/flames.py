"""CPU time of a server by function and module, from perf's samples; flame graphs."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from markupsafe import Markup, escape

from scripts.lib.parts import Part
from scripts.lib.wording import count, percent

# Of a normal distribution, for a count of samples.
SIGNIFICANT_Z = 1.96
# What a compiler or BOLT adds to the name of a function that it has made another copy or a part of, a library the
# version of its interface.
CLONE_SUFFIX = re.compile(
    r"(?:@@?[A-Z]+_[\d.]+| ?\[clone [^\]]*\]|\.(?:constprop|isra|part|cold|lto_priv|localalias|llvm|warm|\d+)\b|/\d+)+$"
)
Frame = tuple[str, str]  # function, module; what stands first in a stack has no module: the thread's name
Stack = tuple[Frame, ...]


@dataclass(frozen=True)
class Samples:
    """The samples of one diagnosis by stack, outermost call first; `cpu_us` is server CPU time per transaction."""

    stacks: tuple[tuple[Stack, int], ...]
    cpu_us: float

    @cached_property
    def total(self) -> int:
        """Return the number of samples."""
        return sum(count for _, count in self.stacks)

    @cached_property
    def own(self) -> Counter[str]:
        """Return function -> samples in which it ran itself."""
        return self._counted(lambda stack: [stack[-1][0]] if len(stack) > 1 else [])

    @cached_property
    def whole(self) -> Counter[str]:
        """Return function -> samples in which it or a callee ran; recursion counts once per stack."""
        return self._counted(lambda stack: {name for name, _ in stack[1:]})

    @cached_property
    def modules(self) -> Counter[str]:
        """Return module -> samples in which its code ran."""
        return self._counted(lambda stack: [stack[-1][1]] if len(stack) > 1 else [])

    def share(self, count: int) -> float:
        """Return the share of all samples."""
        return count / self.total

    def microseconds(self, count: int) -> float:
        """Return the CPU time of a transaction that a number of samples stands for."""
        return self.cpu_us * self.share(count)

    def _counted(self, names: Callable[[Stack], Iterable[str]]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for stack, samples in self.stacks:
            for name in names(stack):
                counts[name] += samples
        return counts


@dataclass(frozen=True, slots=True)
class SampledStacks(Part):
    """The stacks of a diagnosis: numbers of their frames, outermost first, and how often each was sampled."""

    frames: list[Frame] = field(default_factory=list)
    stacks: dict[str, int] = field(default_factory=dict)


def samples_of(sampled: SampledStacks, cpu_us: float) -> Samples:
    """Return the samples of a diagnosis (`scripts.measure.engine.tracer.stack_facts`), without suffixes of clones."""
    frames = [(CLONE_SUFFIX.sub("", name), module) for name, module in sampled.frames]
    stacks = [
        (tuple(frames[int(number)] for number in numbers.split()), count) for numbers, count in sampled.stacks.items()
    ]
    return Samples(tuple(stacks), cpu_us)


@dataclass(frozen=True)
class ProfileDifference:
    """Microseconds of CPU per transaction that a server takes more than another; `half_us` is half the 95 % interval.

    The interval comes from counting samples only: it does not include how one run differs from the next.
    """

    us: float
    half_us: float

    @property
    def shown(self) -> bool:
        """Tell whether the interval leaves out zero."""
        return abs(self.us) > self.half_us


def profile_difference(samples: Samples, number: int, reference: Samples, in_reference: int) -> ProfileDifference:
    """Return the difference of two counts of samples as time; the standard error of a count is its square root."""
    counts = [(samples.cpu_us / samples.total, number), (reference.cpu_us / reference.total, in_reference)]
    spread = math.sqrt(sum(us * us * count for us, count in counts))
    return ProfileDifference(
        samples.microseconds(number) - reference.microseconds(in_reference), SIGNIFICANT_Z * spread
    )


GRAPH_WIDTH, ROW_HEIGHT = 1000, 16
NARROWEST = 2.0  # of a box, in units of which the whole graph has 1000
LETTER_WIDTH, MARGIN = 6.6, 5  # widths of one, and of what stays free beside the text of a box
LEAST_LETTERS = 3
# From here on a change of a function's time has the next stronger colour.
SHADE_STEPS = (0.0, 0.2, 0.5)
KERNEL = "kernel"


@dataclass
class Node:
    """A function at one place of the stacks."""

    frame: Frame
    count: int = 0
    callees: dict[Frame, "Node"] = field(default_factory=dict)


@dataclass(frozen=True)
class FlameBox:
    """A node at its place: `depth` counts from the bottom."""

    node: Node
    depth: int
    x: float
    width: float


def draw_flame_graph(samples: Samples, label: str, program: str, reference: Samples | None = None) -> Markup:
    """Return the flame graph of samples: callers below their callees, callees in alphabetical order.

    Boxes are coloured by module (`program` is the server's file name), or with a reference by how much more or less
    CPU time per transaction the function takes, wherever it is called from. Boxes that are too narrow are left out.
    """
    boxes = _boxes(_tree(samples), samples.total)
    height = (max(box.depth for box in boxes) + 1) * ROW_HEIGHT
    kind, more = _by_module(program), _by_change(samples, reference) if reference else None
    head = f'<svg class="flame" viewBox="0 0 {GRAPH_WIDTH} {height}" role="img" aria-label="{escape(label)}">'
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


def _boxes(root: Node, total: int) -> list[FlameBox]:
    """Yield the boxes of the tree, depth first; without recursion, since stacks may be deeper than Python's limit."""
    boxes, waiting = [], [FlameBox(root, 0, 0.0, GRAPH_WIDTH)]
    while waiting:
        box = waiting.pop()
        boxes.append(box)
        left_edge = box.x
        for frame in sorted(box.node.callees):
            callee = box.node.callees[frame]
            width = GRAPH_WIDTH * callee.count / total
            if width >= NARROWEST:
                waiting.append(FlameBox(callee, box.depth + 1, left_edge, width))
            left_edge += width
    return boxes


def _drawn(box: FlameBox, height: int, samples: Samples, kind: tuple[str, str]) -> str:
    name, module = box.node.frame
    share = f"{percent(samples.share(box.node.count))}, {count(samples.microseconds(box.node.count))} µs a transaction"
    tooltip = f"{name}{f' ({module})' if module else ''}: {share}{kind[1]}"
    top = height - (box.depth + 1) * ROW_HEIGHT
    corner = f'x="{box.x:.1f}" y="{top}" width="{box.width:.1f}" height="{ROW_HEIGHT - 1}"'
    letters = int((box.width - MARGIN) / LETTER_WIDTH)
    text = f'<text x="{box.x + 3:.1f}" y="{top + ROW_HEIGHT - 5}">{escape(_cut(name, letters))}</text>'
    written = text if letters >= LEAST_LETTERS else ""
    return f'<g class="{kind[0]}"><title>{escape(tooltip)}</title><rect {corner}/>{written}</g>'


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _by_module(program: str) -> Callable[[Node], tuple[str, str]]:
    """Return the class of a node by the module of its function."""

    def kind(node: Node) -> tuple[str, str]:
        match node.frame[1]:
            case "":
                return "thread", ""
            case module if module == KERNEL:
                return "kernel", ""
            case module:
                return ("server" if module == program else "library"), ""

    return kind


def _by_change(samples: Samples, reference: Samples) -> Callable[[Node], tuple[str, str]]:
    """Return the class of a node by the difference in its function's time, and the difference in words."""

    def kind(node: Node) -> tuple[str, str]:
        name = node.frame[0]
        if not node.frame[1]:
            return "thread", ""
        difference = profile_difference(samples, samples.whole[name], reference, reference.whole[name])
        most = max(samples.microseconds(samples.whole[name]), reference.microseconds(reference.whole[name]))
        words = f"; {change_text(difference.us)} ± {count(difference.half_us)} µs against the reference"
        if not difference.shown:
            return "same", words
        step = sum(abs(difference.us) >= share * most for share in SHADE_STEPS)
        return f"{'more' if difference.us > 0 else 'less'}{step}", words

    return kind


def change_text(value: float) -> str:
    """Return a difference with its sign."""
    return f"{'+' if value > 0 else ''}{count(value)}"
