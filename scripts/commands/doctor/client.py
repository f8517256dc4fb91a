"""The client host: whether it can be entered and has a sysbench, and the address the server listens on for it."""

from scripts.commands.doctor.finding import Finding, Findings, ok
from scripts.commands.doctor.needs import Needs
from scripts.host.cpus import format_cpus
from scripts.loadgen import client_host


def check_client(needs: Needs) -> Findings:
    """Ask the client host, if the study has one, as a run does."""
    config = needs.study.config
    if "client" not in config:
        return
    try:
        there = client_host.client_host_of(config)
    except ValueError as error:
        change = "`client` in the study, or the host itself: its keys, its packages, the address"
        yield Finding("problem", "client host", str(error), "no run can start", change)
        return
    name, listens = client_host.client_name(config["client"]), f"{there.address} port {there.port}"
    found = f"sysbench {there.generator.version} on CPU {format_cpus(there.cpus)}"
    yield ok("client host", f"{name}: {found}; the server listens on {listens}")
