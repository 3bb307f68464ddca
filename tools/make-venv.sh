#!/bin/sh
# make-venv.sh VENV EXTRA: a virtual environment in VENV with this checkout (editable) and what its EXTRA needs.
# Works where only python3 and pip are there, with or without python3-venv; says what is missing if it cannot.
set -eu
venv=$1
extra=$2
python=${PYTHON:-python3}

say() { printf 'mirage: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then sudo "$@"
    else return 1
    fi
}

works() { "$venv/bin/python" -c 'import pip' >/dev/null 2>&1; }

# Debian keeps ensurepip in python3-venv; the system's pip can put pip into an environment made without it.
with_system_pip() {
    "$python" -m venv --without-pip "$venv" >/dev/null 2>&1 &&
        "$python" -m pip --python "$venv/bin/python" install --quiet --disable-pip-version-check pip >/dev/null 2>&1
}

make_venv() {
    command -v "$python" >/dev/null 2>&1 ||
        fail "$python was not found; install Python 3.11 or newer (Debian, Ubuntu: apt-get install python3 python3-venv)"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "$("$python" --version) is too old: Python 3.11 or newer is needed (set PYTHON=/path/to/python3)"
    rm -rf "$venv"
    if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        "$python" -m venv "$venv" || fail "could not make a virtual environment in $venv"
        return
    fi
    with_system_pip && return
    rm -rf "$venv"
    command -v apt-get >/dev/null 2>&1 ||
        fail "$python has no ensurepip; install the venv package of Python with your system's package manager"
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    say "installing $package with apt-get"
    as_root apt-get update -qq && as_root apt-get install -y -qq "$package" >/dev/null ||
        fail "$package is missing and cannot be installed from here; run: sudo apt-get install $package"
    "$python" -m venv "$venv" || fail "could not make a virtual environment in $venv"
}

works || make_venv
say "installing Mirage and what it needs into $venv (about a minute, once)"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".[$extra]" || {
    say "pip could not install the dependencies. Is a package index reachable?"
    fail "its settings: $venv/bin/python -m pip config list (an index of your own: PIP_INDEX_URL=..., a proxy: HTTPS_PROXY=...)"
}
