"""The options of the studies at full size are those of the published option files, but for what is named here.

tests/data/published_options.csv has every line of four published files, taken from the texts by a program; paths,
socket, port and user are left out.
"""

import csv
import re

import pytest

from scripts.study.config.loading import read
from tests.made.studies import CHECKOUT

LINES = list(csv.DictReader((CHECKOUT / "tests" / "data" / "published_options.csv").read_text().splitlines()))
SAME = {"on": "1", "true": "1", "": "1", "off": "0", "false": "0"}
FACTORS = {"k": 2**10, "m": 2**20, "g": 2**30}
# Why another value, or none, stands in our study.
OTHERWISE = {
    ("pgo-mysql-8.0.36", "log_bin"): "a name of files",
    ("pgo-mysql-8.0.36", "innodb_buffer_pool_size"): "12 instances of chunks of 128M: the server makes it 81G",
    ("pgo-mysql-8.0.36", "innodb_page_cleaners"): "the server has at most one for each instance",
    ("page-compression", "log_bin"): "a name of files",
    ("lru-scan-depth", "innodb_file_per_table"): "the default of 5.6",
    ("server-versions", "innodb_log_files_in_group"): "two are the default, and MariaDB lacks the option",
    ("server-versions-percona-5.5", "innodb_log_files_in_group"): "two are the default",
}


def comparable(value):
    text = str(value).strip().lower()
    if found := re.fullmatch(r"(\d+)([kmg])", text):
        return str(int(found[1]) * FACTORS[found[2]])
    return SAME.get(text, text)


def options_of(study, variant):
    """Return name without `loose_` -> value of one variant at full size."""
    found = read(CHECKOUT / "studies" / f"{study}.yaml", CHECKOUT)
    options = found.declared.options | found.arms[variant].options
    return {name.replace("-", "_").removeprefix("loose_"): comparable(value) for name, value in options.items()}


@pytest.mark.parametrize(("study", "variant"), sorted({(line["study"], line["variant"]) for line in LINES}))
def test_every_published_option_has_its_published_value(study, variant):
    ours = options_of(study, variant)
    published = {
        line["option"].removeprefix("loose_"): comparable(line["value"])
        for line in LINES
        if (line["study"], line["variant"]) == (study, variant)
    }
    assert len(published) > 15
    differing = {name for name, value in published.items() if ours.get(name) != value}
    meant = {option for where, option in OTHERWISE if where == study}
    assert differing == meant, {name: (published[name], ours.get(name)) for name in differing ^ meant}
