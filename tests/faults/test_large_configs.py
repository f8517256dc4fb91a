"""Configs nested without end or growing out of a few lines: refused by file, soon, without a traceback."""

import subprocess
import sys
import time

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.study.config import yaml_lines as config_text
from scripts.study.config.loading import read
from scripts.study.config.yaml_lines import MOST_VALUES, ConfigError
from tests.faults.scale import scaled
from tests.made.studies import CHECKOUT, SMALL
from tests.workflow.running import environment
from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow

SECONDS = 30
TEXT = yaml.safe_dump(SMALL)
DOUBLED = "\n".join(["a: &a0 [x, x]", *(f"b{n}: &a{n + 1} [{', '.join(8 * [f'*a{n}'])}]" for n in range(10))])
MERGED = "\n".join(
    ["m0: &m0 {x: 1}", *(f"m{n + 1}: &m{n + 1} {{<<: [{', '.join(8 * [f'*m{n}'])}]}}" for n in range(40))]
)
DEEP = {
    "flow lists": TEXT + "x: " + 3000 * "[" + 3000 * "]",
    "block mappings": TEXT + "x:\n" + "".join(f"{n * ' '} a:\n" for n in range(3000)),
    "JSON": '{"x": ' + 3000 * "[" + 3000 * "]" + "}",
    "some": TEXT + "x: " + 60 * "[" + 60 * "]",
}
LARGE = {
    **{f"nested {kind}": (text, "is nested too deep, expected a study") for kind, text in DEEP.items()},
    "lists in lists": (TEXT + "x: " + 200_000 * "[", "is nested too deep"),
    "aliases of aliases": (TEXT + DOUBLED, f"holds more than {MOST_VALUES} keys and values"),
    "merges of merges": (TEXT + MERGED, "is nested too deep"),
    "a list that holds itself": (TEXT + "x: &x [*x]", "is nested too deep"),
    "a mapping that merges itself": (TEXT + "x: &x {<<: *x}", "is nested too deep"),
    "a number of 9000 digits": (TEXT + f"x:\n  y: {9000 * '1'}", "this is not YAML: Exceeds the limit"),
    "a day no month has": (TEXT + "x: 2026-13-41", "this is not YAML: month must be in 1..12"),
    "a command as a value": (TEXT + "x: !!python/object/apply:os.system [id]", "could not determine a constructor"),
    "a command as a key": (TEXT + "? !!python/object/apply:os.system [id]\n: 1", "this is not YAML"),
}


@pytest.mark.parametrize("kind", LARGE)
def test_config_that_is_too_much_is_refused_by_file_soon(tmp_path, kind):
    text, told = LARGE[kind]
    (tmp_path / "study.yaml").write_text(text)
    begin_s = time.process_time()
    with pytest.raises(ConfigError) as caught:
        read(tmp_path / "study.yaml", CHECKOUT)
    assert str(caught.value).startswith(f"{tmp_path}/study.yaml:")
    assert told in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert time.process_time() - begin_s < SECONDS


def test_thousand_variants_are_read_and_ten_thousand_mistakes_are_told(tmp_path):
    file, arm = tmp_path / "study.yaml", {"server": "postgresql-15", "build": "pgo", "options": {"work_mem": "8MB"}}
    arms = {**SMALL["variants"], **{f"v{number}": arm for number in range(1000)}}
    file.write_text(yaml.safe_dump({**SMALL, "variants": arms}))
    assert len(read(file, CHECKOUT).arms) == 1003
    file.write_text(TEXT + "".join(f"key{number}: 1\n" for number in range(10_000)))
    begin_s = time.process_time()
    with pytest.raises(ConfigError, match="10000 mistake"):
        read(file, CHECKOUT)
    assert time.process_time() - begin_s < SECONDS


@pytest.mark.parametrize(
    "kind", ["nested block mappings", "nested JSON", "a mapping that merges itself", "a day no month has"]
)
def test_make_refuses_what_snakemake_would_break_on_before_it_starts_it(tmp_path, kind):
    """Snakemake reads the file of --configfile itself and ends in a traceback; the set-up of `make report` is first."""
    (tmp_path / "study.yaml").write_text(LARGE[kind][0])
    command = [sys.executable, "-m", "scripts.commands.study_packages", tmp_path / "study.yaml", "--manager", "apt"]
    done = subprocess.run(command, cwd=CHECKOUT, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.startswith(f"{tmp_path}/study.yaml:")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["flow lists", "block mappings"])
def test_snakemake_refuses_a_deep_default_config_in_a_sentence(tmp_path, kind):
    copy = copied(tmp_path)
    (copy.root / "config.yaml").write_text(DEEP[kind])
    answer = copy.run("--dry-run")
    assert answer.status != 0
    assert "config.yaml: is nested too deep, expected a study" in answer.text
    assert "Traceback" not in answer.text


def refusal(file):
    try:
        config_text.read(file)
    except ConfigError as error:
        return str(error)
    return None


MARKS = [*"\t\0\ufeff\r\x85{}[]:'\"\U0001f418", "- ", "? ", "&a ", "*a", "|\n", "!!set ", "!!int ", "!!binary "]
MARKS += ["%YAML 9.9\n", "---\n", "...\n", "<<: ", "0o9", "1:99"]
ODD = st.sampled_from(MARKS) | st.text(max_size=3)
DAMAGE = st.tuples(st.integers(0, len(TEXT)), st.integers(0, 8), ODD)


@settings(
    max_examples=scaled(3000, 60),
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(DAMAGE, min_size=1, max_size=4))
def test_damaged_file_is_read_or_refused_by_its_name(tmp_path, damage):
    text = TEXT
    for place, lost, odd in damage:
        text = text[:place] + odd + text[place + lost :]
    file = tmp_path / "study.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    told = refusal(file)
    assert told is None or told.startswith(str(file))
