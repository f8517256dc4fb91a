"""A terminal is told nothing by the texts that commands print."""

import io

from rich.live import Live
from rich.table import Table
from rich.text import Text

from scripts.commands.console import VisibleConsole


def printed(thing, **settings):
    stream = io.StringIO()
    VisibleConsole(file=stream, width=60, **settings).print(thing)
    return stream.getvalue()


def test_control_characters_in_texts_and_tables_are_shown():
    table = Table("name")
    table.add_row(Text("a\x1b[2Jb"))
    assert r"a\x1b" in printed(table)  # cut, since a cell is as wide as the text was
    assert r"a\x1b[2Jb" in printed(Text("a\x1b[2Jb"))
    assert r"\x9b31m\u202egnp" in printed(Text("\x9b31m\u202egnp"))
    assert "\x1b" not in printed(table)


def test_colours_and_moves_of_the_console_itself_stay():
    text = printed(Text("a\x1b]0;b", "red"), force_terminal=True, color_system="standard")
    assert text == "\x1b[31ma\\x1b]0;b\x1b[0m\n"
    stream = io.StringIO()
    console = VisibleConsole(file=stream, width=60, force_terminal=True)
    with Live(Text("one"), console=console, auto_refresh=False) as live:
        live.update(Text("t\x1bwo"), refresh=True)
    assert r"t\x1bwo" in stream.getvalue()
    assert r"\x1b[" not in stream.getvalue()
