"""What is said about two studies, composed by rules."""

from scripts.metrics import TPS
from scripts.study_cells import Cells, whole_speedup
from scripts.unpaired import Estimate
from scripts.wording import NARROW, interval, listing, missing, plural, times


def headline(cells: Cells) -> str:
    """Return whether a ratio of the two may be read as an effect; it never is a speedup without interleaving."""
    if not any(cells.shared.values()):
        return "A and B have no cell in common: no value of one is set against a value of the other."
    differing = cells.refusals.kinds()
    if differing:
        return f"No speedup of B over A is given: they differ in {listing(differing)}."
    return (
        "Difference, not interleaved: host, sysbench and settings are the same, but A and B were measured one after "
        "the other, so whatever changed in between is in every ratio."
    )


def sentences(cells: Cells) -> list[str]:
    """Return a sentence a variant on transactions per second: over A where that is not refused, and the speedups."""
    said = [_change(cells, name) for name in cells.shared] + [_speedups(cells, name) for name in cells.shared]
    return [sentence for sentence in said if sentence]


def _change(cells: Cells, variant: str) -> str:
    shared = cells.shared[variant]
    if not shared or any(cells.refusals.of(variant, workload) for workload, _ in shared):
        return ""
    found = cells.compared(variant, TPS.name, shared).change
    return f"{variant}: B gave {measured(found)} the transactions per second of A, over {plural(len(shared), 'cell')}."


def _speedups(cells: Cells, variant: str) -> str:
    references = [each.study["reference"] for each in (cells.a, cells.b)]
    shared = cells.shared[variant]
    if variant in references:
        return ""
    if not shared:
        found = [whole_speedup(each, variant, TPS.name) for each in (cells.a, cells.b)]
        sides = zip(found, references, ("A", "B"), strict=True)
        told = listing([f"{measured(one)} that of {name} in {side}" for one, name, side in sides])
        own = "each over all its own cells: other loads, so the two are not divided"
        return f"{variant} gave {told} transactions per second, {own}."
    found = cells.compared(variant, TPS.name, shared)
    told = f"{variant} gave {measured(found.speedup_a)} the transactions per second of {references[0]} in A and "
    told += f"{measured(found.speedup_b)} those of {references[1]} in B, over {plural(len(shared), 'cell')} both have"
    if not cells.one_reference:
        return f"{told}: other references, so the two are not divided."
    loads = [change.what for workload, _ in shared for change in cells.refusals.load(variant, workload)]
    beside = f", though {listing(list(dict.fromkeys(loads)))} differ" if loads else ""
    return f"{told}; B's speedup is {measured(found.relative)} A's{beside}."


def measured(found: Estimate) -> str:
    """Write an estimate with its interval: `1.44 × (95 % interval 1.39–1.49)`."""
    if missing(found.low):
        return f"{times(found.ratio)} (no interval: {plural(found.n, 'repetition')})"
    return f"{times(found.ratio)} (95{NARROW}% interval {interval(*found.bounds)})"
