"""Builds that failed and were allowed to: what the report says of them, in place of figures."""

from collections.abc import Iterable
from typing import Any

from scripts.audit_details import audit_of
from scripts.build_trust import Built, name_of, used_builds
from scripts.comparison import AA
from scripts.failures import has_failed
from scripts.verdict import Finding
from scripts.wording import brief, plural

Facts = dict[str, Any]
TITLE = "Builds that failed"


def sound(facts: Iterable[Facts]) -> list[Facts]:
    """Return the records that are not those of a failure."""
    return [each for each in facts if not has_failed(each)]


def stories(built: Built, profiles: Iterable[Facts]) -> list[tuple[str, str]]:
    """Return (what failed, reason) of builds, of audits and checks of builds that are there, and of trainings."""
    parts = [(name_of(build), build["reason"]) for build in built.facts if has_failed(build)]
    made = {(build["server"], build["build"]) for build in sound(built.facts)}
    judged = [("audit", each) for each in built.audits] + [("check", each) for each in built.checks]
    parts += [
        (f"{kind} of {name_of(each)}", each["reason"])
        for kind, each in judged
        if has_failed(each) and (each["server"], each["build"]) in made
    ]
    trained = [profile for profile in profiles if has_failed(profile)]
    return parts + [(f"training {each['training']} of {each['server']}", each["reason"]) for each in trained]


def reasons(study: Facts, built: Built) -> dict[str, str]:
    """Return, by variant, the sentence on why nothing was measured with its build; A/A is left out."""
    checks = {(check["server"], check["build"]): check for check in built.checks}
    found = {}
    for build in used_builds(study, built.facts):
        pair = (build["server"], build["build"])
        judged = (build, audit_of(build, built.audits), checks.get(pair))
        reason = next((each["reason"] for each in judged if each and has_failed(each)), None)
        if reason:
            arms = [name for name, arm in study["variants"].items() if (arm["server"], arm["build"]) == pair]
            sentence = f"Its build failed, so nothing was measured with it: {brief(reason)}"
            found |= dict.fromkeys([name for name in arms if name != AA], sentence)
    return found


def finding(study: Facts, built: Built) -> Finding | None:
    """Return the finding on variants whose build failed; None when all are there."""
    found = reasons(study, built)
    if not found:
        return None
    arms = [name for name in study["variants"] if name != AA]
    text = f"{len(found)} of {plural(len(arms), 'variant')} were not measured, since their build failed."
    return Finding(TITLE, "look", text, tuple(f"{name}: {sentence}" for name, sentence in found.items()))
