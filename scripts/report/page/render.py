"""Pages from their blocks, and summaries, by the templates."""

import base64
import functools
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import jinja2
from markupsafe import Markup

from scripts.lib.visible import visible
from scripts.report.page.document import Page

TEMPLATES = Path(__file__).with_name("templates")

INLINE_SIGNS = "\\`*_|[]#~$"
# What begins a list or underlines a heading at the beginning of a line.
BLOCK_SIGN = re.compile(r"^[-+](?=\s|$)|^[-=](?=[-=\s]*$)|(?<=^\d)[.)](?=\s|$)|(?<=^\d\d)[.)](?=\s|$)")


def markdown(text: object) -> str:
    """Escape a text for a Markdown table or sentence: markup, line ends and signs of a list lose their meaning."""
    line = " ".join(str(text).split("\n")).lstrip() if str(text).strip() else str(text)
    escaped = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return BLOCK_SIGN.sub(
        r"\\\g<0>", "".join(f"\\{sign}" if sign in INLINE_SIGNS else sign for sign in escaped), count=1
    )


def render_page(page: Page) -> str:
    """Return the HTML of a page; texts are escaped, but for Markup."""
    return _environment(True).get_template("page.html.j2").render(page=page, colours=page.colours, **_inlined())


def render_markdown(template: str, values: Mapping[str, object]) -> str:
    """Return the text of a template for Markdown, which applies the filter `md` to each value.

    Raises jinja2.UndefinedError naming a value that is missing.
    """
    return _environment(False).get_template(template).render(values)


@functools.cache
def _environment(html: bool) -> jinja2.Environment:
    """Return the environment that compiles templates, each once in a process."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=html,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["md"] = markdown
    environment.globals["md"] = markdown
    return environment


def _shown(value: object) -> object:
    """Return what a template puts into its text, with control characters and the like made visible."""
    if isinstance(value, Markup):
        return Markup(visible(str(value)))
    return value if isinstance(value, (int, float, jinja2.Undefined)) else visible(str(value))


def _inlined() -> dict[str, str]:
    """Return the style and the script of a page, with the checksum by which its policy allows the script."""
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {"style": Markup(style), "script": Markup(script), "seal": seal}
