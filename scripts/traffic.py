"""What went over a host's network interfaces, from /proc/net/dev; it is run on client hosts too (Python 3.8)."""

from __future__ import annotations

from pathlib import Path

# proc_pid_net(5): the receiver's eight fields, then the transmitter's.
FIELDS = {
    "rx_bytes": 0,
    "rx_packets": 1,
    "rx_dropped": 3,
    "tx_bytes": 8,
    "tx_packets": 9,
    "tx_dropped": 11,
}


def counters(root: Path = Path("/")) -> dict[str, dict[str, int]]:
    """Return bytes and packets by interface since boot, the loopback left out."""
    lines = (root / "proc/self/net/dev").read_text(encoding="utf-8").splitlines()[2:]
    found = {name.strip(): list(map(int, rest.split())) for name, _, rest in (line.partition(":") for line in lines)}
    return {
        name: {key: fields[place] for key, place in FIELDS.items()} for name, fields in found.items() if name != "lo"
    }


def rates(
    before: dict[str, dict[str, int]], after: dict[str, dict[str, int]], seconds: float
) -> dict[str, str | float] | None:
    """Return the interface that most packets went over, and what went over it in a second; None without interfaces.

    Of a bridge or a bond and its parts, one is counted.
    """
    moved = {name: {key: after[name][key] - before[name][key] for key in FIELDS} for name in before if name in after}
    if not moved:
        return None
    busiest = max(moved, key=lambda name: moved[name]["rx_packets"] + moved[name]["tx_packets"])
    return {"interface": busiest, **{f"{key}_per_s": moved[busiest][key] / seconds for key in FIELDS}}
