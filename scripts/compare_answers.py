"""Compare a build's answers with those of its check reference, a build of the same server: all must be identical."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts import answers, failures, job, record
from scripts.concurrent_answers import violations

SAME = ("server", "release", "family", "statements_sha256", "recipe")
MOST_SHOWN = 10
LONGEST_SHOWN = 200
CONCURRENCY = "outcome of concurrency: "


def main(answers_file: Path, reference: Path, check: Path, log: Path) -> None:
    """Write `check`; raise Refused naming both builds and the statements they answer differently.

    The check of a build that may fail tells that instead; so it does when the build or the reference failed before.
    """
    given, expected = answers.read(answers_file), answers.read(reference)
    known = {key: given[key] for key in ("server", "release", "build")} | {"reference_build": expected["build"]}

    def give_up(reason: str) -> None:
        record.write(check, {**known, **failures.told(reason)})

    with failures.as_result(check.parent, give_up):
        for each, file in ((given, answers_file), (expected, reference)):
            failures.demand(each, file.parent)
        demand_comparable(given, expected)
        found = differences(given, expected)
        log.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        known |= facts(given, expected, found)
        if found:
            raise failures.Refused(story(given, expected, found))
        record.write(check, known)


def demand_comparable(given: dict, expected: dict) -> None:
    """Refuse answers of two servers, two releases or to different statements. Raises ValueError naming both values."""
    for key in SAME:
        if given[key] != expected[key]:
            raise ValueError(
                f"check of {given['server']} {given['build']}: {key} is {given[key]!r}, its check reference "
                f"{expected['server']} {expected['build']} has {expected[key]!r}; only builds of one server that "
                "were asked the same are compared"
            )


def differences(given: dict, expected: dict) -> list[dict[str, Any]]:
    """Return what was answered differently: {asked, answer, reference}, statements first, then tables, concurrency."""
    ours, theirs = (dict(_named(one)) for one in (given, expected))
    # A fixed outcome is known without a reference, so a reference that is broken itself is found as well.
    known = {f"{CONCURRENCY}{name}": rows for name, (_, rows) in violations(given["concurrency"]).items()}
    return [
        {"asked": asked, "answer": ours.get(asked), "reference": known.get(asked, theirs.get(asked))}
        for asked in dict.fromkeys([*ours, *theirs])
        if asked in known or ours.get(asked) != theirs.get(asked)
    ]


def _asked(answer: dict) -> str:
    return f"statement {answer['number']} ({answer['topic']}): {answer['statement']}"


def _named(one: dict) -> Iterator[tuple[str, Any]]:
    for answer in one["answers"]:
        said = {key: answer[key] for key in ("rows", "changed", "error")}
        yield _asked(answer), said
    for table in one["tables"]:
        yield f"content of table {table['table']}", {key: table[key] for key in sorted(table) if key != "table"}
    for name, outcome in one["concurrency"].items():
        yield f"{CONCURRENCY}{name}", outcome
    yield "numbers of skipped statements", one["skipped"]


def story(given: dict, expected: dict, found: list[dict[str, Any]]) -> str:
    """Return what a user is told of differences, the first ten with both answers."""
    shown = "\n".join(_shown(difference) for difference in found[:MOST_SHOWN])
    more = f"\n… and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    return (
        f"{given['server']}: build {given['build']} answers {len(found)} of {len(dict(_named(given)))} questions "
        f"differently from {expected['build']}, its check reference, so nothing is measured with it:\n{shown}{more}"
    )


def _shown(difference: dict[str, Any]) -> str:
    answer, reference = _first_difference(difference["answer"], difference["reference"])
    return f"- {_short(difference['asked'])}\n    answer:    {_short(answer)}\n    reference: {_short(reference)}"


def _first_difference(answer: Any, reference: Any) -> tuple[Any, Any]:
    """Return both answers, of two lists of rows only the first row that differs, or else the numbers of rows."""
    rows = [one.get("rows") if isinstance(one, dict) else None for one in (answer, reference)]
    if not all(isinstance(one, list) for one in rows):
        return answer, reference
    for number, pair in enumerate(zip(*rows, strict=False), start=1):
        if pair[0] != pair[1]:
            return tuple({"row": number, "values": row} for row in pair)
    return tuple({"rows in all": len(one)} for one in rows)


def _short(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else record.canonical(value)).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def facts(given: dict, expected: dict, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the record of a check with the differences found; a build compared with itself is the check reference."""
    wrong = {each["asked"] for each in found}
    return {
        "server": given["server"],
        "release": given["release"],
        "build": given["build"],
        "reference_build": expected["build"],
        "is_check_reference": given["build_digest"] == expected["build_digest"],
        "statements_sha256": given["statements_sha256"],
        "statements": len(given["answers"]) + len(given["skipped"]),
        "skipped": len(given["skipped"]),
        "answered_identically": sum(_asked(answer) not in wrong for answer in given["answers"]),
        "tables_checksummed": len(given["tables"]),
        "scans_under_concurrency": given["concurrency"]["scans"],
        "differences": found,
    }


if __name__ == "__main__":
    answers_file = {"type": Path, "required": True, "dest": "answers_file"}
    job.run(main, __doc__, "reference", "check", answers=answers_file)
