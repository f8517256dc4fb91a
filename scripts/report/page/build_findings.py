"""Findings on builds: failed ones, profiles used, equal answers, differences as declared."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scripts.lib.failure_reasons import alike
from scripts.lib.host.outcome import has_failed, sound_records
from scripts.lib.json_record import part
from scripts.lib.resolved_study import ResolvedBuild, ResolvedStudy, ResolvedVariant
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import NOTHING, brief, listing, missing, number, plural
from scripts.report.page.audits_section import audit_of, executed_share, is_lost, units_text
from scripts.report.page.document import Heading, PageBlock, Prose, grid
from scripts.report.page.finding import Finding, Topic

FAILED_BUILDS = Topic(
    "failed_builds",
    "Builds that failed",
    "They have no figures. Read the reason under Builds, remove its cause, and make the report again.",
)
PROFILE_USED = Topic(
    "profile_used",
    "Profile used",
    "A build without its profile is no profile-guided build. Train it again with the same source tree.",
)
SAME_ANSWERS = Topic(
    "same_answers",
    "Same answers",
    "A build that answers differently, or that was not checked, may be fast because it is wrong.",
)
FOREIGN_FLAGS = Topic(
    "foreign_flags",
    "Flags from outside",
    "A build with flags of somebody's shell is not the one that it is called. Remove its folder, and make it again.",
)
DECLARED_DIFFERENCES = Topic(
    "declared_differences",
    "Builds differ as declared",
    "The cause of an effect may be something else than what the variants are named after.",
)
PROFILED = ("optimised", "published")
USES = ("-fprofile-use", "-fprofile-instr-use")
PROVEN = {
    "machine_code": "that should differ have different machine code",
    "profile_only": "differ in their profile only",
    "bolt_only": "differ only in what BOLT needs of its input",
}


@dataclass(frozen=True)
class Built:
    """Records about builds: facts, audits of profiles, differential checks, proofs that builds differ as declared.

    `foreign_flags` has server, build and `flags`, a text, of each compiled build that was judged; older records none.
    """

    facts: list[dict[str, Any]]
    audits: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    proofs: list[dict[str, Any]]
    foreign_flags: list[dict[str, Any]] = field(default_factory=list)


def used_builds(study: ResolvedStudy, facts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the facts of the builds that variants use."""
    used = {(arm.server, arm.build) for arm in study.variants.values()}
    return [build for build in facts if (build["server"], build["build"]) in used]


def name_of(build: dict[str, Any]) -> str:
    """Return the name of a build with that of its server."""
    return f"{build['build']} of {build['server']}"


def has_profile(study: ResolvedStudy, build: dict[str, Any]) -> bool:
    """Return whether a build was compiled with a profile, or declared to be."""
    declared = study.builds.get(build["build"], ResolvedBuild())
    given = any(flag.startswith(USES) for flag in part(build, "flags").get("profile") or [])
    return bool(build.get("stage") in PROFILED or declared.profile or given)


def lost_profiles(study: ResolvedStudy, built: Built) -> dict[str, str]:
    """Return the variants whose build did not use its profile, with the sentence on each."""
    found = {}
    for build in used_builds(study, built.facts):
        audit = audit_of(build, built.audits)
        if audit is None or not is_lost(audit):
            continue
        sentence = f"Its profile was lost: {units_text(audit)}. It is no measurement of a profile-guided build."
        arms = [name for name, arm in study.variants.items() if name not in CONTROLS and _runs(arm, build)]
        found |= dict.fromkeys(arms, sentence)
    return found


def _runs(arm: ResolvedVariant, build: dict[str, Any]) -> bool:
    return (arm.server, arm.build) == (build["server"], build["build"])


def audited(study: ResolvedStudy, built: Built) -> Finding:
    """Report how much of its profile each build used; a lost profile and a missing audit are to be looked at."""
    good, doubtful = [], []
    for build in used_builds(study, built.facts):
        audit = audit_of(build, built.audits)
        if has_failed(build):
            continue
        if audit is None and has_profile(study, build):
            doubtful.append(f"{name_of(build)}: compiled with a profile, but never audited.")
        elif audit is not None and is_lost(audit):
            doubtful.append(f"{name_of(build)}: the profile is lost, {units_text(audit)}. {executed_share(audit)}")
        elif audit is not None:
            good.append(f"{name_of(build)}: {units_text(audit)}. {executed_share(audit)}")
    if not good and not doubtful:
        return PROFILE_USED.plain("No build of this study was compiled with a profile.")
    text = f"{len(good)} of {plural(len(good) + len(doubtful), 'build')} with a profile used as much of it as required."
    return PROFILE_USED.judged(not doubtful, " ".join([*doubtful, text]), tuple(good))


def checked(study: ResolvedStudy, built: Built) -> Finding:
    """Report whether all builds answered the statements of the check as their check reference did."""
    checks = built.checks
    if not checks:
        return SAME_ANSWERS.look("No build's answers were compared with those of another build.")
    known = {(check["server"], check["build"]) for check in checks}
    unknown = [build for build in used_builds(study, built.facts) if (build["server"], build["build"]) not in known]
    faults = [_not_identical(one) for one in checks if not identical(one)]
    faults += [f"{name_of(build)}: not checked" for build in unknown]
    return SAME_ANSWERS.judged(not faults, _compared(checks), tuple(faults))


def _not_identical(check: dict[str, Any]) -> str:
    if has_failed(check) and not check.get("differences"):
        return f"{name_of(check)} was not compared: {brief(check['reason'])}"
    return f"{name_of(check)} answers differently from {check['reference_build']}"


def _compared(checks: list[dict[str, Any]]) -> str:
    others = [check for check in checks if not is_reference(check)]
    if not others:
        return "Each server has one build, so there was no other build to compare its answers with."
    counts = sorted({asked for check in others if not missing(asked := _asked(check))})
    asked = " to ".join(map(number, dict.fromkeys(counts[:1] + counts[-1:]))) or "an unknown number of"
    sentence = f"{sum(map(identical, others))} of {plural(len(others), 'build')} answered {asked} statements exactly as"
    return f"{sentence} the check reference of its server."


def is_reference(check: dict[str, Any]) -> bool:
    """Return whether a check compares the check reference with itself."""
    return check.get("is_check_reference", check["build"] == check["reference_build"])


def _asked(check: dict[str, Any]) -> int | None:
    counted = [check.get("statements"), check.get("skipped")]
    return None if missing(counted[0]) else counted[0] - (counted[1] or 0)


def identical(check: dict[str, Any]) -> bool:
    """Return whether every statement that was not skipped was answered identically."""
    asked = _asked(check)
    return not missing(asked) and not check.get("differences") and check.get("answered_identically") == asked


CHECK_HEAD = ("build", "server", "check reference", "statements", "skipped", "answered identically", "tables the same")


def check_rows(checks: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row per check."""
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


CHECK_TEXT = (
    "Each build got the same SQL statements before it was measured; its answers and the checksums of its tables must "
    "equal those of the check reference of its server."
)


def check_blocks(checks: Iterable[dict[str, Any]]) -> list[PageBlock]:
    """Return the differential checks; nothing without any."""
    rows = check_rows(checks)
    return [Heading("The same answers"), Prose(CHECK_TEXT), grid(CHECK_HEAD, rows, 3)] if rows else []


def proven(study: ResolvedStudy, built: Built) -> Finding:
    """Report whether builds differ in what was declared and in nothing else."""
    proofs = built.proofs
    servers = [server for server, _ in {(arm.server, arm.build) for arm in study.variants.values()}]
    if not proofs and len(servers) == len(set(servers)):
        return DECLARED_DIFFERENCES.plain("Each server has one build, so there was no pair to compare.")
    if not proofs:
        text = "Whether builds differ in what was declared, and in nothing else, was not checked."
        return DECLARED_DIFFERENCES.look(text)
    broken = [proof for proof in proofs if not proof["holds"]]
    sentences = [f"{_pair(proof)}: {proof['text']}" for proof in [*broken, *proofs]]
    by_kind = {kind: [proof["holds"] for proof in proofs if proof["kind"] == kind] for kind in PROVEN}
    parts = [f"{sum(held)} of {plural(len(held), 'pair')} {PROVEN[kind]}" for kind, held in by_kind.items() if held]
    text = f"{'; '.join(parts) or plural(len(proofs), 'comparison')}."
    return DECLARED_DIFFERENCES.judged(not broken, text, tuple(dict.fromkeys(sentences)))


def _pair(proof: dict[str, Any]) -> str:
    where = f" of {proof['server']}" if proof.get("server") else ""
    return listing(list(map(str, proof["builds"]))) + where


def foreign_flags_finding(built: Built) -> Finding | None:
    """Return the finding on flags that no recipe gave; None when no build was judged."""
    if not (judged := built.foreign_flags):
        return None
    foreign = [build for build in judged if build["flags"]]
    lines = [f"{name_of(build)}: {build['flags']}" for build in foreign]
    if not foreign:
        text = f"In the command lines of {plural(len(judged), 'build')} no flag of the kinds that are judged came from"
        return FOREIGN_FLAGS.good(f"{text} outside of the recipe.")
    text = (
        f"{len(foreign)} of {plural(len(judged), 'build')} were compiled with flags that no recipe gave, as a shell's"
    )
    return FOREIGN_FLAGS.look(f"{text} CFLAGS or LDFLAGS do.", tuple(lines))


def failure_stories(built: Built, profiles: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return (name, reason) of failed builds and trainings, and of failed audits and checks of builds that exist."""
    parts = [(name_of(build), build["reason"]) for build in built.facts if has_failed(build)]
    made = {(build["server"], build["build"]) for build in sound_records(built.facts)}
    judged = [("audit", each) for each in built.audits] + [("check", each) for each in built.checks]
    parts += [
        (f"{kind} of {name_of(each)}", each["reason"])
        for kind, each in judged
        if has_failed(each) and (each["server"], each["build"]) in made
    ]
    trained = [profile for profile in profiles if has_failed(profile)]
    return parts + [(f"training {each['training']} of {each['server']}", each["reason"]) for each in trained]


def failure_reasons(study: ResolvedStudy, built: Built) -> dict[str, str]:
    """Return the variants whose build failed, without A/A, with the sentence on why nothing was measured."""
    checks = {(check["server"], check["build"]): check for check in built.checks}
    found = {}
    for build in used_builds(study, built.facts):
        pair = (build["server"], build["build"])
        judged = (build, audit_of(build, built.audits), checks.get(pair))
        reason = next((each["reason"] for each in judged if each and has_failed(each)), None)
        if reason:
            arms = [name for name, arm in study.variants.items() if (arm.server, arm.build) == pair]
            sentence = f"Its build failed, so nothing was measured with it: {brief(reason)}"
            found |= dict.fromkeys([name for name in arms if name not in CONTROLS], sentence)
    return found


def failed_builds_finding(study: ResolvedStudy, built: Built) -> Finding | None:
    """Return the finding on variants whose build failed; None when no build failed."""
    found = failure_reasons(study, built)
    if not found:
        return None
    arms = [name for name in study.variants if name not in CONTROLS]
    text = f"{len(found)} of {plural(len(arms), 'variant')} were not measured, since their build failed."
    lines = [
        f"{listing([name for name, _ in group.things])}: {group.reason}"
        for group in alike(found.items(), lambda item: item[1])
    ]
    return FAILED_BUILDS.look(text, tuple(lines))
