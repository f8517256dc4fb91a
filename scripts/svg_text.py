"""A figure's SVG as matplotlib writes it, made fit to stand in a page: small, in the reader's colours, its own ids."""

import re

INK = "#010203"  # stands for the reader's text colour until the SVG is written
TAG = re.compile(r"<[^>]+>")
# matplotlib's own numbering of its groups, which nothing refers to
UNUSED_ID = re.compile(r' id="(?:figure|axes|patch|text|line2d|legend|matplotlib\.axis|[xy]tick|\w*Collection)_\d+"')
COORDINATES = re.compile(r' (?:d|x|y|transform)="[^"]*"')
MANY_DIGITS = re.compile(r"\d+\.\d{3,}")
FONTS = re.compile(r"'DejaVu Sans'[^;\"]*sans-serif")
UNTURNED = re.compile(r' transform="rotate\(-0 [^"]*"')


def compact(text: str, name: str) -> str:
    """Return the <svg> element of matplotlib's document: ids begin with `name` and differ from those of other names.

    Coordinates have two decimals.
    """
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    prefix = re.sub(r"[^\w.-]", lambda odd: f"~{ord(odd[0]):x}", name)
    text = TAG.sub(lambda tag: _smaller(tag[0], prefix), text)
    return re.sub(r"(?<=>)\n\s+(?=<)", "", text)


def _smaller(tag: str, prefix: str) -> str:
    tag = FONTS.sub("sans-serif", UNUSED_ID.sub("", UNTURNED.sub("", tag))).replace(INK, "currentColor")
    tag = COORDINATES.sub(lambda found: MANY_DIGITS.sub(_rounded, found[0]).replace(" \n", " "), tag)
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}.\1"', tag)
    return re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{prefix}.", tag)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
