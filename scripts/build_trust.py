"""Can the builds be trusted: profiles taken in, the same answers, and differences that are the declared ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scripts.audit_details import audit_of, executed_share, lost, units_text
from scripts.build_arguments import Facts
from scripts.comparison import AA
from scripts.failures import has_failed
from scripts.tables import fact
from scripts.verdict import Finding
from scripts.wording import NOTHING, brief, listing, missing, number, plural

PROFILED = ("optimised", "published")
USES = ("-fprofile-use", "-fprofile-instr-use")
PROVEN = {
    "machine_code": "that should differ have different machine code",
    "profile_only": "differ in their profile only",
    "bolt_only": "differ only in what BOLT needs of its input",
}


@dataclass(frozen=True)
class Built:
    """Records about builds: facts, audits of profiles, differential checks, proofs that builds differ as declared."""

    facts: list[Facts]
    audits: list[Facts]
    checks: list[Facts]
    proofs: list[Facts]


def used_builds(study: dict[str, Any], facts: Iterable[Facts]) -> list[Facts]:
    """Return the facts of the builds that variants use."""
    used = {(arm["server"], arm["build"]) for arm in study["variants"].values()}
    return [build for build in facts if (build["server"], build["build"]) in used]


def name_of(build: Facts) -> str:
    """Write which build it is."""
    return f"{build['build']} of {build['server']}"


def has_profile(study: dict[str, Any], build: Facts) -> bool:
    """Tell whether a build was compiled with a profile, or declared to be."""
    declared = (study.get("builds") or {}).get(build["build"]) or {}
    given = any(flag.startswith(USES) for flag in fact(build, "flags.profile") or [])
    return bool(build.get("stage") in PROFILED or declared.get("profile") or given)


def lost_profiles(study: dict[str, Any], built: Built) -> dict[str, str]:
    """Return, by variant, the sentence on a profile its build did not take in."""
    found = {}
    for build in used_builds(study, built.facts):
        audit = audit_of(build, built.audits)
        if audit is None or not lost(audit):
            continue
        sentence = f"Its profile was lost: {units_text(audit)}. It is no measurement of a profile-guided build."
        arms = [name for name, arm in study["variants"].items() if name != AA and _runs(arm, build)]
        found |= dict.fromkeys(arms, sentence)
    return found


def _runs(arm: dict[str, Any], build: Facts) -> bool:
    return (arm["server"], arm["build"]) == (build["server"], build["build"])


def audited(study: dict[str, Any], built: Built) -> Finding:
    """Say how much of the profile every profile-using build took in; a lost one and one without an audit are told."""
    good, doubtful = [], []
    for build in used_builds(study, built.facts):
        audit = audit_of(build, built.audits)
        if has_failed(build):
            continue
        if audit is None and has_profile(study, build):
            doubtful.append(f"{name_of(build)}: compiled with a profile, but never audited.")
        elif audit is not None and lost(audit):
            doubtful.append(f"{name_of(build)}: the profile is lost, {units_text(audit)}. {executed_share(audit)}")
        elif audit is not None:
            good.append(f"{name_of(build)}: {units_text(audit)}. {executed_share(audit)}")
    if not good and not doubtful:
        return Finding("Profile used", "plain", "No build of this study was compiled with a profile.")
    text = f"{len(good)} of {plural(len(good) + len(doubtful), 'build')} with a profile took it in as asked."
    return Finding("Profile used", "look" if doubtful else "good", " ".join([*doubtful, text]), tuple(good))


def checked(study: dict[str, Any], built: Built) -> Finding:
    """Say whether all builds answered the check's statements as their check reference did."""
    title, checks = "Same answers", built.checks
    if not checks:
        return Finding(title, "look", "No build's answers were compared with those of another one.")
    known = {(check["server"], check["build"]) for check in checks}
    unknown = [build for build in used_builds(study, built.facts) if (build["server"], build["build"]) not in known]
    told = [_not_identical(one) for one in checks if not identical(one)]
    told += [f"{name_of(build)}: not checked" for build in unknown]
    return Finding(title, "look" if told else "good", _compared(checks), tuple(told))


def _not_identical(check: Facts) -> str:
    if has_failed(check) and not check.get("differences"):
        return f"{name_of(check)} was not compared: {brief(check['reason'])}"
    return f"{name_of(check)} answers differently from {check['reference_build']}"


def _compared(checks: list[Facts]) -> str:
    others = [check for check in checks if not is_reference(check)]
    if not others:
        return "Each server has one build, so there was no other one to compare its answers with."
    counts = sorted({asked for check in others if not missing(asked := _asked(check))})
    asked = " to ".join(map(number, dict.fromkeys(counts[:1] + counts[-1:]))) or "an unknown number of"
    told = f"{sum(map(identical, others))} of {plural(len(others), 'build')} answered {asked} statements exactly as"
    return f"{told} the check reference of its server."


def is_reference(check: Facts) -> bool:
    """Tell whether a check compares the check reference with itself."""
    return check.get("is_check_reference", check["build"] == check["reference_build"])


def _asked(check: Facts) -> int | None:
    counted = [check.get("statements"), check.get("skipped")]
    return None if missing(counted[0]) else counted[0] - (counted[1] or 0)


def identical(check: Facts) -> bool:
    """Tell whether every statement that was not skipped was answered identically."""
    asked = _asked(check)
    return not missing(asked) and not check.get("differences") and check.get("answered_identically") == asked


CHECK_HEAD = ("build", "server", "check reference", "statements", "skipped", "answered identically", "tables the same")


def check_rows(checks: Iterable[Facts]) -> list[tuple[str, ...]]:
    """Return one row a check."""
    counts = ("statements", "skipped", "answered_identically", "tables_checksummed")
    return [
        (
            check["build"],
            check["server"],
            "itself" if is_reference(check) else check["reference_build"],
            *(NOTHING if missing(check.get(key)) else number(check[key]) for key in counts),
        )
        for check in checks
    ]


def proven(study: dict[str, Any], built: Built) -> Finding:
    """Say whether builds differ in what was declared and in nothing else."""
    title, proofs = "Builds differ as declared", built.proofs
    servers = [server for server, _ in {(arm["server"], arm["build"]) for arm in study["variants"].values()}]
    if not proofs and len(servers) == len(set(servers)):
        return Finding(title, "plain", "Each server has one build, so there were no two to tell apart.")
    if not proofs:
        text = "Whether builds differ in what was declared, and in nothing else, was not looked at."
        return Finding(title, "look", text)
    broken = [proof for proof in proofs if not proof["holds"]]
    told = [f"{_pair(proof)}: {proof['text']}" for proof in [*broken, *proofs]]
    by_kind = {kind: [proof["holds"] for proof in proofs if proof["kind"] == kind] for kind in PROVEN}
    parts = [f"{sum(held)} of {plural(len(held), 'pair')} {PROVEN[kind]}" for kind, held in by_kind.items() if held]
    text = f"{'; '.join(parts) or plural(len(proofs), 'comparison')}."
    return Finding(title, "look" if broken else "good", text, tuple(dict.fromkeys(told)))


def _pair(proof: Facts) -> str:
    where = f" of {proof['server']}" if proof.get("server") else ""
    return listing(list(map(str, proof["builds"]))) + where
