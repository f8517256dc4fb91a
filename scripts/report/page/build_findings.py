"""Findings on builds: failed ones, profiles used, equal answers, differences as declared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scripts.lib.build_records import Audit, BuildFacts, Check, Failable, JudgedFlags, Proof, TrainedProfile, sound
from scripts.lib.failure_reasons import alike
from scripts.lib.resolved_study import ResolvedBuild, ResolvedStudy
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import brief, listing, number, plural
from scripts.report.page.audits_section import audit_of, executed_share, units_text
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

    `foreign_flags` are those of each compiled build that was judged; older records have none.
    """

    facts: list[BuildFacts]
    audits: list[Audit]
    checks: list[Check]
    proofs: list[Proof]
    foreign_flags: Sequence[JudgedFlags] = ()


def used_builds(study: ResolvedStudy, facts: Iterable[BuildFacts]) -> list[BuildFacts]:
    """Return the facts of the builds that variants use."""
    used = {(arm.server, arm.build) for arm in study.variants.values()}
    return [build for build in facts if build.pair in used]


def arms_of(study: ResolvedStudy, build: BuildFacts) -> list[str]:
    """Return the variants that use a build, without the controls."""
    arms = {name: (arm.server, arm.build) for name, arm in study.variants.items() if name not in CONTROLS}
    return [name for name, pair in arms.items() if pair == build.pair]


def has_profile(study: ResolvedStudy, build: BuildFacts) -> bool:
    """Return whether a build was compiled with a profile, or declared to be."""
    declared = study.builds.get(build.build, ResolvedBuild())
    uses = any(flag.startswith(USES) for flag in build.flags.profile or [])
    return bool(build.stage in PROFILED or declared.profile or uses)


def lost_profiles(study: ResolvedStudy, built: Built) -> dict[str, str]:
    """Return the variants whose build did not use its profile, with the sentence on each."""
    sentences: dict[str, str] = {}
    for build in used_builds(study, built.facts):
        audit = audit_of(build, built.audits)
        if audit is not None and audit.is_lost:
            text = f"Its profile was lost: {units_text(audit)}. It is no measurement of a profile-guided build."
            sentences |= dict.fromkeys(arms_of(study, build), text)
    return sentences


def audited(study: ResolvedStudy, built: Built) -> Finding:
    """Report how much of its profile each build used; a lost profile and a missing audit are to be looked at."""
    good, doubtful = [], []
    for build in sound(used_builds(study, built.facts)):
        audit = audit_of(build, built.audits)
        if audit is None and has_profile(study, build):
            doubtful.append(f"{build.title}: compiled with a profile, but never audited.")
        elif audit is not None and audit.is_lost:
            doubtful.append(f"{build.title}: the profile is lost, {units_text(audit)}. {executed_share(audit)}")
        elif audit is not None:
            good.append(f"{build.title}: {units_text(audit)}. {executed_share(audit)}")
    if not good and not doubtful:
        return PROFILE_USED.plain("No build of this study was compiled with a profile.")
    text = f"{len(good)} of {plural(len(good) + len(doubtful), 'build')} with a profile used as much of it as required."
    return PROFILE_USED.judged(not doubtful, " ".join([*doubtful, text]), tuple(good))


def checked(study: ResolvedStudy, built: Built) -> Finding:
    """Report whether all builds answered the statements of the check as their check reference did."""
    checks = built.checks
    if not checks:
        return SAME_ANSWERS.look("No build's answers were compared with those of another build.")
    compared = {check.pair for check in checks}
    unknown = [build for build in used_builds(study, built.facts) if build.pair not in compared]
    faults = [_not_identical(check) for check in checks if not identical(check)]
    faults += [f"{build.title}: not checked" for build in unknown]
    return SAME_ANSWERS.judged(not faults, _compared(checks), tuple(faults))


def _not_identical(check: Check) -> str:
    if check.has_failed and not check.differences:
        return f"{check.title} was not compared: {brief(check.reason or '')}"
    return f"{check.title} answers differently from {check.reference_build}"


def _compared(checks: list[Check]) -> str:
    others = [check for check in checks if not is_reference(check)]
    if not others:
        return "Each server has one build, so there was no other build to compare its answers with."
    counts = sorted({count for check in others if (count := _statements(check)) is not None})
    shown = " to ".join(map(number, dict.fromkeys(counts[:1] + counts[-1:]))) or "an unknown number of"
    sentence = f"{sum(map(identical, others))} of {plural(len(others), 'build')} answered {shown} statements exactly as"
    return f"{sentence} the check reference of its server."


def is_reference(check: Check) -> bool:
    """Return whether a check compares the check reference with itself."""
    return check.build == check.reference_build if check.is_check_reference is None else check.is_check_reference


def _statements(check: Check) -> int | None:
    """Return the number of statements that a build was asked; None where it is unknown."""
    return None if check.statements is None else check.statements - (check.skipped or 0)


def identical(check: Check) -> bool:
    """Return whether every statement that was not skipped was answered identically."""
    count = _statements(check)
    return count is not None and not check.differences and check.answered_identically == count


CHECK_HEAD = ("build", "server", "check reference", "statements", "skipped", "answered identically", "tables the same")


def check_rows(checks: Iterable[Check]) -> list[tuple[str, ...]]:
    """Return one row per check."""
    return [
        (
            check.build,
            check.server,
            "itself" if is_reference(check) else check.reference_build,
            *map(number, (check.statements, check.skipped, check.answered_identically, check.tables_checksummed)),
        )
        for check in checks
    ]


CHECK_TEXT = (
    "Each build got the same SQL statements before it was measured; its answers and the checksums of its tables must "
    "equal those of the check reference of its server."
)


def check_blocks(checks: Iterable[Check]) -> list[PageBlock]:
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
    broken = [proof for proof in proofs if not proof.holds]
    sentences = [f"{_pair(proof)}: {proof.text}" for proof in [*broken, *proofs]]
    by_kind = {kind: [proof.holds for proof in proofs if proof.kind == kind] for kind in PROVEN}
    parts = [f"{sum(hold)} of {plural(len(hold), 'pair')} {PROVEN[kind]}" for kind, hold in by_kind.items() if hold]
    text = f"{'; '.join(parts) or plural(len(proofs), 'comparison')}."
    return DECLARED_DIFFERENCES.judged(not broken, text, tuple(dict.fromkeys(sentences)))


def _pair(proof: Proof) -> str:
    of_server = f" of {proof.server}" if proof.server else ""
    return listing(list(map(str, proof.builds))) + of_server


def foreign_flags_finding(built: Built) -> Finding | None:
    """Return the finding on flags that no recipe gave; None when no build was judged."""
    if not (judged := built.foreign_flags):
        return None
    foreign = [build for build in judged if build.flags]
    lines = [f"{build.title}: {build.flags}" for build in foreign]
    if not foreign:
        text = f"In the command lines of {plural(len(judged), 'build')} no flag of the kinds that are judged came from"
        return FOREIGN_FLAGS.good(f"{text} outside of the recipe.")
    text = (
        f"{len(foreign)} of {plural(len(judged), 'build')} were compiled with flags that no recipe gave, as a shell's"
    )
    return FOREIGN_FLAGS.look(f"{text} CFLAGS or LDFLAGS do.", tuple(lines))


def failure_stories(built: Built, profiles: Iterable[TrainedProfile]) -> list[tuple[str, str]]:
    """Return (name, reason) of failed builds and trainings, and of failed audits and checks of builds that exist."""
    existing = {build.pair for build in sound(built.facts)}
    stories: list[tuple[str, Failable]] = [(build.title, build) for build in built.facts]
    stories += [(f"audit of {audit.title}", audit) for audit in built.audits if audit.pair in existing]
    stories += [(f"check of {check.title}", check) for check in built.checks if check.pair in existing]
    stories += [(f"training {profile.training} of {profile.server}", profile) for profile in profiles]
    return [(name, record.reason or "") for name, record in stories if record.has_failed]


@dataclass(frozen=True)
class LostVariant:
    """A variant that was not measured, and the record of the failure of its build, or of an audit or check of it."""

    name: str
    record: Failable

    @property
    def sentence(self) -> str:
        """The sentence on why nothing was measured."""
        return f"Its build failed, so nothing was measured with it: {brief(self.record.reason or '')}"

    @property
    def cause(self) -> str:
        """By what failures are told apart: code and text of the cause; records without a code have the sentence."""
        return f"{self.record.failure.kind}: {self.record.failure.cause or self.sentence}"


def lost_variants(study: ResolvedStudy, built: Built) -> list[LostVariant]:
    """Return the variants whose build failed, without A/A."""
    checks, lost = {check.pair: check for check in built.checks}, dict[str, LostVariant]()
    for build in used_builds(study, built.facts):
        records: tuple[Failable | None, ...] = (build, audit_of(build, built.audits), checks.get(build.pair))
        failures = [record for record in records if record is not None and record.has_failed]
        lost |= {name: LostVariant(name, failures[0]) for name in arms_of(study, build) if failures}
    return [*lost.values()]


def failure_reasons(study: ResolvedStudy, built: Built) -> dict[str, str]:
    """Return the variants whose build failed, without A/A, with the sentence on why nothing was measured."""
    return {lost.name: lost.sentence for lost in lost_variants(study, built)}


def failed_builds_finding(study: ResolvedStudy, built: Built) -> Finding | None:
    """Return the finding on variants whose build failed; None when no build failed."""
    lost = lost_variants(study, built)
    if not lost:
        return None
    arms = [name for name in study.variants if name not in CONTROLS]
    text = f"{len(lost)} of {plural(len(arms), 'variant')} were not measured, since their build failed."
    groups = alike(lost, lambda variant: variant.cause)
    lines = [f"{listing([arm.name for arm in group.things])}: {group.things[0].sentence}" for group in groups]
    return FAILED_BUILDS.look(text, tuple(lines))
