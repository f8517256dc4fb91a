"""The table of faults names tests that there are, each fault test is in it, and what did not hold is shown as such."""

from tests.faults import document, registry
from tests.faults.registry import Fault
from tests.faults.table import held, nodes, rows

FAULTS = registry.faults()


def test_every_test_named_is_there():
    files = registry.files()
    wanted = {pair for fault in FAULTS for pair in fault.tests}
    known = {(module, name) for module, _ in wanted if module in files for name in registry.functions(files[module])}
    assert sorted(wanted - known) == []
    assert len(nodes(FAULTS)) == len(wanted)


def test_every_test_of_a_fault_is_in_the_table():
    named = {pair for fault in FAULTS for pair in fault.tests}
    ours = [file for file in registry.files().values() if file.parent.name == "faults" and file.stem != "test_table"]
    assert [
        (file.stem, name) for file in ours for name in registry.functions(file) if (file.stem, name) not in named
    ] == []


def test_guarantees_have_the_table_of_faults():
    assert document.PAGE.read_text(encoding="utf-8") == document.page(), "python -m tests.faults.document writes it"


def test_fault_held_only_when_all_its_tests_passed():
    fault = Fault("Input", "a fault", "always", "it holds", (("test_a", "test_x"), ("test_b", "test_y")))
    passed = {pair: {"passed"} for pair in fault.tests}
    assert held(fault, passed) == "yes"
    assert held(fault, {**passed, fault.tests[1]: {"passed", "failed"}}) == "NO"
    assert held(fault, {**passed, fault.tests[1]: {"passed", "skipped"}}) == "yes"
    assert held(fault, {**passed, fault.tests[1]: {"skipped"}}) == "not tried"
    assert held(fault, {fault.tests[0]: {"passed"}}) == "not tried"


def test_table_has_a_line_or_more_for_each_fault_under_its_area():
    text = "\n".join(rows(FAULTS, {}))
    assert [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")] == [
        f"{area}:" for area in dict.fromkeys(fault.area for fault in FAULTS)
    ]
    assert text.count("not tried") == len(FAULTS)
    assert max(map(len, text.splitlines())) <= 120
