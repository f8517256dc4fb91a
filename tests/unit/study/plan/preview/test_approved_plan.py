"""The plan of studies/quick.yaml, word by word, but for what only the machine decides."""

import re

import yaml

from scripts.study.config.loading import load
from scripts.study.plan.preview import plan_text
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from tests.made.studies import CHECKOUT

APPROVED = CHECKOUT / "tests" / "data" / "plan-of-quick.txt"
# How the file system copies, and which CPUs there are.
OF_THE_MACHINE = re.compile(r"(?<=^  bytes {5}).* to copy.*?; |(?<=^  machine {3}).*$", re.M)
# A file system that clones blocks takes no time to copy.
COPYING = re.compile(r", copying snapshots about [^,]+")


def test_plan_of_quick_is_the_approved_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = CHECKOUT / "studies" / "quick.yaml"
    plan = Plan(load(yaml.safe_load(config.read_text()), CHECKOUT, config.name, [config]), CHECKOUT)
    printed = plan_text.plan_text(Schedule(plan), 2)
    words, masked = OF_THE_MACHINE.subn("(of the machine) ", COPYING.sub("", printed.rstrip()))
    assert masked == 2
    assert [line.rstrip() for line in words.splitlines()] == APPROVED.read_text().splitlines()
