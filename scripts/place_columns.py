"""Columns of runs.csv on where a run's data lay, and on the way to its client host."""

SIDES = ("server", "client")
MOVED = {
    f"{direction}_{kind}_per_s": f"{kind} {word} in the window, a second"
    for kind in ("packets", "bytes")
    for direction, word in (("rx", "received"), ("tx", "sent"))
}
FSYNC = {"min": "shortest", "p50": "median", "p95": "95th percentile", "max": "longest"}

MEDIUM: dict[str, tuple[str, str]] = {
    "file_system": ("medium.file_system", "type of the file system with the data directory"),
    **{
        f"fsync_{key}_ms": (
            f"fsync_ms.{key}",
            f"time of an fsync after 4 KiB were overwritten there: {what}, milliseconds",
        )
        for key, what in FSYNC.items()
    },
}
NETWORK: dict[str, tuple[str, str]] = {
    f"{side}_{name}": (
        f"client_host.network.{side}.{name}",
        f"{what}, as the {side}'s host counted them; with a client host",
    )
    for side in SIDES
    for name, what in MOVED.items()
}
