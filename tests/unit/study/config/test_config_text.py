"""A file that holds no study at all is told with its line, in words about the file."""

import pytest

from scripts.study.config.yaml_lines import ConfigError, read, read_text

NOT = "this is not YAML: "


@pytest.mark.parametrize(
    ("content", "line", "expected"),
    [
        (b"clients: [1, 2\nseed: 1\n", 2, f"{NOT}while parsing a flow sequence begun in line 1, expected ',' or"),
        (b"title: PGO: faster?\n", 1, f"{NOT}mapping values are not allowed here (text with a colon in it stands in"),
        (b"variants:\n\tpgo: x\n", 2, f"{NOT}found character '\\t' that cannot start any token (text that begins so"),
        (b"title: {{ name }}\n", 1, f"{NOT}while constructing a mapping begun in line 1, found unhashable key (text"),
        (b"a: 1\nseed: *x\n", 2, f"{NOT}found undefined alias 'x'"),
        (b"seed: 1\x00\n", 1, "seed: '1\\x00' holds the control character U+0000, expected text of characters"),
        (b"a: 1\nb:\n  - x: {y: sm\x01ll}\n", 3, "y: 'sm\\x01ll}' holds the control character U+0001, expected"),
        (b"study: x\n# \x1b[2J\n", 2, "'# \\x1b[2J' holds the control character U+001B, expected text of"),
        (b'{"study": "\x7f"}', 1, "study: '\"\\x7f\"}' holds the control character U+007F, expected text"),
        (b"study: small\ntitle: \xff\n", 2, "byte 0xff is not UTF-8, expected text in UTF-8"),
        (b"", None, "is empty, expected a study: lines of `key: value`"),
        (b"# nothing\n", None, "is empty, expected a study"),
        (b"- study\n", None, "holds a list, expected a study"),
        (b"small\n", None, "holds a str, expected a study"),
    ],
    ids=[
        "open",
        "colon",
        "tab",
        "braces",
        "alias",
        "nul",
        "control",
        "comment_control",
        "json",
        "latin1",
        "empty",
        "comment",
        "list",
        "text",
    ],
)
def test_file_that_is_no_study_is_told_with_its_line(tmp_path, content, line, expected):
    file = tmp_path / "study.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read(file)
    assert str(caught.value).startswith(f"{file}:{f'{line}:' if line else ''} {expected}")


def test_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_bytes("\ufeffstudy: small\r\nseed: 1\r\n".encode())
    document = read(file)
    assert document.value == {"study": "small", "seed": 1}
    assert document.line(("seed",)) == 2


def test_lines_of_keys_and_items_are_found_and_those_of_others_are_not(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text("# first\nvariants:\n  pgo: {server: a,\n    build: b}\nclients:\n- 1\n- 010\n")
    document = read(file)
    paths = [("variants",), ("variants", "pgo", "server"), ("variants", "pgo", "build"), ("clients", 1)]
    assert [document.line(path) for path in paths] == [2, 3, 4, 7]
    assert document.written(("clients", 1)) == "010"
    assert document.line(("variants", "lto")) is document.line(("seed", "x")) is document.line(("clients", 2)) is None


def test_file_below_the_working_directory_is_named_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text("")
    with pytest.raises(ConfigError, match=r"^study.yaml: is empty"):
        read(tmp_path / "study.yaml")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("__use_yte__: true\nstudy: x\n", 1),
        ("study: x\n__use_yte__: false\n", 2),
        ('study: x\n"__use\\x5fyte__": true\n', 2),
        ("study: x\nbase: &base\n  __use_yte__: true\n<<: *base\n", 3),
        ("study: x\n!!str __use_yte__: true\n", 2),
        ("study: x\n? __use_yte__\n: true\n", 2),
        ("study: x\nclients:\n- {__use_yte__: 1}\n", 3),
        ("study: x\n__definitions__:\n- import os\n", 2),
        ("study: x\n__variables__: {a: 1}\n", 2),
        ('{"study": "x",\n"__use_yte__": true}', 2),
        ('{"study": "x",\n"__use\\u005fyte__": true}', 2),
        ("{study: x, __use_yte__: true}", 1),
    ],
)
def test_template_is_refused_with_its_line(tmp_path, content, line):
    file = tmp_path / "study.yaml"
    file.write_text(content)
    for reading in (read, read_text):
        with pytest.raises(ConfigError) as caught:
            reading(file)
        assert str(caught.value).startswith(f"{file}:{line}: __")
        assert "expected a study without it" in str(caught.value)
