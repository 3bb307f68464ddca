#!/bin/sh
# Make the virtual environment in $1 on a machine where only python3 may be there; says what is missing if it cannot.
set -eu
venv=$1
python=${PYTHON:-python3}

fail() { printf 'mirage: %s\n' "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else return 1
    fi
}

command -v "$python" >/dev/null 2>&1 || fail "$python was not found; install Python 3.11 or newer (Debian, Ubuntu: apt-get install python3)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version) is too old: Python 3.11 or newer is needed (set PYTHON=/path/to/python3)"

if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    command -v apt-get >/dev/null 2>&1 || fail "$python has no venv module; install it with your system's package manager"
    echo "mirage: installing python3-venv with apt-get" >&2
    as_root apt-get update -qq && as_root apt-get install -y -qq python3-venv >/dev/null ||
        fail "could not install python3-venv; run: sudo apt-get install python3-venv"
fi
"$python" -m venv "$venv" || fail "could not make a virtual environment in $venv"
