#!/bin/sh
# Lints the scripts of the pages that are embedded in the programs, with oxlint (from PyPI) in a virtual environment beside the build.
# Without python3 with venv and pip, or without a network, it says so: the scripts are not linted then.
set -eu

cd "$(dirname "$0")/.."
directory=.build/oxlint
version="oxlint==1.89.0"
mark="$directory/installed-$(printf '%s' "$version" | tr -c 'a-z0-9.\n' '-')"

skip() {
    echo "SKIPPED: the lint of the pages' scripts, because $1" >&2
    exit 0
}
if [ ! -f "$mark" ]; then
    rm -rf "$directory"
    mkdir -p "$(dirname "$directory")"
    python3 -m venv "$directory" >/dev/null 2>&1 || skip "python3 has no venv (Debian: python3-venv)"
    "$directory/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 30 "$version" >&2 \
        || skip "oxlint cannot be installed"
    touch "$mark"
fi
git ls-files -z '*.js' ':!Sources/Monitor/Runtime/Page' | xargs -0 "$directory/bin/oxlint" --quiet --deny-warnings
# The parts of the dashboard's script are one script: a part uses names of others.
(cd Sources/Monitor/Runtime/Page && cat dom.js [!d]*.js) > "$directory/dashboard.js"
"$directory/bin/oxlint" --quiet --deny-warnings "$directory/dashboard.js"
