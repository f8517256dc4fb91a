"""Flags of command lines that no recipe gave: named when they came from outside, and never otherwise."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.build.compilation import foreign_flags
from scripts.build.compilation.compiler_calls import CompilerCall, write_calls
from scripts.jobs import prove_builds
from scripts.lib import json_record
from scripts.lib.build_records import BuildFacts, ForeignFlags

CACHE = Path("/var/tmp/cache-of-a-user")
SOURCE = f"{CACHE}/src/2f2929874ec31e9a/tree"
# What PostgreSQL 15 gives every unit with gcc 12, from the calls of a build.
OWN = [
    "-Wall",
    "-Wmissing-prototypes",
    "-Wpointer-arith",
    "-Werror=vla",
    "-Wformat-security",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fexcess-precision=standard",
    "-Wno-format-truncation",
]
SEARCHED = [f"-I{SOURCE}/src/include", "-D_GNU_SOURCE"]
CONFIGURED = [f"{SOURCE}/configure", "--prefix=/usr/local/pgsql", "--without-icu", "CC=/nowhere/cc"]


@pytest.fixture(autouse=True)
def cache_of_the_sources(monkeypatch):
    monkeypatch.setattr(foreign_flags, "cache_path", lambda: CACHE)


LINK = ["-Wl,--build-id=sha1", "-Wl,--trace", "-Wl,--trace"]


def postgresql(optimise=("-O2",), searched=(), linked=(), common=(), configured=()):
    """Return facts and calls of a PostgreSQL that was configured with these CFLAGS, CPPFLAGS and LDFLAGS."""
    flags = {"common": list(common), "profile": [], "lto": [], "link": LINK}
    facts = {"server": "postgresql-15", "build": "baseline", "family": "postgresql", "stage": "plain", "flags": flags,
             "server_file": "bin/postgres", "configure_command": [*CONFIGURED, *configured]}  # fmt: skip

    def unit(name, *more):
        words = ["/usr/bin/gcc-12", *OWN, *optimise, *more, *SEARCHED, *searched, "-c", "-o", name, "x.c", *common]
        return CompilerCall(name, tuple(words), links=False, said="")

    def link(name, *more):
        words = ["/usr/bin/gcc-12", *OWN, *optimise, *more, "-L../../src/port", *linked, "-Wl,--as-needed", "-o", name]
        return CompilerCall(name, (*words, *common, *LINK), links=True, said="")

    units = [unit("a.o"), unit("checksum.o", "-funroll-loops", "-ftree-vectorize"), unit("crc.o", "-msse4.2")]
    return BuildFacts.of(facts), [
        *units,
        unit("lib.o", "-fPIC"),
        link("postgres", "-Wl,-E"),
        link("lib.so", "-fPIC", "-shared"),
    ]


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"common": ["-O3", "-march=native"]},
        {"optimise": ["-O2", "-g"], "configured": ["--enable-debug"]},
        {"optimise": ["-O3", "-g3"], "configured": ["CFLAGS=-O3 -g3"]},
        {"searched": ["-I/usr/include/libxml2"]},
        {"searched": ["-isystem", "/opt/ssl/include"], "configured": ["--with-includes=/opt/ssl/include"]},
    ],
)
def test_what_the_build_system_and_the_recipe_give_is_not_foreign(made):
    assert foreign_flags.foreign_flags(*postgresql(**made)) == ForeignFlags([], [])


def test_flags_of_a_shell_are_named():
    """The kind of Debian's CFLAGS, of a developer's, and of conda's."""
    facts, calls = postgresql(optimise=["-g", "-O0"])
    assert foreign_flags.foreign_flags(facts, calls) == ForeignFlags(["-O0", "-g"], ["-O0", "-g"])
    conda = {"optimise": ["-march=nocona", "-mtune=haswell", "-fno-plt", "-O2", "-pipe"],
             "searched": ["-isystem", "/opt/conda/include", "-I/opt/conda/include2"],
             "linked": ["-Wl,-O2", "-Wl,-rpath,/opt/conda/lib", "-L/opt/conda/lib"]}  # fmt: skip
    found = foreign_flags.foreign_flags(*postgresql(**conda))
    machine = ["-fno-plt", "-march=nocona", "-mtune=haswell", "-pipe"]
    assert found.compiles == sorted([*machine, "-I/opt/conda/include2", "-isystem /opt/conda/include"])
    assert set(found.links) == {*machine, "-L/opt/conda/lib", "-Wl,-O2", "-Wl,-rpath,/opt/conda/lib"}
    assert found.text.split()[0] == "-I/opt/conda/include2"


# The arguments of MariaDB 10.11's units and links, as facts of a build have them.
MARIADB = ["-D_FORTIFY_SOURCE=2", "-O2", "-fPIC", "-fno-omit-frame-pointer", "-fstack-protector", "-std=gnu++11"]


@pytest.mark.parametrize(("given", "foreign"), [([], []), (["-O0", "-march=haswell"], ["-O0", "-march=haswell"])])
def test_a_build_of_cmake_is_judged_by_kinds_of_flags(given, foreign):
    facts = BuildFacts.of({"family": "mariadb", "stage": "plain", "flags": {"link": LINK},
             "configure_command": ["cmake", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG"]})  # fmt: skip
    words = ("g++", *given, *MARIADB, "-DNDEBUG", "-I/usr/include/libxml2", "-c", "a.cc")
    linked = ("g++", *given, *MARIADB, "-Wl,-z,relro,-z,now", *LINK)
    calls = [CompilerCall("a.o", words, links=False, said=""), CompilerCall("mariadbd", linked, links=True, said="")]
    assert foreign_flags.foreign_flags(facts, calls).compiles == foreign


def test_flags_of_a_few_units_are_those_of_their_own():
    facts, calls = postgresql()
    slow = replace(calls[0], arguments=(*calls[0].arguments, "-O0", "-g"))
    assert foreign_flags.foreign_flags(facts, [slow, *calls[1:]]) == ForeignFlags([], [])


def test_a_build_that_is_kept_is_judged_by_its_calls_and_a_new_one_by_its_facts(tmp_path):
    facts, calls = postgresql(optimise=["-O0"])
    write_calls(calls, tmp_path / "calls.json.gz")
    assert foreign_flags.of_build(tmp_path, facts).compiles == ["-O0"]
    recorded = replace(facts, foreign_flags=ForeignFlags([], []))
    assert foreign_flags.of_build(tmp_path, recorded) == ForeignFlags([], [])
    assert foreign_flags.of_build(tmp_path, BuildFacts(family="postgresql")) is None


def test_the_proofs_of_a_study_name_them(tmp_path, monkeypatch):
    facts, calls = postgresql(optimise=["-g", "-O0"])
    json_record.write(tmp_path / "facts.json", facts.to_json())
    write_calls(calls, tmp_path / "calls.json.gz")
    monkeypatch.setattr(prove_builds.binary, "text_sha256", lambda program: "0")
    proofs = tmp_path / "proofs.json"
    prove_builds.main([tmp_path / "facts.json"], [tmp_path / "calls.json.gz"], proofs, tmp_path / "log")
    (judged,) = json_record.read(proofs)["foreign_flags"]
    assert judged == {"server": "postgresql-15", "build": "baseline", "flags": "-O0 -g"}
