"""The audit of a profile in a shell of another language: compiled in it, and read from messages that are in it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.build.compilation import gcc
from scripts.build.compilation.compile import WRAPPER, _compile_environment, _configure_environment
from scripts.build.compilation.compiler_calls import CompilerCall, compiled_units, read_calls
from scripts.build.compilation.compiler_flags import flags_of
from scripts.build.compilation.flags import Flags
from scripts.build.compilation.gcc import Counted, CounterFile
from scripts.lib.host.process import run
from scripts.measure.servers import families

GERMAN = "de_DE.UTF-8"
UNITS = {
    "main": "int work(int);int spare(int);int main(int n,char**v){return work(n)+spare(n)==0;}\n",
    "work": "int work(int n){return n>3?2*n:n+n;}\n",
    "spare": "int spare(int n){return n>4?n:n+1;}\n",
}
CHANGED = "int work(int n){while(n>9)n/=3;return n?1:n;}\n"


@pytest.fixture
def german_shell(monkeypatch, tmp_path_factory, compiler):
    """Make this process speak German as its user's shell does; skip where gcc cannot."""
    folder = tmp_path_factory.mktemp("locales")
    made = ["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", str(folder / GERMAN)]
    if not shutil.which("localedef") or subprocess.run(made, capture_output=True, check=False).returncode:
        pytest.skip("localedef makes no de_DE.UTF-8 here: install the package locales")
    for name, value in {"LOCPATH": str(folder), "LC_ALL": GERMAN, "LANGUAGE": "de"}.items():
        monkeypatch.setenv(name, value)
    said = subprocess.run([compiler.cc, "none.c"], capture_output=True, text=True, check=False).stderr
    if "Datei" not in said:
        pytest.skip(f"{compiler.cc} speaks no German: install the package gcc-12-locales")


def compiled(compiler, source: Path, build: Path, flags: tuple[str, ...]):
    """Compile and link the units with the wrapper, as a build does; returns the recorded calls."""
    records = build.with_name(f"{build.name}-records")
    for folder in (build, records):
        folder.mkdir()
    family = families.of("postgresql")
    more = _compile_environment(family, build, records, Flags(common=("-O2",), profile=flags))
    environment = {**_configure_environment(compiler, build), **more, "BUILD_PROFILE_SCOPE": "*"}
    objects = [f"{name}.o" for name in UNITS]
    for name in UNITS:
        run([WRAPPER / "cc", "-c", source / f"{name}.c", "-o", f"{name}.o"], cwd=build, environment=environment)
    run([WRAPPER / "cc", *objects, "-o", "program"], cwd=build, environment=environment)
    return read_calls(records, build)


@pytest.mark.usefixtures("german_shell")
def test_a_build_in_a_german_shell_is_audited_as_in_any_other(compiler, tmp_path):
    source, counters = tmp_path / "source", tmp_path / "counters"
    source.mkdir()
    for name, text in UNITS.items():
        (source / f"{name}.c").write_text(text)
    compiled(compiler, source, tmp_path / "instrumented", flags_of("gcc").instrument(tmp_path / "instrumented"))
    run([tmp_path / "instrumented/program"], environment={"GCOV_PREFIX": str(tmp_path / "written")})
    shutil.copytree(tmp_path / "written/counters", counters)
    files = gcc.read_counters(counters, compiler.gcov_dump)
    (counters / "spare.gcda").unlink()
    (source / "work.c").write_text(CHANGED)
    calls = compiled(compiler, source, tmp_path / "used", flags_of("gcc").use(tmp_path / "used", counters))
    units = {unit.name: unit.why for unit in gcc.profile_units(files, compiled_units(calls), None, {})}
    assert units == {"main": None, "spare": "no counters file found", "work": "coverage mismatch"}


# What gcc 12 says with these locales of Debian 12; the other languages that it has are not translated so far.
SAID = {
    "C": (
        "a.c:4:1: warning: '/p/a.gcda' profile count data file not found [-Wmissing-profile]\n",
        "a.c:2:5: warning: profile for function 'more' not found in profile data [-Wmissing-profile]\n",
        "a.c:3:5: warning: number of counters in profile data for function 'two' does not match its profile data "
        "(counter 'arcs', expected 1 and have 2) [-Wcoverage-mismatch]\n",
    ),
    "C.UTF-8, an error": (
        "a.c:4:1: error: ‘/p/a.gcda’ profile count data file not found [-Werror=missing-profile]\n",
        "a.c:2:5: error: profile for function ‘more’ not found in profile data [-Werror=missing-profile]\n",
        "a.c:3:5: error: the control flow of function ‘two’ does not match its profile data (counter ‘arcs’) "
        "[-Werror=coverage-mismatch]\n",
    ),
    "German": (
        "a.c:4:1: Warnung: Datei für Profilingzählerdaten »/p/a.gcda« wurde nicht gefunden [-Wmissing-profile]\n",
        "a.c:2:5: Warnung: Profil für Funktion »more« nicht in Profilingdaten gefunden [-Wmissing-profile]\n",
        "a.c:3:5: Warnung: Anzahl der Zähler in den Profilingdaten für Funktion »two« passt nicht zu deren "
        "Profilingdaten (Zähler »arcs«, 1 erwartet aber 2 gefunden) [-Wcoverage-mismatch]\n",
    ),
    "French": (
        "a.c:4:1: attention: fichier de données de décompte du profilage «\xa0/p/a.gcda\xa0» pas trouvé "
        "[-Wmissing-profile]\n",
        "a.c:2:5: attention: le profilage pour la fonction «\xa0more\xa0» n'a pas été trouvé dans les données de "
        "profilage [-Wmissing-profile]\n",
        "a.c:3:5: attention: le flot de contrôle de la fonction «\xa0two\xa0» ne correspond pas aux données de "
        "profilage (compteur «\xa0arcs\xa0») [-Wcoverage-mismatch]\n",
    ),
    "Swedish": (
        "a.c:4:1: varning: filen ”/p/a.gcda” för profilräknardata finns inte [-Wmissing-profile]\n",
        "a.c:2:5: varning: profilen för funktionen ”more” finns inte i profildatan [-Wmissing-profile]\n",
        "a.c:3:5: varning: styrflödet i funktionen ”two” stämmer inte med dess profildata (räknare ”arcs”) "
        "[-Wcoverage-mismatch]\n",
    ),
}


@pytest.mark.parametrize("language", SAID)
def test_messages_are_recognised_by_their_tag_in_any_language(language):
    """A build that is kept may have been compiled in its user's language."""

    def unit_of(said):
        call = CompilerCall("a.o", ("gcc", "-c", "-fprofile-use=/p"), links=False, said=said)
        counted = CounterFile("a.gcda", 2, (Counted((1, 1, 1), 9), Counted((2, 2, 2), 5)))
        (unit,) = gcc.profile_units([counted], [call], None, {(1, 1, 1): "more", (2, 2, 2): "two"})
        return unit.why, unit.functions_not_found, unit.functions_mismatched, [entry.lost for entry in unit.executed]

    no_file, no_function, mismatch = SAID[language]
    assert unit_of(no_file) == ("no counters file found", 0, 0, [False, False])
    assert unit_of(no_function) == (None, 1, 0, [True, False])
    assert unit_of(mismatch) == ("coverage mismatch", 0, 1, [False, True])
