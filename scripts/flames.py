"""Where a server's CPU time went: what perf's samples say of its functions, and how two servers differ in it."""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Of a normal distribution, for a count of samples.
Z = 1.96
# What a compiler or BOLT adds to the name of a function that it has made another copy or a part of, a library the
# version of its interface.
COPY = re.compile(
    r"(?:@@?[A-Z]+_[\d.]+| ?\[clone [^\]]*\]|\.(?:constprop|isra|part|cold|lto_priv|localalias|llvm|warm|\d+)\b|/\d+)+$"
)
Frame = tuple[str, str]  # function, module; what stands first in a stack has no module: the thread's name
Stack = tuple[Frame, ...]


@dataclass(frozen=True)
class Samples:
    """The samples of one diagnosis by stack, outermost call first; `cpu_us` is the server's CPU time a transaction."""

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
        """Return function -> samples in which it or something it called ran; once for each stack."""
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

    def _counted(self, names: Callable[[Stack], Any]) -> Counter[str]:
        found: Counter[str] = Counter()
        for stack, count in self.stacks:
            for name in names(stack):
                found[name] += count
        return found


def samples_of(diagnosis: dict[str, Any], cpu_us: float) -> Samples:
    """Return the samples of a diagnosis as perf.told writes them, functions by the name that every build gives them."""
    frames = [(COPY.sub("", name), module) for name, module in diagnosis["frames"]]
    stacks = [
        (tuple(frames[int(number)] for number in numbers.split()), count)
        for numbers, count in diagnosis["stacks"].items()
    ]
    return Samples(tuple(stacks), cpu_us)


@dataclass(frozen=True)
class Difference:
    """Microseconds of CPU a transaction that one server takes more than another; `half_us` is half the 95 % interval.

    The interval is that of counting samples alone: how one run differs from the next is not in it.
    """

    us: float
    half_us: float

    @property
    def shown(self) -> bool:
        """Tell whether the interval leaves out zero."""
        return abs(self.us) > self.half_us


def difference(ours: Samples, our_count: int, theirs: Samples, their_count: int) -> Difference:
    """Return how a count of samples differs from another's, both as time; a count varies by its square root."""
    each = [(ours.cpu_us / ours.total, our_count), (theirs.cpu_us / theirs.total, their_count)]
    spread = math.sqrt(sum(us * us * count for us, count in each))
    return Difference(ours.microseconds(our_count) - theirs.microseconds(their_count), Z * spread)
