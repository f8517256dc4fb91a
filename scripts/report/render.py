"""Pages and summaries, made from plain values by the templates."""

import base64
import functools
import hashlib
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")
STRICT = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}


def markdown(text: object) -> str:
    """Escape a text for a Markdown table or sentence: markup and line breaks lose their meaning."""
    escaped = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return "".join(f"\\{sign}" if sign in "\\`*_|[]#~" else sign for sign in escaped)


def render(template: str, values: dict[str, Any]) -> str:
    """Return the text of a template, `report.html.j2` or another, with these values.

    Values are escaped in HTML; in Markdown the template applies the filter `md` to each. Raises jinja2.UndefinedError
    naming a value that is missing.
    """
    html = template.endswith(".html.j2")
    return _environment(html).get_template(template).render(values, **(_inlined() if html else {}))


@functools.cache
def _environment(html: bool) -> jinja2.Environment:
    """Return the environment that compiles templates, each once in a process."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=html, **STRICT)
    environment.filters["md"] = markdown
    return environment


def _inlined() -> dict[str, Any]:
    """Return the style and the script of a page, with the checksum by which its policy allows the script."""
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {"style": Markup(style), "script": Markup(script), "seal": seal}
