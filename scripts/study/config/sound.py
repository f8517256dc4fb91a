"""The parts of a study that have no mistakes in themselves, to be checked against each other."""

from dataclasses import dataclass
from functools import cached_property

from scripts.measure.loadgen import lua
from scripts.study.config.declared_loads import WorkloadDeclaration
from scripts.study.config.declared_study import StudyDeclaration
from scripts.study.config.yaml_lines import Config, KeyPath

# Stands for needed keys whose value has a mistake, and is taken out again.
STAND_IN: Config = {"study": "a", "reference": "a", "clients": [1], "workloads": {"a": {"script": "a", "dataset": "a"}}}
NEUTRAL: Config = {"study": "", "reference": "", "clients": [1], "workloads": {}}


@dataclass(frozen=True)
class Sound:
    """What a study declares, all entries of the catalog included; `measured` are the names of its workloads."""

    declared: StudyDeclaration
    measured: tuple[str, ...]

    @cached_property
    def loads(self) -> dict[str, WorkloadDeclaration]:
        """Return the workloads to measure by name."""
        return {name: self.declared.workloads[name] for name in self.measured if name in self.declared.workloads}

    @property
    def is_timed_sql_alone(self) -> bool:
        """Return whether the study has workloads, and each of them is timed SQL."""
        loads = [self.declared.workloads.get(name) for name in self.measured]
        return bool(loads) and all(load is not None and load.sql for load in loads)

    @property
    def outside_scripts(self) -> dict[KeyPath, str]:
        """Return key path -> script of every script outside the checkout."""
        declared = self.declared
        laid = {name: arm.data for name, arm in declared.variants.items() if arm.data}
        scripts: dict[KeyPath, str | None] = {
            **{("workloads", name, "script"): load.script for name, load in declared.workloads.items()},
            **{("datasets", name, "script"): dataset.script for name, dataset in declared.datasets.items()},
            **{("variants", name, "data", "script"): data.script for name, data in laid.items()},
        }
        return {path: script for path, script in scripts.items() if script and lua.is_outside(script)}


def of_parts(content: Config, measured: tuple[str, ...]) -> Sound:
    """Return the parts of a study that `content` holds; a needed key that it lacks has no value to find fault with."""
    content = {key: value for key, value in content.items() if value or key not in STAND_IN}
    declared = StudyDeclaration.model_validate(STAND_IN | content)
    lacking = {key: NEUTRAL[key] for key in STAND_IN.keys() - content.keys()}
    return Sound(declared.model_copy(update=lacking), measured)
