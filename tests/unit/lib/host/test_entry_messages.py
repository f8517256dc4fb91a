"""Messages of jobs and commands: errors as one sentence, nothing that a terminal obeys."""

import pytest

from scripts.lib.host import entry


def test_messages_are_shown_and_not_obeyed(capsys):
    entry.say("server said \x1b[2J\x9bm\u202e\udcff\nsecond line\n")
    assert capsys.readouterr().err == "server said \\x1b[2J\\x9bm\\u202e\\udcff\nsecond line\n"


def test_error_of_a_command_is_shown_and_not_obeyed(capsys):
    with pytest.raises(SystemExit) as caught, entry.user_command():
        raise ValueError("option 'x\x1b]0;y'")
    assert caught.value.code == 1
    assert capsys.readouterr().err == "option 'x\\x1b]0;y'\n"


def test_error_of_a_job_reaches_its_log_whatever_characters_it_has(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(entry, "become_entry_script", lambda: None)
    with pytest.raises(SystemExit), entry.entry(tmp_path / "x.log"):
        raise ValueError("name \udcff\x07")
    assert "ERROR ValueError: name \\udcff\\x07\n" in (tmp_path / "x.log").read_text()
    assert capsys.readouterr().err.startswith("name \\udcff\\x07\n(log: ")
