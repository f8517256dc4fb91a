"""The page and the summary of two studies, made from plain values by the templates."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")


def markdown(text: object) -> str:
    """Escape a text for a Markdown table or sentence: markup and line breaks lose their meaning."""
    escaped = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return "".join(f"\\{sign}" if sign in "\\`*_|[]#~" else sign for sign in escaped)


def render_study(values: dict[str, Any]) -> tuple[str, str]:
    """Return (report.html, summary.md)."""
    places = jinja2.FileSystemLoader(TEMPLATES)
    strict = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    pages = jinja2.Environment(loader=places, autoescape=True, **strict)
    script = (TEMPLATES / "script.js").read_text(encoding="utf-8")
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    inlined = {"style": Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")), "script": Markup(script)}
    html = pages.get_template("report.html.j2").render(values, seal=seal, **inlined)
    plain = jinja2.Environment(loader=places, autoescape=False, **strict)
    plain.filters["md"] = markdown
    return html, plain.get_template("summary.md.j2").render(values)


def render_comparison(values: dict[str, Any]) -> tuple[str, str]:
    """Return (report.html, summary.md)."""
    strict = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    places = jinja2.FileSystemLoader(TEMPLATES)
    style = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    pages = jinja2.Environment(loader=places, autoescape=True, **strict)
    plain = jinja2.Environment(loader=places, autoescape=False, **strict)
    plain.filters["md"] = markdown
    page = pages.get_template("comparison.html.j2").render(values, style=style)
    return page, plain.get_template("comparison.md.j2").render(values)
