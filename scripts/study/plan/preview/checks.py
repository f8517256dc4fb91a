"""Mistakes that only this machine shows: missing archives, what compilers cannot do, options that scripts lack."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scripts.build.compilation import foreign_flags
from scripts.build.sources import local
from scripts.build.sources.kinds import source_path, with_version
from scripts.lib import json_record
from scripts.lib.build_records import BuildFacts
from scripts.lib.host import machine_facts
from scripts.lib.recipe_models import Options
from scripts.measure.loadgen import lua, sysbench
from scripts.measure.servers import process_environment
from scripts.study.config.declared_servers import FileSource, ServerDeclaration
from scripts.study.config.mistakes import Mistake, nearest, suggestion
from scripts.study.config.yaml_lines import ConfigError, KeyPath
from scripts.study.plan.preview.compilers import refused_keys
from scripts.study.plan.preview.due import Due

INTERLEAVE, INTERLEAVED = "innodb_numa_interleave", ("true", "on", "1")
ScriptOptions = tuple[KeyPath, str, Options]


@dataclass
class MachineChecks:
    """`mistakes` stop a study; `notes` are lines of its plan."""

    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def demand(due: Due) -> list[str]:
    """Return the notes of a plan. Raises ConfigError with all mistakes, one per line, with file and line."""
    checks, study = MachineChecks(), due.paths.plan.study
    for thing in due.of("source"):
        check_archives(thing.server, study.declared.servers[thing.server], checks)
    if due.runs:
        check_options(due, checks)
        checks.mistakes += [*preload_mistakes(due), *report_mistakes(due)]
        checks.notes += numa_notes(due, machine_facts.numa_nodes())
    checks.notes += foreign_flag_notes(due)
    for refused in refused_keys(due):
        if refused.may_fail:
            checks.notes.append(f"{study.line(refused.mistake)}; the build may fail, the study goes on")
        else:
            checks.mistakes.append(refused.mistake)
    if checks.mistakes:
        lines = sorted({study.line(mistake) for mistake in checks.mistakes})
        raise ConfigError("\n  ".join([f"study {study.name}: {len(lines)} mistake(s)", *lines]))
    return checks.notes


def numa_notes(due: Due, nodes: int) -> list[str]:
    """Return a line on variants that spread their buffer pool over NUMA nodes on a machine with `nodes` of them."""
    plan = due.paths.plan
    options = {name: plan.options(name) for name in sorted({run.variant for run in due.runs.values()})}
    asking = [name for name, stated in options.items() if str(stated.get(INTERLEAVE, "off")).lower() in INTERLEAVED]
    if nodes > 1 or not asking:
        return []
    what = "this machine has a single NUMA node, so the option changes nothing here"
    return [f"options.{INTERLEAVE} is on: {what} ({', '.join(asking)})"]


def foreign_flag_notes(due: Due) -> list[str]:
    """Return a line per finished build whose command lines have flags that no recipe gave, or cannot be read."""
    notes, paths = [], due.paths
    for folder, (server, build) in {**paths.builds, **paths.stages}.items():
        file = Path(folder, "facts.json")
        if not file.exists() or (facts := json_record.read_part(BuildFacts, file)).has_failed:
            continue
        try:
            foreign = foreign_flags.of_build(Path(folder), facts)
        except (OSError, ValueError, EOFError) as error:
            notes.append(f"build {build} of {server}: its compiler's calls cannot be read ({error}; {folder})")
            continue
        if foreign and foreign.text:
            text = f"build {build} of {server} was compiled with flags that no recipe gave: {foreign.text}"
            notes.append(f"{text}; remove {folder} to make it again without them")
    return notes


def preload_mistakes(due: Due) -> Iterator[Mistake]:
    """Yield libraries to preload that this machine lacks, by the key that names them."""
    plan = due.paths.plan
    yield from _preload_mistakes(("client_environment",), plan.study.declared.client_environment)
    for name, variant in plan.study.declared.variants.items():
        is_own = process_environment.PRELOAD in variant.environment
        key = ("variants", name) if is_own else ("builds", variant.build)
        yield from _preload_mistakes((*key, "environment"), plan.environment(name))


def _preload_mistakes(key: KeyPath, variables: Mapping[str, str]) -> Iterator[Mistake]:
    for path in process_environment.preloaded(variables):
        if not (path.is_absolute() and path.is_file()):
            text = f"{str(path)!r} does not exist, expected the absolute path of a library{_nearest_file(path)}"
            yield Mistake((*key, process_environment.PRELOAD), text)


def check_archives(server: str, declared: ServerDeclaration, checks: MachineChecks) -> None:
    """Find declared archives that do not exist or are no files: a mistake, unless another source may serve instead.

    One that would only have stood in for another source is not mentioned.
    """
    missing, problems = {}, {}
    for index, source in enumerate(declared.sources):
        if isinstance(source, FileSource):
            path = source_path(with_version(source.file, declared.version))
            if problem := local.problem(path):
                missing[index], problems[index] = path, problem
    others = {index: source.kind for index, source in enumerate(declared.sources) if index not in missing}
    for index, path in missing.items():
        key = ("servers", server, "sources", index, "file")
        text = f"{str(path)!r} {problems[index]}"
        if others and index < min(others):
            checks.notes.append(f"{'.'.join(map(str, key))}: {text}; {others[min(others)]} is used instead")
        elif not others:
            checks.mistakes.append(Mistake(key, f"{text}, expected the path of an archive{_nearest_file(path)}"))


def _nearest_file(path: Path) -> str:
    names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    near = nearest(path.name, names) if path.name not in names else None
    return f", did you mean {near!r}?" if near else ""


def check_options(due: Due, checks: MachineChecks) -> None:
    """Find options that a script does not have, or would misread.

    Its options come from its text; only scripts of ours and of sysbench's are run, if their text does not tell.
    """
    scripts = [use for use in used_scripts(due) if use[2]]
    if not scripts:
        return
    if due.paths.plan.study.declared.client:
        checks.notes.append("options of sysbench scripts are not checked: sysbench runs on the client host")
        return
    try:
        generator = sysbench.read_capabilities()
    except (ValueError, OSError) as error:
        checks.notes.append(f"options of sysbench scripts are not checked: {error}")
        return
    general = {name.replace("-", "_") for name in generator.options}
    listed = {script: known_options(generator, script) for script in dict.fromkeys(script for _, script, _ in scripts)}
    checks.notes += [
        f"options of {script} are not checked: its text does not list them in a plain table, so the first job asks it"
        for script, options in listed.items()
        if options is None
    ]
    for path, script, options in scripts:
        checks.mistakes += option_mistakes(path, script, options, listed[script] or {}, general)


def known_options(generator: sysbench.Capabilities, script: str) -> dict[str, str] | None:
    """Return the options of a script that a plan may know without running code of the user's; None if it may not."""
    if sysbench.is_trusted(location(script)):
        return sysbench.options_of(generator, location(script))
    return sysbench.declared_options(generator, location(script))


def option_mistakes(
    path: KeyPath, script: str, options: Options, listed: dict[str, str], general: set[str]
) -> Iterator[Mistake]:
    """Yield the options that a script does not have, and values it would misread; nothing for a script without help."""
    for name, value in options.items() if listed else ():
        option = name.replace("-", "_")
        if option not in listed and option not in general:
            yield Mistake(
                (*path, name), f"{value!r} cannot be set, {script} has no such option{suggestion(option, listed)}"
            )
        for line in sysbench.option_mistakes(listed, {name: value}):
            yield Mistake((*path, name), line.removeprefix(f"{name}: "))


def report_mistakes(due: Due) -> Iterator[Mistake]:
    """Yield scripts that print reports of their own where only what sysbench prints could be counted."""
    study = due.paths.plan.study
    for name in dict.fromkeys([*study.workloads, *trained_workloads(due)]):
        load = study.declared.workloads[name]
        if not load.script or not (hooks := lua.own_reports(load.script)):
            continue
        if why := lua.why_no_gate(load.script, load.options, bool(study.declared.client)):
            text = f"{load.script!r} sets sysbench.hooks.{hooks[0]}, and {why}, so that only sysbench's own reports"
            yield Mistake(
                ("workloads", name, "script"), f"{text} could be counted; expected a script without such hooks"
            )


def trained_workloads(due: Due) -> list[str]:
    """Return the names of the workloads that the trainings of a study run."""
    trainings = due.paths.plan.study.declared.trainings
    return sorted({load for _, name, _ in due.paths.profiles.values() for load in trainings[name].workloads})


def used_scripts(due: Due) -> Iterator[ScriptOptions]:
    """Yield (key path of the options, script, options) of the workloads and datasets that a study uses."""
    study = due.paths.plan.study
    declared = study.declared
    loads = {name: declared.workloads[name] for name in dict.fromkeys([*study.workloads, *trained_workloads(due)])}
    for name, load in loads.items():
        if load.script:
            yield ("workloads", name, "options"), load.script, load.options
    for name in dict.fromkeys(load.dataset for load in loads.values()):
        dataset = declared.datasets[name]
        yield ("datasets", name, "options"), dataset.script, dataset.options
    laid = {name: variant.data for name, variant in declared.variants.items() if variant.data}
    for name, data in laid.items():
        for under in dict.fromkeys(load.dataset for load in study.loads.values()):
            script = data.script if "script" in data.model_fields_set else declared.datasets[under].script
            yield ("variants", name, "data", "options"), script, data.options


def location(script: str) -> str:
    """Return a declared script as sysbench finds it: the path of ours or the user's, the name of its own."""
    if lua.is_outside(script):
        return str(lua.outside_path(script).absolute())
    return lua.script_path(script)
