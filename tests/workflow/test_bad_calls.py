"""Snakemake called in ways that cannot work ends with a sentence that says why."""

import pytest

from tests.workflow.running import CHECKOUT, snakemake

ABSENT = "raise ModuleNotFoundError(\"No module named 'pymysql'\", name='pymysql')\n"


@pytest.mark.parametrize(
    ("arguments", "absent", "told"),
    [
        (["results/reprot.html"], False, "results/reprot.html"),
        (["--snakefile", "nosuch/Snakefile"], False, "nosuch/Snakefile"),
        ([], True, "pymysql: this Python package is missing"),
    ],
    ids=["wrong target", "wrong Snakefile", "Python package missing"],
)
def test_call_that_cannot_work_says_why(tmp_path, arguments, absent, told):
    more = {}
    if absent:
        (tmp_path / "absent").mkdir()
        (tmp_path / "absent" / "pymysql.py").write_text(ABSENT)
        more["PYTHONPATH"] = str(tmp_path / "absent")
    config = CHECKOUT / "studies" / "quick.yaml"
    answer = snakemake(tmp_path, *arguments, "--dry-run", "--configfile", config, **more)
    assert answer.status != 0
    assert told in answer.text
    assert "Traceback (most recent call last)" not in answer.text
