"""Names of units and of their counter files; what real gcc looks for is what is computed."""

import re

import pytest

from scripts.build.compilation.compiler_calls import (
    CompilerCall,
    counter_name,
    read_calls,
    sought_name,
    unit_directory,
    unit_name,
    uses_profile,
)
from tests.made.wrapped import Project


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        ("main.o", "main.gcda"),
        ("sql/CMakeFiles/sql.dir/item.cc.o", "sql#CMakeFiles#sql.dir#item.cc.gcda"),
        ("src/port/snprintf_srv.o", "src#port#snprintf_srv.gcda"),
        ("dir.with.dot/main.o", "dir.with.dot#main.gcda"),
        ("/b/sub/../x.pic.o", "#b#sub#^#x.pic.gcda"),
    ],
)
def test_name_of_a_counter_file_follows_from_the_object(unit, name):
    assert counter_name(unit) == name


@pytest.mark.parametrize(
    ("file", "unit", "folder"),
    [
        ("main.gcda", "main", "."),
        ("sql#CMakeFiles#sql.dir#item.cc.gcda", "sql/item.cc", "sql"),
        (
            "storage#innobase#CMakeFiles#innobase.dir#btr#btr0btr.cc.gcda",
            "storage/innobase/btr/btr0btr.cc",
            "storage/innobase",
        ),
        ("src#backend#access#nbtree#nbtree.gcda", "src/backend/access/nbtree/nbtree", "backend/access"),
    ],
)
def test_units_and_folders_are_named_as_people_know_them(file, unit, folder):
    assert (unit_name(file), unit_directory(unit)) == (unit, folder)


@pytest.fixture(scope="module")
def tree(compiler, tmp_path_factory):
    project = Project(compiler, tmp_path_factory.mktemp("named"))
    project.write(work="int work(int n) { return n > 3 ? n : 1; }\n")
    return project.build("build")


@pytest.mark.parametrize("cut", ["", "-fprofile-prefix-path={tree}", "-fprofile-prefix-path={above}"])
@pytest.mark.parametrize(
    "output", ["work.o", "sub/work.cc.o", "sub/../odd name.o", "sub/./noext", "{tree}/sub/absolute.o", "sub/a.b.lo"]
)
def test_name_sought_is_the_one_that_gcc_misses(tree, tmp_path, cut, output):
    places = {"tree": tree.path, "above": tree.path.parent}
    flags = ["-fprofile-use=/nowhere", "-Wmissing-profile", *([cut.format(**places)] if cut else [])]
    for record in tree.records.iterdir():
        record.unlink()
    done = tree.compile("-O2", *flags, "-c", tree.project.source / "work.c", "-o", output.format(**places))
    (missed,) = re.findall(r"['‘]/nowhere/(.*)['’] profile count data file not found", done.stderr)
    (call,) = read_calls(tree.records, tree.path)
    assert sought_name(call) == missed


def test_profile_beside_the_object_is_sought_there(tree):
    for record in tree.records.iterdir():
        record.unlink()
    source = tree.project.source / "work.c"
    done = tree.compile("-O2", "-fprofile-use", "-Wmissing-profile", "-c", source, "-o", "sub/work.o")
    (call,) = read_calls(tree.records, tree.path)
    assert sought_name(call) == f"{tree.path}/sub/work.gcda"
    assert sought_name(call) in done.stderr


def test_last_flag_decides_whether_a_profile_is_used():
    def call(*arguments):
        return CompilerCall("a.o", arguments, links=False, said="")

    assert uses_profile(call("-fprofile-use=/p"))
    assert uses_profile(call("-fno-profile-use", "-fprofile-use=/p"))
    assert not uses_profile(call("-fprofile-use=/p", "-fno-profile-use"))
    assert not uses_profile(call("-fprofile-generate=/p", "-fprofile-use-nothing"))
