"""Values of a run's record: by dotted path, and those that several of its fields give."""

from typing import Any


def fact(facts: dict[str, Any], where: str) -> Any:
    """Return the value at a dotted path, None when it or anything on the way is missing."""
    value: Any = facts
    for key in where.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def cpu_counts(facts: dict[str, Any]) -> dict[str, int | None]:
    """Return how many CPUs server, load generator and both could run on; None if the record does not have it."""
    cpus = [fact(facts, f"placement.{who}_cpus") for who in ("server", "client")]
    if None in cpus:
        return dict.fromkeys(("n_server_cpus", "n_client_cpus", "n_shared_cpus"))
    server, client = map(set, cpus)
    if there := fact(facts, "client_host.cpus"):
        return {"n_server_cpus": len(server), "n_client_cpus": len(there), "n_shared_cpus": 0}
    return {"n_server_cpus": len(server), "n_client_cpus": len(client), "n_shared_cpus": len(server & client)}


def generator_use(facts: dict[str, Any]) -> dict[str, Any]:
    """Return sysbench's CPU seconds on the host it ran on, and that host's boot; None if the record has neither."""
    there = bool(facts.get("client_host"))
    names = [f"client_host.cpu.{kind}_s" if there else f"cpu.client_{kind}_s" for kind in ("user", "system")]
    seconds = [fact(facts, name) for name in names]
    boot = fact(facts, "client_host.host.boot_id" if there else "host.boot_id")
    return {"generator_cpu_s": None if None in seconds else sum(seconds), "generator_boot_id": boot}
