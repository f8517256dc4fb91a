"""The page and the summary of two studies, made from plain values by the templates."""

from typing import Any

import jinja2
from markupsafe import Markup

from scripts.layout import TEMPLATES, markdown


def render(values: dict[str, Any]) -> tuple[str, str]:
    """Return (report.html, summary.md)."""
    strict = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    places = jinja2.FileSystemLoader(TEMPLATES)
    style = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    pages = jinja2.Environment(loader=places, autoescape=True, **strict)
    plain = jinja2.Environment(loader=places, autoescape=False, **strict)
    plain.filters["md"] = markdown
    page = pages.get_template("comparison.html.j2").render(values, style=style)
    return page, plain.get_template("comparison.md.j2").render(values)
