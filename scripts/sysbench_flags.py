"""Which Lua script a workload means."""

from pathlib import Path

OURS = Path(__file__).resolve().parent.parent / "workloads"


def script_path(script: str) -> str:
    """Return the path of a script of ours, else the name for sysbench to find among its own."""
    ours = OURS / script
    return str(ours) if ours.is_file() else script
