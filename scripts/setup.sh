#!/usr/bin/env bash
# Install what is missing: packages of the distribution, then the pinned Python packages into .venv.
# Usage: scripts/setup.sh [run|test|missing] [config file [scale]]
# run (the default): for the workflow; test: for the tests as well; missing: only say what is missing.
# With a study's config file: what its toolchains and sources need, too.
# A second run finds the stamps and changes nothing.
set -euo pipefail

purpose=${1:-run}
study=${2-}
scale=${3-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
packages_log=results/logs/set-up/packages.log
# an activated .venv must not be the Python that .venv is made from
PATH=${PATH//"$root/.venv/bin:"/}

say() { printf 'set-up: %s\n' "$*" >&2; }

fail() {
    say "$@"
    exit 1
}

# Print the package names of lists, without comments.
names() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }

# Print those of the named packages that are not installed, under their own name or as something provided.
missing_apt() {
    dpkg-query --show --showformat='${db:Status-Abbrev}\t${Package}, ${Provides}\n' |
        awk -F '\t' 'substr($1, 2, 1) == "i" { gsub(/ *\([^)]*\)/, "", $2); gsub(/, */, "\n", $2); print $2 }' |
        awk 'NR == FNR { have[$1]; next } !($1 in have)' - <(printf '%s\n' "$@")
}

missing_dnf() {
    local name
    for name in "$@"; do
        rpm --quiet --query --whatprovides "$name" 2>/dev/null || printf '%s\n' "$name"
    done
}

# Run a command line as root, its output in a log; without the right to, print it for an administrator and stop.
as_root() {
    local sudo=() status
    if [ "$(id -u)" -eq 0 ] || {
        command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; } && sudo=(sudo)
    }; then
        mkdir -p "${packages_log%/*}"
        "${sudo[@]}" bash -c "$1" </dev/null >"$packages_log" 2>&1 || {
            status=$?
            tail -n 15 "$packages_log" >&2
            say "the packages could not be installed; the whole log: $root/$packages_log"
            exit "$status"
        }
    else
        say "installing them takes an administrator (you are not root, and sudo is missing or refused)."
        say "Ask one to run this, then start again:"
        printf '\n    %s\n\n' "$1" >&2
        exit 1
    fi
}

# Print commands after which packages start no service until the shell ends, unless the machine has a policy of its own.
without_services() {
    local policy=${POLICY_RC_D:-/usr/sbin/policy-rc.d} mark="# made by the set-up of a study"
    printf '%s' "if [ ! -e $policy ] || grep -qxF '$mark' $policy; then trap 'rm -f $policy' EXIT; " \
        "printf '#!/bin/sh\\n$mark\\nexit 101\\n' >$policy; chmod 755 $policy; fi; "
}

install_apt() {
    local command="apt-get update; DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300"
    # --no-remove: a machine that has another database server must not lose it to the tests
    as_root "${services_off}$command install --yes --no-install-recommends --no-remove $*"
}

install_dnf() {
    local enable=""
    if ! grep -q '^ID="\?fedora' /etc/os-release && ! dnf -q repolist --enabled | grep -qi epel; then
        enable="dnf -y install epel-release dnf-plugins-core; "
        enable+="dnf config-manager --set-enabled crb || dnf config-manager --set-enabled powertools; "
    fi
    as_root "${enable}dnf -y install --setopt=install_weak_deps=False $*"
}

# Install those of the named packages that are missing.
install_missing() {
    local wanted=("$@") missing=()
    mapfile -t missing < <("missing_$manager" "${wanted[@]}")
    [ "${#missing[@]}" -gt 0 ] || return 0
    absent+=("${missing[@]}")
    [ "$purpose" != missing ] || return 0
    say "${#missing[@]} of ${#wanted[@]} packages are missing: ${missing[*]} (log: $packages_log)"
    "install_$manager" "${missing[@]}"
    changed=yes
    mapfile -t missing < <("missing_$manager" "${wanted[@]}")
    [ "${#missing[@]}" -eq 0 ] || fail "still not installed: ${missing[*]}"
}

# Tests of what not every distribution has are skipped where it is not.
install_optional() {
    local name known=()
    for name in "$@"; do
        ! apt-cache show "$name" >/dev/null 2>&1 || known+=("$name")
    done
    [ "${#known[@]}" -eq 0 ] || install_missing "${known[@]}"
}

install_packages() {
    local lists=() wanted=()
    if command -v apt-get >/dev/null; then
        manager=apt lists=(envs/apt.txt)
        [ "$purpose" != test ] || lists+=(envs/apt-test.txt)
    elif command -v dnf >/dev/null; then
        manager=dnf lists=(envs/dnf.txt)
    elif [ "$purpose" = missing ]; then
        say "neither apt-get nor dnf is here; envs/apt.txt names what is needed, by Debian's names"
        return 0
    else
        fail "neither apt-get nor dnf is here; install what envs/apt.txt names by hand, then make .venv:" \
            "python3 -m venv .venv && .venv/bin/pip install --require-hashes -r envs/requirements.txt"
    fi
    mapfile -t wanted < <(names "${lists[@]}")
    install_missing "${wanted[@]}"
    [ "$purpose/$manager" != test/apt ] || mapfile -t wanted < <(names envs/apt-test-optional.txt)
    [ "$purpose/$manager" != test/apt ] || install_optional "${wanted[@]}"
}

# Compilers and fetchers that a study names; a package the distribution lacks is an error of its package manager's.
install_study_packages() {
    local told wanted
    told=$(.venv/bin/python -m scripts.commands.study_packages "$study" --scale "$scale" --manager "${manager:-apt}") ||
        fail "$study: see above"
    [ -n "$told" ] && [ -n "$manager" ] || return 0
    mapfile -t wanted <<<"$told"
    # a database server as a service would disturb what is measured
    [ "$manager" != apt ] || services_off=$(without_services)
    install_missing "${wanted[@]}"
}

# Print the first Python that is new enough and can make a virtual environment.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python3.14; do
        if "$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    fail "no usable Python: 3.11 or newer with its venv module is needed; python3 is" \
        "$(python3 --version 2>&1 || true) ($(command -v python3 || echo 'not found')), and none of python3.11 to" \
        "python3.14 works either. Install one (Ubuntu: python3.11-venv), or name it: PYTHON=/path/to/python make setup"
}

# What the environment was made from. A checkout that moved, or a replaced interpreter, makes it useless.
stamp_of() { printf '%s %s %s\n' "$(sha256sum <"$1")" "$root" "$(.venv/bin/python --version 2>&1)"; }

# Whether .venv is there and made from a list as it is now.
is_made_from() {
    [ -x .venv/bin/python ] && [ -f "$2" ] && [ "$(stamp_of "$1")" = "$(cat "$2")" ]
}

install_python_packages() {
    local list=envs/requirements.txt stamp=.venv/stamp-run python
    [ "$purpose" = run ] || list=envs/requirements-dev.txt stamp=.venv/stamp-test
    ! is_made_from "$list" "$stamp" || return 0
    python=$(find_python)
    if ! grep -qsF " $root " .venv/stamp-* || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
        "$python" -m venv --clear .venv
    fi
    say "installing $(grep -c == "$list") pinned Python packages into .venv (log: .venv/setup.log)"
    if ! .venv/bin/python -m pip install --disable-pip-version-check --no-input --require-hashes \
        --requirement "$list" >.venv/setup.log 2>&1; then
        tail -n 15 .venv/setup.log >&2
        fail "pip could not install $list exactly as pinned; the whole log: $root/.venv/setup.log"
    fi
    stamp_of "$list" >"$stamp"
    # requirements-dev.txt holds all of requirements.txt, at the same versions
    [ "$purpose" = run ] || stamp_of envs/requirements.txt >.venv/stamp-run
    changed=yes
}

# Say what a set-up would install; what is there serves for a plan.
say_missing() {
    local setup="make setup"
    local name=${study#studies/}
    [ "$name" = "$study" ] || setup+=" STUDY=${name%.yaml}"
    is_made_from envs/requirements.txt .venv/stamp-run || say ".venv has other packages than envs/requirements.txt;" \
        "\`$setup\` installs them"
    [ "${#absent[@]}" -eq 0 ] || say "missing packages (${#absent[@]}): ${absent[*]}; \`$setup\` installs them"
}

case $purpose in
    run | test) ;;
    missing)
        [ -x .venv/bin/python ] || {
            say "there is no .venv; make setup makes it"
            exit 2
        }
        ;;
    *) fail "unknown purpose '$purpose', expected run, test or missing" ;;
esac
changed=no manager='' services_off='' absent=()
install_packages
[ "$purpose" = missing ] || install_python_packages
[ -z "$study" ] || install_study_packages
if [ "$purpose" = missing ]; then
    say_missing
elif [ "$changed" = no ]; then
    say "everything is there, nothing to do"
else
    say "done"
fi
