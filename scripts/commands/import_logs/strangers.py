"""Texts that are not the output of `sysbench … run`: what they are, by name."""

import json
import re

from scripts.measure.loadgen.output import VERSION

JSON_TEXT = "prints JSON; only sysbench's own text is read"
CSV_TEXT = "prints CSV; only sysbench's own text is read"
# The beginnings of lines by which other programs are recognised.
PROGRAMS = {
    "pgbench": r"pgbench \(|transaction type: <builtin|number of transactions actually processed: ",
    "HammerDB": r"HammerDB|Vuser \d+:|.*System achieved \d+ NOPM",
    "YCSB": r"\[OVERALL\], |YCSB Client|\[READ\], (?:Operations|AverageLatency)",
    "tpcc-mysql": r"\*\*\* ###easy### TPC-C Load Generator|<TpmC>|\s*\*\*\* #+ TPC-C|MEASURING START\.$",
    "mysqlslap": r"\s*Average number of seconds to run all queries: |\s*Running for engine ",
    "wrk": r"Running \S+ test @ |Requests/sec: +\d",
    "fio": r"fio-\d|.*: \(groupid=\d+, jobs=\d+\): ",
    "go-tpc": r"tpmC: |\[Current\] (?:NEW_ORDER|Q1)",
    "BenchBase": r".*com\.oltpbenchmark|.*benchbase",
    "memtier_benchmark": r"\[RUN #\d+|ALL STATS$",
    "redis-benchmark": r"====== \w+ ======",
    "ApacheBench": r"This is ApacheBench",
    "linkbench": r".*com\.facebook\.LinkBench",
    "mydumper": r"\*\* Message: .*mydumper|\[mydumper\]",
    "vmstat": r"procs -+memory",
    "iostat": r"avg-cpu: +%user|Linux \d\S+ \(.*\) .*CPU\)$",
    "a MySQL server's error log": r"\d{4}-\d\d-\d\d[T ]\S+ (?:\d+ )?\[(?:Note|System|Warning|ERROR)\] ",
    "a PostgreSQL server's log": r"\d{4}-\d\d-\d\d \S+ \S+ \[\d+\].* (?:LOG|FATAL|ERROR): ",
    "HTML": r"\s*<(?:!DOCTYPE html|html)",
    "XML": r"\s*<\?xml ",
}
BY_PROGRAM = {
    name: re.compile(f"^(?:{beginning})", re.MULTILINE | re.IGNORECASE) for name, beginning in PROGRAMS.items()
}
RUN_LINES = re.compile(
    r"^Running the test with following options:|^Threads started!|^ +execution time \(avg/stddev\):", re.MULTILINE
)
COMMANDS = {
    "prepare": r"Creating (?:a )?(?:table|secondary|index|\d+ files)|Inserting \d+ rec|loading tables|Loading wareh",
    "cleanup": r"Dropping table|Removing test files",
    "prewarm": r"Prewarming table|Preloading table",
    "help": r"\S+\.lua options:|\S+ options:|General options:|Usage:",
}
BY_COMMAND = {name: re.compile(f"^(?:{beginning})", re.MULTILINE) for name, beginning in COMMANDS.items()}
CSV_LINE = re.compile(r"^ *-?[\d.]+(?:[,;\t] *-?[\d.]+){4,}$", re.MULTILINE)
JSON_LINE = re.compile(r'^\s*(?:\[?\{$|"(?:time|tps|threads|latency)": )', re.MULTILINE)


def stranger(text: str) -> str:
    """Return what a text is that no `sysbench … run` wrote: another program's or command's; empty if unknown."""
    if VERSION.search(text):
        return _command(text)
    for name, beginning in BY_PROGRAM.items():
        if beginning.search(text):
            return f"it looks like {name}, not like output of sysbench"
    if text.lstrip()[:1] in ("{", "[") and (_is_json(text) or JSON_LINE.search(text)):
        return f"it {JSON_TEXT}"
    if len(CSV_LINE.findall(text)) > 1 or text.partition("\n")[0].count(",") >= 4:
        return f"it {CSV_TEXT}"
    return ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _command(text: str) -> str:
    if RUN_LINES.search(text):
        return ""
    named = [name for name, beginning in BY_COMMAND.items() if beginning.search(text)]
    return f"it is the output of `sysbench … {named[0]}`, not of a run" if named else ""


def other_form(text: str) -> str:
    """Return in which other form than text sysbench printed its reports, JSON or CSV; empty if in none."""
    if JSON_LINE.search(text):
        return JSON_TEXT
    return CSV_TEXT if len(CSV_LINE.findall(text)) > 1 else ""
