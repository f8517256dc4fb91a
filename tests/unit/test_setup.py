"""The set-up installs what is missing and nothing else, and says what to do where it cannot.

apt-get, dnf, dpkg-query, rpm, sudo, id and python3 are stubs on an otherwise bare PATH: what is shown here is what the
set-up asks for, not what a package manager does with it.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pymysql
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CHECKOUT = Path(__file__).parents[2]
BORROWED = [
    "awk",
    "bash",
    "cat",
    "dirname",
    "env",
    "grep",
    "head",
    "make",
    "mkdir",
    "rm",
    "sed",
    "sh",
    "sha256sum",
    "tail",
    "test",
]

PYTHON = """\
case "$1" in
    --version) echo "Python ${VERSION-3.11.2}" ;;
    -c) [ "${VERSION-3.11.2}" != 3.10.9 ] ;;
    -m)
        echo "$0 $*" >>"$CALLS"
        case "$2 $3" in
            "venv --clear")
                mkdir -p .venv/bin && rm -f .venv/stamp-*
                cat "$0" >.venv/bin/python && chmod +x .venv/bin/python ;;
            "scripts.commands.study_packages study.yaml") echo "${STUDY_NEEDS-}" ;;
            "pip install") [ -z "${PIP_BREAKS-}" ] || { echo "no matching hash"; exit 1; } ;;
        esac ;;
esac
"""
APT_GET = """\
echo "apt-get $* ${DEBIAN_FRONTEND-}" >>"$CALLS"
case "$*" in *install*) touch "$INSTALLED" ;; esac
case "$*" in *clang* | *known*) touch "$INSTALLED-more" ;; esac
"""
DPKG_QUERY = r"""
printf 'ii \tgit, \nii \tpkgconf, pkg-config (= 1.8.1), other (= 2)\nhi \tmake, \niF \tcmake, \n'
[ ! -e "$INSTALLED" ] || printf 'ii \tcmake, \nii \tbison, \n'
[ ! -e "$INSTALLED-more" ] || printf 'ii \tclang-16, \nii \tknown, \n'
"""


@dataclass(frozen=True)
class Machine:
    """A checkout with short package lists, and a PATH of stubs that write their calls down."""

    checkout: Path
    bin: Path
    calls_file: Path

    def stub(self, name: str, text: str) -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (self.bin / name).chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        known = {
            "POLICY_RC_D": str(self.bin.parent / "policy"),
            "PATH": str(self.bin),
            "CALLS": str(self.calls_file),
            "INSTALLED": str(self.bin.parent / "installed"),
        }
        argv = ["scripts/setup.sh", *arguments]
        return subprocess.run(
            argv,
            cwd=self.checkout,
            env={**known, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self, command: str = "") -> list[str]:
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        return [line for line in lines if line.startswith(command)]


@pytest.fixture
def machine(tmp_path) -> Machine:
    checkout, folder = tmp_path / "checkout", tmp_path / "bin"
    for directory in (checkout / "envs", checkout / "scripts", folder):
        directory.mkdir(parents=True)
    shutil.copy(CHECKOUT / "scripts" / "setup.sh", checkout / "scripts")
    (checkout / "envs/apt.txt").write_text("# tools\ngit\nmake  # on hold\n\npkg-config\ncmake\nbison\n")
    (checkout / "envs/apt-test.txt").write_text("shellcheck\n")
    (checkout / "envs/apt-test-optional.txt").write_text("known\nunheard-of\n")
    (checkout / "envs/dnf.txt").write_text("git\nsysbench\n")
    for name in ("requirements", "requirements-dev"):
        (checkout / f"envs/{name}.txt").write_text("rich==15.0.0 \\\n    --hash=sha256:ab\n")
    for name in [*BORROWED, "chmod", "touch"]:
        (folder / name).symlink_to(shutil.which(name))
    made = Machine(checkout, folder, tmp_path / "calls")
    for name, text in {"python3": PYTHON, "apt-get": APT_GET, "dpkg-query": DPKG_QUERY, "id": "echo 0"}.items():
        made.stub(name, text)
    return made


def test_only_missing_packages_are_installed_after_an_update(machine):
    ended = machine.run()
    assert ended.returncode == 0, ended.stderr
    update, install = machine.calls("apt-get")
    assert update.startswith("apt-get update")
    assert install.split("--no-remove ")[1] == "cmake bison noninteractive"
    assert "--yes --no-install-recommends" in install


def test_apt_is_not_called_when_all_packages_are_there(machine):
    (machine.bin.parent / "installed").touch()
    assert machine.run().returncode == 0
    assert machine.calls("apt-get") == []


def test_second_run_does_nothing_and_says_so(machine):
    machine.run()
    before = machine.calls()
    ended = machine.run()
    assert ended.returncode == 0
    assert ended.stderr == "set-up: everything is there, nothing to do\n"
    assert machine.calls() == before


def test_tests_need_their_packages_too_and_serve_the_workflow_as_well(machine):
    (machine.bin.parent / "installed").touch()
    ended = machine.run("test")
    assert ended.returncode == 1
    assert "1 of 6 packages are missing: shellcheck" in ended.stderr
    machine.stub("dpkg-query", DPKG_QUERY + r"printf 'ii \tshellcheck, \n'")
    assert machine.run("test").returncode == 0
    assert machine.calls(".venv/bin/python -m pip install")[0].endswith("--requirement envs/requirements-dev.txt")
    assert machine.run("run").stderr == "set-up: everything is there, nothing to do\n"


def test_package_that_stays_missing_is_named(machine):
    machine.stub("apt-get", "exit 0")
    ended = machine.run()
    assert ended.returncode == 1
    assert "still not installed: cmake bison" in ended.stderr


def test_failing_installation_stops_the_set_up(machine):
    machine.stub("apt-get", '[ "$1" = update ] || exit 100')
    ended = machine.run()
    assert ended.returncode == 100
    assert not (machine.checkout / ".venv").exists()


def admin_command(ended: subprocess.CompletedProcess) -> str:
    return re.search(r"start again:\n\n +(.*)\n\n", ended.stderr)[1]


def test_user_without_sudo_is_given_the_one_command_for_an_administrator(machine):
    machine.stub("id", "echo 1000")
    ended = machine.run()
    assert ended.returncode == 1
    assert machine.calls() == []
    assert not (machine.checkout / ".venv").exists()
    machine.stub("id", "echo 0")
    subprocess.run(
        ["bash", "-c", admin_command(ended)],
        env={
            "PATH": str(machine.bin),
            "CALLS": str(machine.calls_file),
            "INSTALLED": str(machine.bin.parent / "installed"),
        },
        check=True,
    )
    assert machine.calls("apt-get")[1].endswith("cmake bison noninteractive")
    machine.stub("id", "echo 1000")
    assert machine.run().returncode == 0


def test_user_whose_sudo_wants_a_password_without_a_terminal_is_given_the_command(machine):
    machine.stub("id", "echo 1000")
    machine.stub("sudo", "exit 1")
    ended = machine.run()
    assert ended.returncode == 1
    assert admin_command(ended).endswith("cmake bison")


def test_user_with_sudo_installs_through_it_and_owns_the_environment(machine):
    machine.stub("id", "echo 1000")
    machine.stub("sudo", 'echo "sudo $1 $2" >>"$CALLS"; [ "$1" = -n ] || exec "$@"')
    assert machine.run().returncode == 0
    assert machine.calls("sudo") == ["sudo -n true", "sudo bash -c"]
    assert len(machine.calls("apt-get")) == 2


def test_packages_must_match_the_pinned_hashes(machine):
    machine.run()
    (install,) = machine.calls(".venv/bin/python -m pip install")
    assert "--require-hashes --requirement envs/requirements.txt" in install


def test_failing_pip_shows_its_last_lines_and_is_tried_again(machine):
    ended = machine.run(PIP_BREAKS="1")
    assert ended.returncode == 1
    assert "no matching hash" in ended.stderr
    assert f"{machine.checkout}/.venv/setup.log" in ended.stderr
    assert machine.run().stderr == (
        "set-up: installing 1 pinned Python packages into .venv (log: .venv/setup.log)\nset-up: done\n"
    )


def test_edited_pins_are_installed_into_the_same_environment(machine):
    machine.run()
    (machine.checkout / "envs/requirements.txt").write_text("rich==15.0.1 \\\n    --hash=sha256:cd\n")
    machine.run()
    assert len(machine.calls(".venv/bin/python -m pip install")) == 2
    assert len([call for call in machine.calls() if "venv --clear" in call]) == 1


def test_environment_of_a_checkout_that_moved_is_made_anew(machine):
    machine.run()
    moved = machine.checkout.rename(machine.checkout.with_name("moved"))
    ended = Machine(moved, machine.bin, machine.calls_file).run()
    assert "installing 1 pinned" in ended.stderr
    assert len([call for call in machine.calls() if "venv --clear" in call]) == 2


def test_activated_environment_is_not_made_from_itself(machine):
    machine.run()
    (machine.checkout / ".venv/bin/python3").symlink_to("python")
    (machine.checkout / ".venv/stamp-run").unlink()
    machine.run(PATH=f"{machine.checkout}/.venv/bin:{machine.bin}")
    assert machine.calls(f"{machine.bin}/python3 -m venv") == [f"{machine.bin}/python3 -m venv --clear .venv"] * 2


def test_python_older_than_3_11_is_refused_with_its_version(machine):
    (machine.bin.parent / "installed").touch()
    ended = machine.run(VERSION="3.10.9")
    assert ended.returncode == 1
    assert "3.11 or newer" in ended.stderr
    assert "Python 3.10.9" in ended.stderr
    assert "PYTHON=/path/to/python" in ended.stderr


@pytest.mark.parametrize("name", ["python3.11", "python3.12", "python3.13"])
def test_newer_python_under_its_own_name_is_found(machine, name):
    machine.stub("python3", PYTHON.replace("${VERSION-3.11.2}", "3.10.9"))
    machine.stub(name, PYTHON)
    assert machine.run().returncode == 0
    assert f"{machine.bin}/{name} -m venv --clear .venv" in machine.calls()


def test_named_python_comes_first(machine):
    machine.stub("mine", PYTHON)
    machine.run(PYTHON=str(machine.bin / "mine"))
    assert f"{machine.bin}/mine -m venv --clear .venv" in machine.calls()


def test_dnf_machine_gets_its_own_list_with_the_repositories_it_needs(machine):
    (machine.bin / "apt-get").unlink()
    machine.stub("rpm", '[ "${*: -1}" = git ] || [ -e "$INSTALLED" ]')
    machine.stub("dnf", 'echo "dnf $*" >>"$CALLS"; case "$*" in *sysbench*) touch "$INSTALLED" ;; esac')
    ended = machine.run()
    assert ended.returncode == 0, ended.stderr
    assert machine.calls("dnf") == [
        "dnf -q repolist --enabled",
        "dnf -y install epel-release dnf-plugins-core",
        "dnf config-manager --set-enabled crb",
        "dnf -y install --setopt=install_weak_deps=False sysbench",
    ]


def test_machine_of_another_kind_is_told_what_to_do_by_hand(machine):
    (machine.bin / "apt-get").unlink()
    ended = machine.run()
    assert ended.returncode == 1
    assert "envs/apt.txt" in ended.stderr
    assert "--require-hashes -r envs/requirements.txt" in ended.stderr


def test_unknown_purpose_is_refused(machine):
    assert "unknown purpose 'tests', expected run, test or missing" in machine.run("tests").stderr


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ]+)", (CHECKOUT / "envs" / name).read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_pin_has_hashes_and_no_index_is_named(name):
    text = (CHECKOUT / "envs" / name).read_text()
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert re.findall(r"https?://|--(?:extra-)?index|--find-links|--trusted-host", text) == []


def test_all_that_is_asked_for_is_pinned():
    asked = (CHECKOUT / "envs/requirements.in").read_text()
    wanted = {line.split("==")[0] for line in asked.splitlines() if line and line[0] not in "#-"}
    assert wanted <= pins("requirements.txt").keys()
    assert pins("requirements.txt")["snakemake"] == "9.27.1"


def test_test_environment_holds_the_workflows_packages_at_the_same_versions():
    assert pins("requirements.txt").items() <= pins("requirements-dev.txt").items()


def test_conda_environment_names_the_same_versions():
    described = yaml.safe_load((CHECKOUT / "envs/python.yaml").read_text())["dependencies"]
    versions = dict(entry.split("=") for entry in described if not entry.startswith("python="))
    assert versions.items() <= pins("requirements.txt").items()


def test_driver_can_log_in_to_mysql_8_without_tls():
    """Its default caching_sha2_password encrypts the password with the server's RSA key where there is no TLS."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    sent = pymysql._auth.sha2_rsa_encrypt(b"secret", b"12345678901234567890", pem)
    salted = key.decrypt(sent, OAEP(MGF1(SHA1()), SHA1(), None))
    assert bytes(a ^ b for a, b in zip(salted, b"12345678901234567890", strict=False)) == b"secret\0"


@pytest.mark.parametrize("name", ["apt.txt", "apt-test.txt", "dnf.txt"])
def test_package_lists_hold_one_plain_name_a_line_each_once(name):
    lines = [line for line in (CHECKOUT / "envs" / name).read_text().splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", line)] == []
    assert len(lines) == len(set(lines))


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    shutil.copy(CHECKOUT / "Makefile", folder)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env={**clean, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["report"], "--cores all results/report.html"),
        (["report", "STUDY=x"], "--cores all results/studies/x/report.html --configfile studies/x.yaml"),
        (["report", "CORES=4"], "--cores 4 results/report.html"),
        (["report", "PARTIAL=1"], "--cores all results/report.html --config partial=true"),
        (["plan"], "--cores all --dry-run results/report.html"),
        (
            ["report", "STUDY=x", "SCALE=small"],
            "--cores all results/studies/x-small/report.html --configfile studies/x.yaml --config scale=small",
        ),
        (
            ["plan", "SCALE=small", "PARTIAL=1"],
            "--cores all --dry-run results/studies/default-small/report.html --config partial=true scale=small",
        ),
        (["quick"], "--cores all results/studies/quick/report.html --configfile studies/quick.yaml"),
    ],
)
def test_make_target_sets_up_and_then_runs_this_command(tmp_path, arguments, command):
    lines = make(tmp_path, "--dry-run", *arguments).stdout.splitlines()
    logger = f"PYTHONPATH='{tmp_path}/scripts/workflow/plugins'"
    started = f'PATH="{tmp_path}/.venv/bin:$PATH" .venv/bin/python -m snakemake --logger steps'
    assert lines[-1] == f"{logger} {started} {command}"
    config = command.partition("--configfile ")[2].partition(" ")[0] or "config.yaml"
    purpose = "missing" if "plan" in arguments else "run"
    assert f"scripts/setup.sh {purpose} {config}{' small' if 'scale=small' in command else ''}" in lines


@pytest.mark.parametrize("target", ["watch", "retry", "doctor", "package"])
def test_command_beside_the_workflow_is_told_study_and_scale(tmp_path, target):
    lines = make(tmp_path, "--dry-run", target, "STUDY=x", "SCALE=small").stdout
    assert " --config studies/x.yaml --scale small" in lines


def test_packages_of_the_studys_toolchains_are_installed_after_the_usual_ones(machine):
    ended = machine.run("run", "study.yaml", STUDY_NEEDS="git\nclang-16")
    assert ended.returncode == 0
    assert "1 of 2 packages are missing: clang-16" in ended.stderr
    assert machine.calls("apt-get")[-1].endswith(" clang-16 noninteractive")
    assert machine.calls("apt-get")[1].endswith("cmake bison noninteractive")


def test_what_is_missing_is_listed_and_nothing_is_installed(machine):
    machine.run()
    (machine.bin.parent / "installed").unlink()
    (machine.checkout / "envs/requirements.txt").write_text("rich==16.0.0\n")
    before = machine.calls()
    ended = machine.run("missing", "study.yaml", STUDY_NEEDS="git\nclang-16")
    assert ended.returncode == 0
    assert ended.stderr.splitlines() == [
        "set-up: .venv has other packages than envs/requirements.txt; `make setup` installs them",
        "set-up: missing packages (3): cmake bison clang-16; `make setup` installs them",
    ]
    called = machine.calls()[len(before) :]
    assert [line.partition(" -m ")[2].partition(" ")[0] for line in called] == ["scripts.commands.study_packages"]


def test_a_plan_is_silent_about_packages_that_are_there(machine):
    machine.run()
    assert machine.run("missing").stderr == ""


def test_set_up_to_ask_for_names_the_study(machine):
    machine.stub("python3", PYTHON.replace("study_packages study.yaml", "study_packages studies/x.yaml"))
    machine.run()
    ended = machine.run("missing", "studies/x.yaml", STUDY_NEEDS="clang-16")
    assert ended.stderr == "set-up: missing packages (1): clang-16; `make setup STUDY=x` installs them\n"


def test_without_venv_nothing_is_looked_for(machine):
    ended = machine.run("missing")
    assert ended.returncode == 2
    assert ended.stderr == "set-up: there is no .venv; make setup makes it\n"
    assert machine.calls() == []


def test_study_that_needs_nothing_more_installs_nothing_more(machine):
    assert machine.run("run", "study.yaml").returncode == 0
    assert len(machine.calls("apt-get")) == 2


def test_packages_of_a_study_start_no_service_while_they_are_installed(machine):
    policy = machine.bin.parent / "policy-rc.d"
    machine.stub(
        "apt-get", APT_GET + 'case "$*" in *install*) cat "$POLICY_RC_D" >>"$CALLS" 2>/dev/null || true ;; esac'
    )
    machine.run()
    assert "exit 101" not in machine.calls()
    ended = machine.run("run", "study.yaml", STUDY_NEEDS="clang-16", POLICY_RC_D=str(policy))
    assert ended.returncode == 0, ended.stderr
    assert "exit 101" in machine.calls()
    assert not policy.exists()


def test_policy_of_the_machine_on_services_is_kept(machine):
    policy = machine.bin.parent / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 0\n")
    machine.run()
    assert machine.run("run", "study.yaml", STUDY_NEEDS="clang-16", POLICY_RC_D=str(policy)).returncode == 0
    assert policy.read_text() == "#!/bin/sh\nexit 0\n"


def test_packages_of_a_study_are_those_of_its_scale(machine):
    assert machine.run("run", "study.yaml", "small").returncode == 0
    (call,) = [call for call in machine.calls() if "study_packages" in call]
    assert "scripts.commands.study_packages study.yaml --scale small" in call


def test_packages_that_the_distribution_lacks_are_left_out_of_the_tests(machine):
    machine.stub("apt-cache", '[ "$2" = known ]')
    machine.stub("dpkg-query", DPKG_QUERY + r"printf 'ii \tshellcheck, \n'")
    assert machine.run("test").returncode == 0
    assert machine.calls("apt-get")[-1].endswith(" known noninteractive")
    assert not any("unheard-of" in call for call in machine.calls("apt-get"))


def test_unknown_study_is_refused_naming_those_there_are(tmp_path):
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/quick.yaml").touch()
    (tmp_path / "scripts").symlink_to(CHECKOUT / "scripts")
    ended = make(tmp_path, "report", "STUDY=quik")
    assert ended.returncode == 2
    assert "STUDY=quik: no file studies/quik.yaml, did you mean quick?; there are: quick\n" in ended.stderr
    assert "usage: make report [STUDY=name] [SCALE=small]" in ended.stderr


OF_A_STUDY = ("setup", "report", "package", "plan", "watch", "retry", "drop", "check", "doctor")


@pytest.mark.parametrize("target", OF_A_STUDY)
def test_every_target_of_a_study_refuses_a_study_and_a_scale_that_do_not_exist(tmp_path, target):
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/quick.yaml").touch()
    (tmp_path / "scripts").symlink_to(CHECKOUT / "scripts")
    more = ("VARIANT=pgo",) if target == "package" else ()
    ended = make(tmp_path, target, "STUDY=studies/quick.yaml", "SCALE=smal", *more)
    assert ended.returncode == 2
    assert "STUDY=studies/quick.yaml: no file " in ended.stderr
    assert ", did you mean quick?; there are: quick\n" in ended.stderr
    assert "SCALE=smal: expected small or full, did you mean small?\n" in ended.stderr
    assert f"usage: make {target} " in ended.stderr
    assert "set-up" not in ended.stderr


def test_targets_of_a_study_are_those_that_ask_for_it():
    rules = re.findall(r"^([a-z-]+):(.*?)(?:##.*)?$", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
    assert {name for name, needs in rules if "study" in needs.split()} == set(OF_A_STUDY)


def test_imported_study_can_be_checked_though_no_file_describes_it(tmp_path):
    (tmp_path / "studies").mkdir()
    (tmp_path / "results/studies/theirs").mkdir(parents=True)
    (tmp_path / "scripts").symlink_to(CHECKOUT / "scripts")
    told = [make(tmp_path, target, "STUDY=theirs").stderr for target in ("check", "doctor")]
    assert ["no file studies/theirs.yaml" in text for text in told] == [False, True]


@pytest.mark.parametrize("given", [(), ("A=x",), ("B=x",)])
def test_compare_without_two_studies_says_what_it_expects(tmp_path, given):
    ended = make(tmp_path, "compare", *given)
    assert ended.returncode == 2
    assert "expected: make compare A=results/studies/x B=elsewhere/results/studies/y" in ended.stderr


def test_package_without_a_variant_says_so_before_anything_else(tmp_path):
    ended = make(tmp_path, "package")
    assert ended.returncode == 2
    assert ended.stderr.startswith("VARIANT= is missing, expected a variant of the study: make package VARIANT=pgo")


def test_bare_make_explains_every_target(tmp_path):
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)) - {"study", "variant"}
    assert targets == set(re.findall(r"^  make ([\w-]+)", make(tmp_path).stdout, re.MULTILINE))


KEPT = ["sources/a/source.json", "builds/a/facts.json", "profiles/p", "datasets/d", "studies/x/runs/v/w/8/1.json"]
REMADE = [
    "logs/build/a.log",
    "report.html",
    "studies/x/report.html",
    "studies/x/tables/t.csv",
    "studies/x/figures/f.svg",
]


@pytest.mark.parametrize(("arguments", "left"), [(["clean"], KEPT), (["clean", "ALL=1"], [])])
def test_clean_keeps_what_is_costly_unless_all_is_asked_for(tmp_path, arguments, left):
    results = tmp_path / "results"
    for name in KEPT + REMADE:
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).touch()
    assert make(tmp_path, *arguments).returncode == 0
    assert sorted(path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()) == sorted(left)


def test_ci_runs_make_test_without_standard_input(tmp_path):
    stub = tmp_path / "make"
    stub.write_text('#!/usr/bin/env bash\necho "make $* in $PWD"\n! read -r line\n')
    stub.chmod(0o755)
    ended = subprocess.run(
        [CHECKOUT / ".ci/run"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        input="text",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == f"make test in {CHECKOUT}\n"
    assert ended.returncode == 0


def test_shell_scripts_pass_shellcheck():
    scripts = ["scripts/setup.sh", ".ci/run"]
    ended = subprocess.run(["shellcheck", *scripts], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ended.stdout == ""
    assert ended.returncode == 0
