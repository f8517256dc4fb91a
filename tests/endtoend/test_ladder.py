"""A real server that goes through two client counts in one start, and one that dies on the way."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from scripts.lib import json_record
from tests.endtoend import installed_mariadb
from tests.endtoend.installed_mariadb import Place, finish

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-"),
]
ARMS, CLIENTS = ("aa", "baseline"), (1, 16)
WRITING = {"script": "oltp_update_index", "options": {}}


@pytest.fixture(scope="module")
def place():
    with Place.loaded("ladder-") as made:
        yield made


def command_of(place, name, **edits):
    """Return the command line of measure_block for two client counts that share the starts of their servers."""
    command = place.run_command(name, "turns", ARMS, load=WRITING, **edits)
    plan = Path(command[command.index("--plan") + 1])
    (block,) = json_record.read(plan)["blocks"]
    home = Path(block["folder"])
    folders = [str(home.with_name(f"{name}-{clients}")) for clients in CLIENTS[:-1]] + [str(home)]
    levels = []
    for clients, folder in zip(CLIENTS, folders, strict=True):
        level = json.loads(json.dumps({**block, "clients": clients, "folder": folder, "levels": folders}))
        for arm in level["arms"]:
            arm["context"] |= {"clients": clients, "log_statements": clients == CLIENTS[-1]}
        levels.append(level)
    json_record.write(plan, {"blocks": levels})
    return command, [Path(folder) for folder in folders]


def test_server_goes_through_all_client_counts_in_one_start(place):
    command, folders = command_of(place, "whole")
    status, said = finish(command)
    assert status == 0, said
    found = {arm: [json_record.read(folder / f"{arm}.json") for folder in folders] for arm in ARMS}
    for levels in found.values():
        assert [facts["outcome"] for facts in levels] == ["ok", "ok"], levels
        assert [facts["clients"] for facts in levels] == list(CLIENTS)
        assert all(one["times"]["ended_at"] <= other["times"]["started_at"] for one, other in pairwise(levels))
        assert levels[0]["commands"]["server"] == levels[1]["commands"]["server"]
        assert ["statements" in facts for facts in levels] == [False, True]
    text = " ".join(file.read_text() for file in place.log("whole").parent.glob("whole.*server.log"))
    assert text.count("ready for connections") == len(ARMS)
    blocks = [json_record.read(folder / "block.json") for folder in folders]
    assert [set(block["arms"]) for block in blocks] == [set(ARMS)] * 2
    assert blocks[0]["wall_s"] == blocks[1]["wall_s"]


def test_client_count_that_the_server_cannot_serve_is_a_failure_and_the_one_before_it_is_kept(place):
    own = place.with_options(max_connections=10)
    command, folders = command_of(place, "dying", variant=own)
    status, said = finish(command)
    assert status == 0, said
    for arm in ARMS:
        first, second = (json_record.read(folder / f"{arm}.json") for folder in folders)
        assert first["outcome"] == "ok", first["reason"]
        assert second["outcome"] == "failed"
        assert "Too many connections" in second["reason"]
