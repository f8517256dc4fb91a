"""Proofs between builds: what differs as declared passes, everything else is refused with builds, units, arguments."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.build.compilation import binary
from scripts.build.compilation.compiler_calls import CompilerCall, write_calls
from scripts.build.compilation.compiler_flags import RELOCATIONS, flags_of
from scripts.build.compilation.flags import LINK
from scripts.build.compilation.proofs import Made, demand, prove
from scripts.jobs import prove_builds
from scripts.lib import json_record
from scripts.lib.build_records import BuildFacts


@pytest.fixture
def used(tmp_path):
    return list(flags_of("gcc").use(tmp_path / "build", tmp_path / "counters"))


def build(name, stage="plain", text="", common=(), profile=(), lto=(), link=LINK, calls=None, **other):
    """A build of two units whose wrapper added the flags it declares."""
    flags = {"common": list(common), "profile": list(profile), "lto": list(lto), "link": list(link)}
    facts = {"server": "tiny", "family": "postgresql", "build": name, "stage": stage, "flags": flags,
             "text_sha256": text or name, "toolchain": {"name": "gcc-12", "version": "12.2.0"}, **other}  # fmt: skip
    extra = (*common, *profile, *lto)
    made = [
        CompilerCall("a.o", ("gcc", "-O2", "-c", "a.c", "-o", "a.o", *extra), links=False, said=""),
        CompilerCall("sub/b.o", ("gcc", "-O2", "-c", "b.c", "-o", "sub/b.o", *extra), links=False, said=""),
        CompilerCall("server", ("gcc", "a.o", "sub/b.o", "-o", "server", *extra, *link), links=True, said=""),
    ]
    return Made(BuildFacts.of(facts), tuple(made if calls is None else calls))


def bolted(name, base, text="", arguments=("-icf=1",)):
    facts = {"server": "tiny", "build": name, "stage": "bolted", "flags": None, "text_sha256": text or name,
             "toolchain": {"name": "bolt-16", "version": "16"},
             "bolt": {"input_build": base, "arguments": list(arguments), "version": "16"}}  # fmt: skip
    return Made(BuildFacts.of(facts), None)


def replaced(made, unit, *arguments):
    calls = [CompilerCall(unit, arguments, False, "") if call.unit == unit else call for call in made.calls]
    return Made(made.facts, tuple(calls))


def found(*builds):
    return {(proof.kind, proof.builds): proof for proof in prove(builds)}


def test_builds_with_other_flags_and_other_code_hold():
    proofs = found(build("baseline"), build("o3", common=["-O3"]))
    (proof,) = proofs.values()
    assert (proof.kind, proof.builds, proof.holds) == ("machine_code", ("baseline", "o3"), True)
    demand(proofs.values())


@pytest.mark.parametrize(
    "other",
    [
        build("other", common=["-O3"], text="same"),
        build("other", lto=["-flto=2"], text="same"),
        build("other", stage="optimised", profile=["-fprofile-use=/p"], text="same"),
        build("other", stage="published", profile=["-fprofile-use=/p"], text="same"),
        build("other", text="same", toolchain={"name": "gcc-13", "version": "13.2.0"}),
        build("other", text="same", toolchain={"name": "gcc-12", "version": "12.3.0"}),
        bolted("other", "relocatable_x", text="same"),
    ],
    ids=["flags", "lto", "profile", "published", "toolchain", "compiler release", "bolt"],
)
def test_builds_that_should_differ_and_have_the_same_machine_code_are_refused(other):
    proofs = found(build("baseline", text="same"), other)
    proof = proofs["machine_code", ("baseline", "other")]
    assert not proof.holds
    with pytest.raises(ValueError, match="baseline and other are declared to differ but have the same machine code"):
        demand(proofs.values())


def test_builds_declared_alike_may_be_the_same():
    assert found(build("baseline", text="same"), build("twin", text="same")) == {}
    assert found(build("lto", lto=["-flto=2"], text="same"), build("twin", lto=["-flto=8"], text="same")) == {}


def test_stages_nobody_measures_are_not_compared_with_each_other():
    one = build("instrumented_x", stage="instrumented", profile=["-fprofile-generate=/c"], text="same")
    other = build(
        "relocatable_x",
        stage="relocatable",
        common=flags_of("gcc").relocatable,
        link=[*LINK, *RELOCATIONS],
        text="same",
    )
    assert ("machine_code", ("instrumented_x", "relocatable_x")) not in found(one, other)


def test_two_bolted_builds_of_one_input_with_other_arguments_should_differ():
    one, other = bolted("b1", "r", text="same"), bolted("b2", "r", text="same", arguments=["-icf=0"])
    assert not found(one, other)["machine_code", ("b1", "b2")].holds


def test_profile_is_all_that_differs(used):
    proofs = found(build("baseline"), build("pgo", stage="optimised", profile=used))
    assert proofs["profile_only", ("baseline", "pgo")].holds
    assert "3 objects and programs" in proofs["profile_only", ("baseline", "pgo")].text
    demand(proofs.values())


def test_profile_flags_of_clang_are_profile_flags_too(tmp_path):
    profile = flags_of("clang").use(tmp_path, tmp_path)
    assert found(build("a"), build("pgo", stage="optimised", profile=profile))["profile_only", ("a", "pgo")].holds


def test_number_of_jobs_of_a_thin_link_is_no_difference():
    one, other = (build(name, link=[*LINK, "-fuse-ld=lld", f"-Wl,--thinlto-jobs={jobs}"], text="same")
                  for name, jobs in (("lto", 2), ("twin", 8)))  # fmt: skip
    assert found(one, other) == {}


def test_number_of_link_jobs_is_no_difference(used):
    one = build("lto", lto=["-flto=2"])
    other = build("pgo_lto", stage="optimised", lto=["-flto=4"], profile=used)
    assert found(one, other)["profile_only", ("lto", "pgo_lto")].holds


@pytest.mark.parametrize(
    ("unit", "arguments", "told"),
    [
        ("sub/b.o", ("gcc", "-O3", "-c", "b.c", "-o", "sub/b.o"), "sub/b.o: only baseline has -O2; only pgo has -O3"),
        ("sub/b.o", ("gcc", "-O2", "-c", "b.c", "-o", "sub/b.o", "-DX"), "sub/b.o: only pgo has -DX"),
        ("a.o", ("gcc", "-c", "-O2", "a.c", "-o", "a.o"), "a.o: the same arguments in another order"),
        ("server", ("gcc", "a.o", "-o", "server", *LINK), "server: only baseline has sub/b.o"),
    ],
)
def test_anything_else_that_differs_is_refused_with_unit_and_arguments(used, unit, arguments, told):
    pgo = replaced(build("pgo", stage="optimised", profile=used), unit, *arguments)
    proofs = found(build("baseline"), pgo)
    with pytest.raises(ValueError, match="baseline and pgo should differ in profile only") as refused:
        demand(proofs.values())
    assert told in str(refused.value)


def test_unit_that_one_build_lacks_is_a_difference(used):
    pgo = build("pgo", stage="optimised", profile=used)
    pgo = Made(pgo.facts, tuple(call for call in pgo.calls if call.unit != "a.o"))
    assert "a.o: not made by pgo" in found(build("baseline"), pgo)["profile_only", ("baseline", "pgo")].text


def test_flag_smuggled_into_the_profile_flags_is_a_difference(used):
    pgo = build("pgo", stage="optimised", profile=[*used, "-funroll-loops"])
    proof = found(build("baseline"), pgo)["profile_only", ("baseline", "pgo")]
    assert not proof.holds
    assert "only pgo has -funroll-loops" in proof.text


def test_of_many_differences_the_first_are_listed_and_the_rest_counted(used):
    calls = [CompilerCall(f"u{n}.o", ("gcc", "-c", f"u{n}.c"), False, "") for n in range(9)]
    other = [CompilerCall(call.unit, (*call.arguments, "-DX"), False, "") for call in calls]
    pgo = build("pgo", stage="optimised", profile=used, calls=other)
    text = found(build("baseline", calls=calls), pgo)["profile_only", ("baseline", "pgo")].text
    assert text.count("only pgo has -DX") == 5
    assert text.endswith("and 4 more")


def test_input_of_bolt_differs_from_its_build_in_what_bolt_needs_only(used):
    link = [*LINK, *RELOCATIONS]
    base = build("relocatable_x", stage="relocatable", common=flags_of("gcc").relocatable, profile=used, link=link)
    pgo = build("pgo", stage="optimised", profile=used)
    proofs = found(base, pgo, build("baseline"))
    assert proofs["bolt_only", ("pgo", "relocatable_x")].holds
    assert ("bolt_only", ("baseline", "relocatable_x")) not in proofs
    broken = found(replaced(base, "a.o", "gcc", "-O1", "-c", "a.c"), pgo)["bolt_only", ("pgo", "relocatable_x")]
    assert not broken.holds
    assert "should differ in what BOLT needs of its input only" in broken.text


def test_published_recipe_has_other_build_directories_and_is_not_proven_profile_only(used):
    proofs = found(build("as_published", stage="published", profile=used), build("baseline"))
    assert set(proofs) == {("machine_code", ("as_published", "baseline"))}


def program(facts):
    return facts.parent / "install" / "server"


def test_entry_script_proves_the_builds_of_each_server_apart(tmp_path, used, monkeypatch):
    # The programs here are texts, and these stand for their machine code.
    monkeypatch.setattr(binary, "text_sha256", Path.read_text)
    made = [build("baseline"), build("pgo", stage="optimised", profile=used), bolted("pgo_bolt", "relocatable_x")]
    alien = Made(replace(build("o3", common=["-O3"], text="baseline").facts, server="other"), made[0].calls)
    facts, calls = [], []
    for each in [*made, alien]:
        facts.append(tmp_path / each.facts.server / each.name / "facts.json")
        json_record.write(facts[-1], {**each.facts.to_json(), "server_file": "server", "text_sha256": None})
        program(facts[-1]).parent.mkdir()
        program(facts[-1]).write_text(each.facts.text_sha256)
        if each.calls is not None:
            calls.append(facts[-1].with_name("calls.json.gz"))
            write_calls(each.calls, calls[-1])
    prove_builds.main(facts, calls, tmp_path / "proofs.json", tmp_path / "log")
    proofs = json_record.read(tmp_path / "proofs.json")["proofs"]
    assert [(proof["kind"], proof["builds"], proof["holds"]) for proof in proofs] == [
        ("machine_code", ["baseline", "pgo"], True),
        ("profile_only", ["baseline", "pgo"], True),
        ("machine_code", ["baseline", "pgo_bolt"], True),
        ("machine_code", ["pgo", "pgo_bolt"], True),
    ]
    assert {proof["server"] for proof in proofs} == {"tiny"}
    program(facts[1]).write_text("baseline")
    with pytest.raises(ValueError, match="baseline and pgo are declared to differ but have the same machine code"):
        prove_builds.main(facts, calls, tmp_path / "second.json", tmp_path / "log")
    assert not (tmp_path / "second.json").exists()
    prove_builds.main(facts, calls, tmp_path / "second.json", tmp_path / "log", tolerated=[facts[1].parent])
    broken = [proof["builds"] for proof in json_record.read(tmp_path / "second.json")["proofs"] if not proof["holds"]]
    assert broken == [["baseline", "pgo"]]
