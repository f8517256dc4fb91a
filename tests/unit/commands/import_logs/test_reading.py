"""Logs in other forms are read where that is possible, and named for what they are where it is not."""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile

import pytest

from scripts.commands.import_logs import __main__ as import_logs
from scripts.commands.import_logs import contents as import_contents
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern_file import read_pattern
from tests.made import sysbench_outputs
from tests.made.logs import LAID_OUT, OF_0_5, OF_1_1, log, tree, write


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(here, *rules, path=LAID_OUT):
    return read_tree(here / "logs", read_pattern(write(here, "p.yaml", "\n".join([f'path: "{path}"', *rules]))))


def only(here, content, file="pgo/oltp_4_1.log"):
    """The facts of the only log, and (file, reason) of what was not read."""
    path = write(here / "logs", file, "")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = read(here)
    return (found.logs[0] if found.logs else None), found.unread


SOUND = log(4, 6000)
FIRST = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode(),
        SOUND.encode("utf-16"),
        SOUND.encode("utf-16-be"),
        SOUND.encode("utf-16-le"),
        SOUND.encode("utf-32"),
        SOUND.replace("\n", "\r").encode(),
        b"\0" * 512 + SOUND.encode() + b"\0\0",
        "".join(f"\x1b[32m{line}\x1b[0m\x1b[K\n" for line in SOUND.splitlines()).encode(),
        "".join(f"Nov 28 17:45:{n % 60:02} {line}\n" for n, line in enumerate(SOUND.splitlines())).encode(),
        "".join(f"2026-01-02T03:04:05.{n * 7}Z {line}\n" for n, line in enumerate(SOUND.splitlines())).encode(),
        "".join(f"sysbench-1  | {line}".rstrip() + "\n" for line in SOUND.splitlines()).encode(),
        f"+ sysbench oltp run\n$ \n{SOUND}\nreal\t1m0.012s\nuser\t0m1.2s\n$ exit\n".encode(),
        f"{'x' * 2_000_000}\n{SOUND}".encode(),
        re.sub(r"(\d)\.(\d\d\b|\d{4}s)", r"\1,\2", SOUND).encode(),
    ],
    ids=["bom", "utf16", "utf16be", "utf16le", "utf32", "cr", "nulls", "ansi", "ts", "rfc3339", "docker", "shell",
         "long", "commas"],
)  # fmt: skip
def test_an_encoding_or_a_later_hand_changes_no_figure(here, content):
    expected, _ = only(here, SOUND, "pgo/oltp_4_2.log")
    found, unread = only(here, content)
    assert not unread
    for part in ("outcome", "window", "series", "warnings"):
        assert found.facts[part] == expected.facts[part]
    assert found.notes == {}


def packed(kind, files):
    """The bytes of an archive."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(fileobj=out, mode=f"w:{kind}") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    return out.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_log_is_read_whatever_its_name(here, pack):
    (found, unread) = only(here, pack(SOUND.encode()))
    assert (found.facts["window"]["transactions"], unread) == (6000, [])
    (found, _) = only(here, pack(SOUND.encode()), "a/oltp_4_1.log.packed")
    assert found.facts["variant"] == "pgo"


@pytest.mark.parametrize("kind", ["", "gz", "bz2", "xz", "zip"])
def test_members_of_an_archive_are_logs_under_their_paths(here, kind):
    files = {f"{variant}/oltp_4_{number}.log": log(4, 6000 + number).encode()
             for variant in ("baseline", "pgo") for number in (1, 2)}  # fmt: skip
    files["pgo/oltp_8_1.log.gz"] = gzip.compress(log(8, 9000).encode())
    files["notes.txt"] = b"hello"
    (here / "logs").mkdir()
    (here / "logs/all").write_bytes(packed(kind, files))
    found = read(here)
    runs = {(each.facts["variant"], each.facts["clients"], each.facts["repetition"]): each for each in found.logs}
    assert set(runs) == {("baseline", 4, 1), ("baseline", 4, 2), ("pgo", 4, 1), ("pgo", 4, 2), ("pgo", 8, 1)}
    assert runs["pgo", 8, 1].file == "all/pgo/oltp_8_1.log.gz"
    assert found.unread == [("all/notes.txt", "its path does not match the pattern")]
    import_logs.main(here / "logs", "shared", here / "p.yaml")
    copy = (import_logs.STUDIES / "shared/runs/pgo/oltp/4/2.txt").read_bytes()
    assert copy == files["pgo/oltp_4_2.log"]


def test_an_archive_of_one_variant_gives_it_its_name(here):
    (here / "logs").mkdir()
    for variant in ("baseline", "pgo"):
        (here / f"logs/{variant}.tar.xz").write_bytes(packed("xz", {"./oltp_4_1.log": SOUND.encode()}))
    assert {each.facts["variant"] for each in read(here).logs} == {"baseline", "pgo"}


def test_damaged_and_strange_archives_are_named_and_what_they_hold_is_read(here, monkeypatch):
    whole, other = (packed("", {f"{variant}/oltp_4_{number}.log": log(4, number).encode() for number in (1, 2, 3)})
                    for variant in ("pgo", "lto"))  # fmt: skip
    third = whole.index(b"pgo/oltp_4_3.log")
    files = {
        "cut.tar": whole[: third + 1000],
        "short.tar": other[:third],
        "old.7z": b"7z\xbc\xaf\x27\x1c and more",
        "new.zst": b"\x28\xb5\x2f\xfd and more",
        "cut.zip": packed("zip", {"pgo/oltp_8_1.log": log(8, 3).encode()})[:-30],
        "deep": gzip.compress(gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"x"))))),
    }
    tree(here / "logs", {"baseline": 0.0})
    for name, content in files.items():
        (here / "logs" / name).write_bytes(content)
    found = read(here)
    runs = {(each.facts["variant"], each.facts["repetition"]) for each in found.logs}
    assert runs == {*(("baseline", number) for number in range(1, 6)), ("pgo", 1), ("pgo", 2), ("lto", 1), ("lto", 2)}
    reasons = dict(found.unread)
    assert "packed by 7-Zip, which is not read" in reasons["old.7z"]
    assert "packed by zstd" in reasons["new.zst"]
    assert "damaged archive, not read to its end" in reasons["cut.tar"]
    assert "damaged archive, not read to its end" in reasons["short.tar"]
    assert "damaged archive" in reasons["cut.zip"]
    assert reasons["deep"] == "it is packed more than 4 times"
    monkeypatch.setattr(import_contents, "MOST_ARCHIVE_BYTES", 3000)
    assert "unpacks to more than" in dict(read(here).unread)["cut.tar"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pgbench (16.1)\ntransaction type: <builtin: TPC-B (sort of)>\ntps = 1000.1 (…)\n", "looks like pgbench"),
        ("HammerDB CLI v4.9\nVuser 1:TEST RESULT : System achieved 123456 NOPM\n", "looks like HammerDB"),
        ("[OVERALL], RunTime(ms), 10110\n[OVERALL], Throughput(ops/sec), 98\n", "looks like YCSB"),
        ("***************\n*** ###easy### TPC-C Load Generator ***\n", "looks like tpcc-mysql"),
        ("Benchmark\n\tAverage number of seconds to run all queries: 0.1 seconds\n", "looks like mysqlslap"),
        ("Running 30s test @ http://127.0.0.1\n  Requests/sec: 748868.53\n", "looks like wrk"),
        ("fio-3.28\nrandread: (groupid=0, jobs=4): err= 0\n", "looks like fio"),
        ('{"tps": 3}', "prints JSON; only sysbench's own text is read"),
        ('[\n{\n  "time": 1,\n', "prints JSON"),
        ("1,8,1003.51,2144.07,973.31,70.55\n2,8,1003.51,2144.07,973.31,70.55\n", "prints CSV"),
        ("time,threads,tps,qps,latency\n", "prints CSV"),
        (f"{FIRST}\nCreating table 'sbtest1'...\nInserting 100 records into", "`sysbench … prepare`"),
        (f"{FIRST}\nDropping table 'sbtest1'...\n", "`sysbench … cleanup`"),
        ("hello", "it has no version line of sysbench"),
        (b"\x89PNG\r\n\0\0\0\rIHDR\0\0\1", "it is not text"),
    ],
)  # fmt: skip
def test_what_is_no_log_of_a_run_is_named(here, text, reason):
    found, unread = only(here, text)
    assert found is None
    assert reason in dict(unread)["pgo/oltp_4_1.log"]
    assert "fail" not in dict(unread)["pgo/oltp_4_1.log"]


def test_output_of_other_programs_is_named_under_a_path_that_does_not_match_too(here):
    write(here / "logs", "pgbench_8_1.log", "pgbench (16.1)\n")
    write(here / "logs", "plain_8_1.log", SOUND)
    found = read(here)
    assert found.unread == [
        ("pgbench_8_1.log", "its path does not match the pattern; it looks like pgbench, not like output of sysbench"),
        ("plain_8_1.log", "its path does not match the pattern"),
    ]
    assert found.unplaced == ["plain_8_1.log"]


def reports(text, **replaced):
    """A log whose lines of intervals are replaced."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("[ ")]
    start = next(place for place, line in enumerate(lines) if line.startswith("Threads started"))
    return "".join([*lines[: start + 1], "\n", *replaced["by"], *lines[start + 1 :]])


def test_json_in_place_of_all_results_is_named_and_csv_beside_totals_leaves_them(here):
    start = SOUND[: SOUND.index("[ 1s ]")]
    found, unread = only(here, start + '{\n  "time":   10,\n  "tps": 1005.38,\n},\n')
    assert (found, unread[0][1]) == (None, "it prints JSON; only sysbench's own text is read")
    csv = [f"{second},4,1003.51,2144.07,973.31,1009.21,161.55,70.55,0.00,0.00\n" for second in range(1, 6)]
    found, _ = only(here, reports(SOUND, by=csv))
    assert (found.facts["outcome"], found.facts["window"]["transactions"]) == ("ok", 6000)
    assert "prints CSV" in found.notes["other_form"]
    assert found.facts["series"]["tps"] == []


def test_several_calls_of_one_file_are_runs_by_their_client_counts(here):
    prepare = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nCreating table 'sbtest1'...\n"
    parts = [prepare, log(4, 6000), "echo next\n", log(8, 7000), log(4, 6100), log(16, 9)[:700]]
    write(here / "logs", "pgo/oltp.log", "".join(parts))
    found = read(here, path="{variant}/{workload}.log")
    assert [(each.facts["clients"], each.facts["repetition"], each.facts["outcome"]) for each in found.logs] == [
        (4, 1, "ok"), (8, 1, "ok"), (4, 2, "ok"), (16, 1, "failed")
    ]  # fmt: skip
    assert found.logs[1].file == "pgo/oltp.log, call 2 of 4"
    import_logs.main(here / "logs", "shared", here / "p.yaml")
    copy = (import_logs.STUDIES / "shared/runs/pgo/oltp/8/1.txt").read_text()
    assert "transactions:                        7000" in copy
    assert copy.count("sysbench 1.0.20") == 1


def test_a_call_without_a_transaction_is_a_failed_run(here):
    text = re.sub(r"(total number of events: +)\d+", r"\g<1>0", log(4, 0))
    found, _ = only(here, text)
    assert found.facts["outcome"] == "failed"
    assert re.fullmatch(r"0 transactions in [\d.]+ s", found.facts["reason"])


def test_a_load_that_never_commits_is_counted_by_its_events(here):
    found, _ = only(here, log(4, 0, OF_0_5))
    assert found.facts["window"]["transactions"] == 15000


def test_deadlocks_are_errors(here):
    text = re.sub(r"deadlocks: +0 ", "deadlocks:  37 ", sysbench_outputs.recorded("0.4.12-oltp"))
    found, _ = only(here, text, "pgo/oltp_16_1.log")
    assert found.facts["window"]["errors"] == 37
    assert found.facts["window"]["reconnects"] is None


def test_impossible_intervals_are_left_out_and_the_totals_kept(here):
    huge = r"[ 2s ] \g<1>18446842801212211200.00 qps: 18446842801212035072.00"
    text = re.sub(r"^\[ 2s \] (.*tps: )\S+ qps: \S+", huge, SOUND, flags=re.MULTILINE)
    found, _ = only(here, text)
    expected, _ = only(here, SOUND)
    assert found.facts["window"] == expected.facts["window"]
    assert 2 not in found.facts["series"]["second"]
    assert len(found.facts["series"]["second"]) == len(expected.facts["series"]["second"]) - 1
    assert "1 of 5 intervals impossible, left out: that at 2 s" in found.notes["impossible"]


def test_a_rate_no_call_could_reach_is_impossible_too(here):
    found, _ = only(here, SOUND.replace("tps: ", "tps: 9", 1))
    assert found.notes["impossible"].startswith("1 of 5")


def test_impossible_totals_are_a_failed_run(here):
    found, _ = only(here, log(4, 18446744073709551000))
    assert found.facts["outcome"] == "failed"
    assert "impossible totals" in found.facts["reason"]


def test_lines_of_intervals_that_are_not_understood_are_counted(here):
    found, _ = only(here, SOUND.replace("tps: ", "tps: -nan ", 1))
    assert found.notes == {"unread_reports": "1 lines of intervals are in a form that is not read"}


def test_fractions_of_seconds_and_queues_are_no_strange_lines(here):
    lines = [f"[ {n / 2}s ] thds: 4 eps: 1000.00 lat (ms,0%): 0.00\n[ {n / 2}s ] queue length: 0, concurrency: 1\n"
             for n in range(1, 9)]  # fmt: skip
    found, _ = only(here, reports(SOUND, by=lines))
    assert found.facts["series"]["second"] == [n / 2 for n in range(1, 9)]
    assert found.notes == {}


def test_a_target_rate_is_noted(here):
    found, _ = only(
        here, SOUND.replace("Number of threads: 4\n", "Number of threads: 4\nTarget transaction rate: 100/sec\n")
    )
    assert found.notes == {"target_rate": "100 per second"}


@pytest.mark.parametrize(("like", "share"), [(OF_1_1, 1), (OF_0_5, 2)])
def test_counts_of_checkpoints_are_added_up(here, like, share):
    text = log(4, 6000, like)
    start = text.index("SQL statistics") if like == OF_1_1 else text.index("OLTP test statistics")
    checkpoint = f"[ 5s ] Checkpoint report:\n{text[start:]}"
    found, unread = only(here, text[:start] + checkpoint + text[start:])
    once, _ = only(here, text)
    window = found.facts["window"]
    assert not unread
    assert window["transactions"] == 12000
    assert window["duration_s"] == pytest.approx(share * once.facts["window"]["duration_s"])
    assert window["latency_mean_ms"] == pytest.approx(once.facts["window"]["latency_mean_ms"])
    assert window["p95_ms"] is None
    assert found.notes["checkpoints"].startswith("2 summaries")


def test_two_summaries_without_a_checkpoint_are_no_result(here):
    found, _ = only(here, SOUND + SOUND[SOUND.index("SQL statistics") :])
    assert "2 summaries, expected one per checkpoint" in found.facts["reason"]
