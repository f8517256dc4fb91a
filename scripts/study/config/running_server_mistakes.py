"""Mistakes about servers that already run: keys that only a server of the workflow's own can follow."""

from collections.abc import Iterator

from scripts.build.compilation.stages import PREBUILT
from scripts.build.sources.kinds import RUNNING
from scripts.measure.loadgen.lua import own_loop
from scripts.measure.servers import families
from scripts.study.config.declared_loads import DatasetDeclaration, WorkloadDeclaration
from scripts.study.config.declared_servers import RunningSource
from scripts.study.config.declared_study import StudyDeclaration
from scripts.study.config.declared_variants import VariantDeclaration
from scripts.study.config.mistakes import Mistake
from scripts.study.config.sound import Sound
from scripts.study.config.yaml_lines import KeyPath

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
OF_VARIANT = {
    "options": OF_STUDY["options"],
    "storage": OF_STUDY["storage"],
    "environment": "its environment is its owner's",
}


def running_server_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield keys that contradict servers that already run."""
    declared = sound.declared
    for name, server in declared.servers.items():
        if isinstance(source := server.sources[0], RunningSource):
            yield from _source(("servers", name, "sources", 0), source, server.family)
    servers = {name: declared.servers.get(arm.server) for name, arm in declared.variants.items()}
    running = [name for name, server in servers.items() if server and server.is_running]
    if not running:
        return
    first = declared.variants[running[0]].server
    for name, other in servers.items():
        if other and not other.is_running:
            text = f"{declared.variants[name].server!r} is started here and {first!r} already runs"
            yield Mistake(("variants", name, "server"), f"{text}, expected one kind in a study: no block can have both")
    yield from _study(declared, first)
    for name in running:
        yield from _variant(("variants", name), declared.variants[name])
    for name, load in sound.loads.items():
        yield from _workload(("workloads", name), load, declared.datasets.get(load.dataset))


def _source(path: KeyPath, source: RunningSource, family: str) -> Iterator[Mistake]:
    keys = [key for key in ("credentials", "environment") if key in source.model_fields_set]
    if len(keys) != 1:
        text = f"has {' and '.join(keys) or 'neither'}, expected either `credentials`, a file, or `environment`"
        yield Mistake(path, text)
    if not 0 < (port := int(source.running.rpartition(":")[2])) < 65536:
        yield Mistake((*path, RUNNING), f"port {port}, expected 1 to 65535")
    if source.running.startswith("localhost:") and families.of(family).LOCALHOST_IS_SOCKET:
        text = f"{source.running!r}, expected an address such as 127.0.0.1: the client library takes it for a socket"
        yield Mistake((*path, RUNNING), text)
    if source.ca and not source.tls:
        yield Mistake((*path, "ca"), f"{source.ca!r} beside `tls: false`, expected none: nothing is checked")


def _study(declared: StudyDeclaration, server: str) -> Iterator[Mistake]:
    written = declared.model_dump(exclude_defaults=True)
    for key, why in OF_STUDY.items():
        if key in written:
            yield Mistake((key,), f"expected none: {server!r} already runs, and {why}")
    if declared.together == 1:
        text = f"1, expected at least 3: {server!r} already runs, and no turn can start and stop it"
        yield Mistake(("together",), text)


def _variant(path: KeyPath, variant: VariantDeclaration) -> Iterator[Mistake]:
    if variant.build != PREBUILT:
        text = f"{variant.build!r}, expected {PREBUILT!r}: {variant.server!r} already runs"
        yield Mistake((*path, "build"), text)
    written = variant.model_dump(exclude_defaults=True)
    for key, why in OF_VARIANT.items():
        if key in written:
            yield Mistake((*path, key), f"expected none: {variant.server!r} already runs, and {why}")
    if variant.data and variant.data.fresh:
        yield Mistake((*path, "data", "fresh"), _fresh())


def _workload(path: KeyPath, load: WorkloadDeclaration, dataset: DatasetDeclaration | None) -> Iterator[Mistake]:
    if load.sql:
        text = "timed SQL needs a server just started for its cold pass, and this one already runs; expected a script"
        yield Mistake(path, text)
        return
    if dataset and dataset.fresh:
        yield Mistake((*path, "dataset"), f"{load.dataset!r}: {_fresh()}")
    if "rate" in load.options:
        text = "expected none: a load with a rate of its own is measured by turns, and no turn can start this server"
        yield Mistake((*path, "options", "rate"), text)
    if own_loop(load.script or ""):
        text = f"{load.script!r} has a loop of its own (thread_run), which no gate can hold, expected a script without"
        yield Mistake((*path, "script"), text)


def _fresh() -> str:
    return "`fresh` loads tables before every run, and a server that already runs keeps its own; expected none"
