"""Mistakes about servers that already run: keys that only a server of the workflow's own can follow."""

from collections.abc import Iterator, Mapping
from typing import Any

from scripts.build.compilation.stages import PREBUILT
from scripts.build.sources.kinds import RUNNING, is_running
from scripts.measure.loadgen.lua import own_loop
from scripts.measure.servers import families
from scripts.study.config.mistakes import Mistake

Entries = dict[str, dict[str, dict[str, Any]]]
# Keys of a study and of a variant that need a server of the workflow's own, and why.
OF_STUDY = {
    "options": "its options are its owner's",
    "storage": "its storage is its owner's",
    "restart": "nothing restarts it anyway",
    "stop": "nothing stops it",
    "placement": "its CPUs are unknown, and the load generator has all of this machine's",
    "client_environment": "sysbench has the environment by which its driver uses TLS",
    "client": "this machine has the load generator",
    "diagnose": "no tool reaches its processes",
}
NEUTRAL = {"placement": "automatic", "restart": "each block", "stop": "fast"}
OF_VARIANT = {
    "options": OF_STUDY["options"],
    "storage": OF_STUDY["storage"],
    "environment": "its environment is its owner's",
}


def running_server_mistakes(config: dict[str, Any], entries: Entries) -> Iterator[Mistake]:
    """Yield keys that contradict servers that already run; `entries` are the complete ones without mistakes."""
    for name, server in entries["servers"].items():
        if is_running(server["sources"]):
            yield from _source(("servers", name, "sources", 0), server["sources"][0], server["family"])
    variants, servers = config.get("variants", {}), entries["servers"]
    sources = {name: servers.get(one["server"], {}).get("sources") for name, one in variants.items()}
    running = [name for name, found in sources.items() if found and is_running(found)]
    if not running:
        return
    for name, found in sources.items():
        if found and name not in running:
            text = f"{variants[name]['server']!r} is started here and {variants[running[0]]['server']!r} already runs"
            yield Mistake(("variants", name, "server"), f"{text}, expected one kind in a study: no block can have both")
    yield from _study(config, variants[running[0]]["server"])
    for name in running:
        yield from _variant(("variants", name), variants[name])
    for name in config.get("workloads", {}):
        if name in entries["workloads"]:
            yield from _workload(("workloads", name), entries["workloads"][name], entries["datasets"])


def _source(path: tuple, source: Mapping[str, Any], family: str) -> Iterator[Mistake]:
    given = [key for key in ("credentials", "environment") if key in source]
    if len(given) != 1:
        text = f"has {' and '.join(given) or 'neither'}, expected either `credentials`, a file, or `environment`"
        yield Mistake(path, text)
    if not 0 < (port := int(source[RUNNING].rpartition(":")[2])) < 65536:
        yield Mistake((*path, RUNNING), f"port {port}, expected 1 to 65535")
    if source[RUNNING].startswith("localhost:") and families.of(family).LOCALHOST_IS_SOCKET:
        text = f"{source[RUNNING]!r}, expected an address such as 127.0.0.1: the client library takes it for a socket"
        yield Mistake((*path, RUNNING), text)
    if "ca" in source and source.get("tls") is False:
        yield Mistake((*path, "ca"), f"{source['ca']!r} beside `tls: false`, expected none: nothing is checked")


def _study(config: Mapping[str, Any], server: str) -> Iterator[Mistake]:
    for key, why in OF_STUDY.items():
        if config.get(key) and config[key] != NEUTRAL.get(key):
            yield Mistake((key,), f"expected none: {server!r} already runs, and {why}")
    if config.get("together") == 1:
        text = f"1, expected at least 3: {server!r} already runs, and no turn can start and stop it"
        yield Mistake(("together",), text)


def _variant(path: tuple, variant: Mapping[str, Any]) -> Iterator[Mistake]:
    if variant["build"] != PREBUILT:
        text = f"{variant['build']!r}, expected {PREBUILT!r}: {variant['server']!r} already runs"
        yield Mistake((*path, "build"), text)
    for key, why in OF_VARIANT.items():
        if variant.get(key):
            yield Mistake((*path, key), f"expected none: {variant['server']!r} already runs, and {why}")
    if variant.get("data", {}).get("fresh"):
        yield Mistake((*path, "data", "fresh"), _fresh())


def _workload(path: tuple, load: Mapping[str, Any], datasets: Mapping[str, Mapping[str, Any]]) -> Iterator[Mistake]:
    if "sql" in load:
        text = "timed SQL needs a server just started for its cold pass, and this one already runs; expected a script"
        yield Mistake(path, text)
        return
    if datasets.get(load["dataset"], {}).get("fresh"):
        yield Mistake((*path, "dataset"), f"{load['dataset']!r}: {_fresh()}")
    if "rate" in (load.get("options") or {}):
        text = "expected none: a load with a rate of its own is measured by turns, and no turn can start this server"
        yield Mistake((*path, "options", "rate"), text)
    if own_loop(load["script"]):
        text = (
            f"{load['script']!r} has a loop of its own (thread_run), which no gate can hold, expected a script without"
        )
        yield Mistake((*path, "script"), text)


def _fresh() -> str:
    return "`fresh` loads tables before every run, and a server that already runs keeps its own; expected none"
