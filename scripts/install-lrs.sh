#!/bin/sh
# Installs a real LRS (Ralph, from PyPI) for the tests of the xAPI backend, in a virtual environment beside the build.
# Can be run again; needs python3 with venv and pip. Without them, or without a network, it says so and ends with 3: the tests
# against the LRS are then skipped.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${LRS_DIRECTORY:-.build/lrs}
version="ralph-malph[lrs,cli]==5.1.0"
mark="$directory/installed-$(printf '%s' "$version" | tr -c 'a-z0-9.\n' '-')"
[ -f "$mark" ] && exit 0

skip() {
    echo "SKIPPED: the tests against a real LRS, because $1" >&2
    rm -rf "$directory"
    exit 3
}
command -v python3 >/dev/null 2>&1 || skip "there is no python3"
rm -rf "$directory"
mkdir -p "$(dirname "$directory")"
echo "Installing an LRS for the tests: $version"
python3 -m venv "$directory" >/dev/null 2>&1 || skip "python3 has no venv (Debian: python3-venv)"
"$directory/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 30 "$version" requests >&2 \
    || skip "it cannot be installed"
touch "$mark"
