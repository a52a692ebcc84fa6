#!/bin/sh
# Installs threefive (from PyPI) for the tests of SCTE-35 decoding, in a virtual environment beside the build. The tests run it as a
# separate process; nothing of it is linked or copied. Can be run again; needs python3 with venv and pip. Without them, or without a
# network, the script prints the reason and exits with 3: the tests against threefive are then skipped.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${THREEFIVE_DIRECTORY:-.build/threefive}
version="threefive==3.1.5"
mark="$directory/installed-$(printf '%s' "$version" | tr -c 'a-z0-9.\n' '-')"
[ -f "$mark" ] && exit 0

skip() {
    echo "SKIPPED: the tests against threefive, because $1" >&2
    rm -rf "$directory"
    exit 3
}
command -v python3 >/dev/null 2>&1 || skip "python3 is not installed"
rm -rf "$directory"
mkdir -p "$(dirname "$directory")"
echo "Installing threefive for the tests: $version"
python3 -m venv "$directory" >/dev/null 2>&1 || skip "python3 has no venv (Debian: python3-venv)"
"$directory/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 30 "$version" >&2 \
    || skip "pip cannot install it"
touch "$mark"
