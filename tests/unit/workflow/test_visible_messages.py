"""What Snakemake prints, logs of failed jobs among it, is shown and not obeyed."""

import logging

import pytest
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent

from scripts.workflow.session import make_visible
from scripts.workflow.snakemake_release import OtherSnakemake

ERROR = {
    "rule_name": "build_server", "jobid": 1, "rule_msg": None, "input": [], "output": [], "conda_env": None,
    "container_img": None, "aux": {}, "indent": False, "shellcmd": None, "name": "build_server", "msg": None,
}  # fmt: skip


@pytest.fixture
def formatter():
    class Formatter(DefaultFormatter):
        def format(self, record):
            return super().format(record)

    make_visible(Formatter)
    return Formatter(show_failed_logs=True)


def test_messages_and_logs_of_failed_jobs_are_shown(formatter, tmp_path):
    (log := tmp_path / "x.log").write_text("cc: error\x1b[2J\x9b\n\u202eline\n")
    record = logging.makeLogRecord({**ERROR, "event": LogEvent.JOB_ERROR, "log": [str(log)]})
    text = formatter.format(record)
    assert r"cc: error\x1b[2J\x9b" in text
    assert r"\u202eline" in text
    assert formatter.format(logging.makeLogRecord({"msg": "a\x1b]0;b\nc"})) == "a\\x1b]0;b\nc"


def test_other_formatter_is_refused_by_name():
    class Formatter:
        def format(self, text):
            return text

    with pytest.raises(OtherSnakemake, match="format takes self, text, expected self, record"):
        make_visible(Formatter)
