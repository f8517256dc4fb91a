"""Which Lua script a workload means."""

from pathlib import Path

from scripts import outside_lua

OURS = Path(__file__).resolve().parent.parent / "workloads"


def script_path(script: str) -> str:
    """Return the path of a script of ours or of the user's, else the name for sysbench to find among its own."""
    ours = OURS / script
    return outside_lua.find(script) or (str(ours) if ours.is_file() else script)
