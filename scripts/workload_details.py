"""Each workload for the page, its figures and tables; and the figures over all workloads."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
from markupsafe import Markup

from scripts import heldout
from scripts.drawing import drawn_metrics, heat_names, seconds_names, value_metrics
from scripts.sysbench import option_text
from scripts.value_tables import Lookup, measured_metrics, workload_tables


def workloads(study: dict[str, Any], tables: dict[str, pd.DataFrame], figures: dict[str, str]) -> list[dict[str, Any]]:
    """Return what the page shows of every workload; metrics without any value are left out."""
    lookup = Lookup(tables["cells"], tables["runs"])

    def known(name: str) -> list[str]:
        return [metric for metric in value_metrics(study, name) if metric in lookup.metrics]

    return [
        {
            "name": name,
            "script": _command(load),
            "dataset": load.get("dataset"),
            "training": heldout.label(study, name),
            "tables": workload_tables(name, study, lookup),
            "figures": _markup(figures, [*(f"{metric}-{name}" for metric in known(name)), f"ratio-{name}"]),
            "seconds": _markup(figures, seconds_names(study, name).values()),
        }
        for name, load in study["workloads"].items()
    ]


def _command(load: dict[str, Any]) -> str:
    options = (f"{name}={option_text(value)}" for name, value in (load.get("options") or {}).items())
    return " ".join([str(load.get("script") or load.get("sql") or ""), *options]).strip()


def overviews(study: dict[str, Any], tables: dict[str, pd.DataFrame], figures: dict[str, str]) -> dict[str, Any]:
    """Return the heat maps, key and maps a metric, the figures of all ratios, and those of factors and effects."""
    known = measured_metrics(tables["cells"])
    drawn = [metric for metric in drawn_metrics(study) if metric in known]
    heat = {metric: _markup(figures, heat_names(study, metric)) for metric in drawn}
    return {
        "heat": [{"scale": charts[0], "maps": charts[1:]} for charts in heat.values() if len(charts) > 1],
        "forests": _markup(figures, [f"forest-{metric}" for metric in drawn]),
        "factor_figures": _markup(figures, [f"factors-{metric}" for metric in drawn]),
        "effect_figures": _markup(figures, [f"effects-{metric}" for metric in drawn]),
    }


def _markup(figures: dict[str, str], names: Iterable[str]) -> list[Markup]:
    return [Markup(figures[name]) for name in names if name in figures]
