"""What the columns of one run hold that its record does not hold as such."""

from typing import Any


def fact(facts: dict[str, Any], where: str) -> Any:
    """Return the value at a dotted path, None when it or anything on the way is missing."""
    value: Any = facts
    for key in where.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _sum(*terms: float | None) -> float | None:
    return None if any(term is None for term in terms) else sum(terms)  # type: ignore[arg-type]


def per_transaction_us(seconds: float | None, transactions: int | None) -> float | None:
    """Return microseconds a transaction; None when either is missing or there was no transaction."""
    return seconds / transactions * 1e6 if seconds is not None and transactions else None


def derived(row: dict[str, Any]) -> dict[str, float | None]:
    """Return the columns computed from others of the same run: CPU per transaction in µs, share of steal."""
    user_s, system_s, count = row["server_user_s"], row["server_system_s"], row["transactions"]
    host_s = _sum(row["host_user_s"], row["host_system_s"], row["host_irq_s"])
    client_s = _sum(row["client_user_s"], row["client_system_s"])
    kernel_s = None if host_s is None or client_s is None else host_s - client_s
    capacity_s = row["cpus"] * row["duration_s"] if row["cpus"] and row["duration_s"] else None
    steal_s = row["host_steal_s"]
    return {
        "cpu_us_per_tx": per_transaction_us(_sum(user_s, system_s), count),
        "cpu_user_us_per_tx": per_transaction_us(user_s, count),
        "cpu_system_us_per_tx": per_transaction_us(system_s, count),
        "host_cpu_us_per_tx": per_transaction_us(kernel_s, count),
        "steal_share": None if capacity_s is None or steal_s is None else steal_s / capacity_s,
    }


def placed(facts: dict[str, Any]) -> dict[str, int | None]:
    """Return how many CPUs server, load generator and both could run on; None when the run does not tell."""
    cpus = [fact(facts, f"placement.{who}_cpus") for who in ("server", "client")]
    if None in cpus:
        return dict.fromkeys(("n_server_cpus", "n_client_cpus", "n_shared_cpus"))
    server, client = map(set, cpus)
    if there := fact(facts, "client_host.cpus"):
        return {"n_server_cpus": len(server), "n_client_cpus": len(there), "n_shared_cpus": 0}
    return {"n_server_cpus": len(server), "n_client_cpus": len(client), "n_shared_cpus": len(server & client)}


def generated(facts: dict[str, Any]) -> dict[str, Any]:
    """Return sysbench's CPU seconds on the host it ran on, and that host's boot; None when the run does not tell."""
    there = bool(facts.get("client_host"))
    names = [f"client_host.cpu.{kind}_s" if there else f"cpu.client_{kind}_s" for kind in ("user", "system")]
    boot = fact(facts, "client_host.host.boot_id" if there else "host.boot_id")
    return {"generator_cpu_s": _sum(*(fact(facts, name) for name in names)), "generator_boot_id": boot}
