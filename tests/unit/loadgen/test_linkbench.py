"""linkbench.lua draws what LinkBench publishes, and its lines of latency are read; no server is needed for that."""

import json
import math
import os
import re
import shutil
import subprocess
import zlib

import numpy as np
import pytest

from scripts.analysis import runs
from scripts.config import run_time
from scripts.loadgen import output
from tests.made.run import records_of
from tests.workflow.running import CHECKOUT

SCRIPT = CHECKOUT / "workloads" / "linkbench.lua"
IDS = 20_000
MIX = {
    "addlink": 8.9886601, "deletelink": 2.9907664, "updatelink": 8.0122125, "countlink": 4.8863567,
    "getlink": 0.5261142, "getlinklist": 50.7119145, "getnode": 12.9326683, "addnode": 2.5732789,
    "updatenode": 7.366437, "deletenode": 1.0115914,
}  # fmt: skip


@pytest.fixture(scope="module")
def drawn():
    if not shutil.which("sysbench"):
        pytest.skip("sysbench is not installed")
    command = ["sysbench", str(CHECKOUT / "tests/data/linkbench_draws.lua"), f"--ids={IDS}", "--events=1", "run"]
    said = subprocess.run(
        command, env={**os.environ, "LINKBENCH": str(SCRIPT)}, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    return json.loads(said[said.index("{") : said.rindex("}") + 1])


def shares(counted: dict[str, int], most: int) -> np.ndarray:
    """Return the share of each value from 1 to `most`."""
    found = np.array([counted.get(str(value), 0) for value in range(1, most + 1)], dtype=float)
    return found / found.sum()


def off(counted: dict[str, int], probabilities: np.ndarray) -> float:
    """Return the largest distance between the counted and the wanted distribution function (Kolmogorov)."""
    return float(np.abs(np.cumsum(shares(counted, len(probabilities))) - np.cumsum(probabilities)).max())


def test_mix_is_linkbenchs():
    written = dict(re.findall(r'\{"(\w+)", ([\d.]+)\}', SCRIPT.read_text(encoding="utf-8")))
    assert {name: float(share) for name, share in written.items()} == MIX
    assert math.isclose(sum(MIX.values()), 100, abs_tol=1e-3)


def test_ranks_and_ids_are_one_to_one(drawn):
    there, back = drawn["permutation"], drawn["inverse"]
    assert sorted(there) == list(range(1000))
    assert [back[place] for place in there] == list(range(1000))


def test_ranks_are_zipf_distributed(drawn):
    weights = np.arange(1, 1001, dtype=float) ** -0.8
    # 40 000 draws are off by 0.0097 in one of a thousand cases.
    assert off(drawn["zipf"], weights / weights.sum()) < 0.0097


def test_links_asked_for_at_once_are_geometric(drawn):
    wanted = 0.382 * 0.618 ** np.arange(128)
    assert off(drawn["geometric"], wanted / wanted.sum()) < 0.0097


def test_links_of_a_node_have_a_long_tail_and_a_mean_of_four(drawn):
    links = np.array(drawn["links"])
    for most in (1, 2, 5, 20, 100):
        assert np.mean(links >= most) == pytest.approx((most + 1) ** -1.2, rel=0.02)
    assert 3 < links.mean() < 4.6
    assert links.max() > 1000


def test_few_reads_and_more_writes_go_to_the_nodes_with_most_links(drawn):
    links = np.array(drawn["links"])
    richest = 1 + np.argsort(links)[-20:]
    read, written = (
        sum(drawn[name].get(str(node), 0) for node in richest) / 40_000 for name in ("link_read", "link_write")
    )
    assert 0 < read < written < 0.05
    assert max(drawn["node_delete"].values()) < 20


@pytest.mark.parametrize(("kind", "median", "longest"), [("link_data", 8, 255), ("node_data", 128, 65536)])
def test_half_of_the_payloads_are_longer_than_the_median(drawn, kind, median, longest):
    lengths = np.repeat([int(length) for length in drawn[kind]], list(drawn[kind].values()))
    assert abs(np.median(lengths) - median) <= max(1, 0.03 * median)
    assert lengths.max() <= longest
    assert np.percentile(lengths, 84) == pytest.approx(median * math.e, rel=0.1)


def test_node_payload_compresses_to_about_sixty_per_cent(drawn):
    sample = drawn["sample"].encode()
    assert 0.5 < len(zlib.compress(sample)) / len(sample) < 0.7
    assert not {"'", "\\"} & set(drawn["sample"])


LINES = """
operation getnode: 100 calls, sum 20000 us, longest 1500 us, up to us: 100:50 200:44 1000:5 2000:1
operation addlink: 1 calls, sum 900 us, longest 900 us, up to us: 944:1
"""


def test_latency_lines_are_read(tmp_path):
    (tmp_path / "text").write_text(f"SQL statistics:{LINES}")
    found = output.read_operations(tmp_path / "text")
    assert list(found) == ["getnode", "addlink"]
    named = {"calls": 100, "mean_ms": 0.2, "p50_ms": 0.1, "p95_ms": 1.0, "p99_ms": 1.0, "max_ms": 1.5}
    assert found["getnode"] == named


def test_latency_lines_of_two_processes_are_added(tmp_path):
    (tmp_path / "text").write_text(LINES + "operation addlink: 3 calls, sum 300 us, longest 120 us, up to us: 104:3\n")
    assert output.read_operations(tmp_path / "text")["addlink"] == {
        "calls": 4, "mean_ms": 0.3, "p50_ms": 0.104, "p95_ms": 0.9, "p99_ms": 0.9, "max_ms": 0.9,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "operation x: 0 calls, sum 0 us, longest 0 us, up to us:", "operation x: soon"])
def test_other_texts_tell_no_operations(tmp_path, text):
    (tmp_path / "text").write_text(text)
    assert output.operation_facts(tmp_path / "text") == {}


def test_rows_are_those_of_the_record():
    facts = {"variant": "a", "workload": "graph", "clients": 2, "repetition": 1}
    measured = {"calls": 4, "mean_ms": 0.3, "p50_ms": 0.1, "p95_ms": 0.9, "p99_ms": 0.9, "max_ms": 0.9}
    table = runs.operation_table(records_of([facts, {**facts, "operations": {"getnode": measured}}]))
    assert table.to_dict("records") == [{**facts, "block": "graph/2/1", "operation": "getnode", **measured}]


def test_estimates_count_four_rows_for_an_id_of_the_graph():
    graph = {"script": "linkbench.lua", "options": {"ids": 1000}}
    assert run_time.kept_rows(graph) == 4000
    assert run_time.kept_rows({**graph, "fresh": True}) == 0
    assert run_time.rows_of({"script": "other.lua", "options": {"ids": 1000}}) == 0
