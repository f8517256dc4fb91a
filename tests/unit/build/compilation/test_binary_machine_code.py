"""The digest of a program's machine code: the code counts, not what is beside it."""

import subprocess

import pytest

from scripts.build.compilation.binary import text_sha256


@pytest.fixture
def compiled(compiler, tmp_path):
    def build(name, text, *flags):
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        subprocess.run([compiler.cc, *flags, source, "-o", tmp_path / name], check=True)
        return tmp_path / name

    return build


CODE = "int work(int n) {{ return n * {}; }}\nint main(int n, char **v) {{ return work(n); }}\n"


def test_same_code_is_the_same_whatever_build_id_and_debug_information(compiled):
    one = compiled("one", CODE.format(3), "-Wl,--build-id=none")
    other = compiled("other", CODE.format(3), "-Wl,--build-id=sha1", "-g")
    assert one.read_bytes() != other.read_bytes()
    assert text_sha256(one) == text_sha256(other)


def test_other_code_is_another(compiled):
    digests = {text_sha256(compiled(f"p{factor}", CODE.format(factor))) for factor in (3, 5)}
    assert len(digests) == 2
    assert text_sha256(compiled("o1", CODE.format(3), "-O1")) not in digests


def test_it_is_the_digest_of_what_objcopy_takes_out(compiled, tmp_path):
    program = compiled("p", CODE.format(3))
    command = ["objcopy", "-O", "binary", "--only-section=.text", program, tmp_path / "text"]
    subprocess.run(command, check=True)
    told = subprocess.run(["sha256sum", tmp_path / "text"], capture_output=True, text=True, check=True).stdout
    assert text_sha256(program) == told.split()[0]


def test_program_without_machine_code_is_refused_by_name(compiled, compiler, tmp_path):
    made = compiled("p", CODE.format(3))
    subprocess.run(
        ["objcopy", "--remove-section=.text", made, tmp_path / "bare"], check=True, stderr=subprocess.DEVNULL
    )
    with pytest.raises(ValueError, match=r"bare: .* shows no \.text section"):
        text_sha256(tmp_path / "bare")
