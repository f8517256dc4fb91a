"""What the page says of servers that already run: what is unknown, how they were reached, and what never restarts."""

from collections.abc import Sequence

from scripts.measure.engine.run_record import Run
from scripts.report.page.machine_section import HOST_ROWS, written_options

NO_RESTART = (
    "The servers already ran. Nothing restarts between blocks, so intervals hold for these processes and "
    "machines only: what a restart, another machine or another day would change is not in them."
)
UNKNOWN = (
    "Of the servers only what they say of themselves is known; their CPUs, builds and memory are unknown, and who else "
    "used them meanwhile is, too."
)
GATE = (
    "Only the clients' gate separates the arms: a server that waits for its turn was neither stopped nor frozen, and "
    "A/A is a second set of clients of the reference's server and tables."
)
ENCRYPTED = "Connections were encrypted with TLS; certificate and name of each server were checked ({ciphers})."
PLAIN = "Connections of {variants} were not encrypted, and the server's certificate was not checked (`tls: false`)."


def sentences(records: Sequence[Run]) -> list[str]:
    """Return the sentences about servers that already ran; none for a study of others."""
    known = [run for run in records if run.running]
    if not known:
        return []
    plain = dict.fromkeys(run.variant for run in known if run.running.tls is False)
    ciphers = dict.fromkeys(run.running.cipher for run in known if run.running.tls)
    reached = [ENCRYPTED.format(ciphers=", ".join(ciphers))] if ciphers and not plain else []
    reached += [PLAIN.format(variants=", ".join(plain))] if plain else []
    return [NO_RESTART, UNKNOWN, GATE, *reached]


def machine_rows(records: Sequence[Run]) -> list[tuple[str, str]]:
    """Return (property, value): the servers' addresses and releases, then the machine of the load generator."""
    known = [run for run in records if run.running]
    if not known:
        return []
    servers = {f"{run.variant}: {run.running.address}, release {run.running.release}" for run in known}
    hosts = [run.client_host.host for run in known]
    return [
        ("servers that already ran", "; ".join(sorted(servers))),
        ("their machines", "unknown"),
        *((f"load generator: {label}", written_options([getattr(host, key) for host in hosts]))
          for key, label in HOST_ROWS.items()),
    ]  # fmt: skip
