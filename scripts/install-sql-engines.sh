#!/bin/sh
# Installs DuckDB and chDB (ClickHouse) from PyPI for the tests of the queries in sql/, in a virtual environment beside the build.
# Can be run again; needs python3 with venv and pip. An engine that cannot be installed is reported, and its tests are skipped; the
# script exits with 3 if there is neither.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${SQL_DIRECTORY:-.build/sql}
mkdir -p "$(dirname "$directory")"

skip() {
    echo "SKIPPED: the tests of the SQL queries, because $1" >&2
    exit 3
}
command -v python3 >/dev/null 2>&1 || skip "there is no python3"
if [ ! -x "$directory/bin/python" ]; then
    python3 -m venv "$directory" >/dev/null 2>&1 || { rm -rf "$directory"; skip "python3 has no venv (Debian: python3-venv)"; }
fi

installed=0
for engine in "duckdb>=1.1" "chdb>=3"; do
    name=${engine%%>*}
    if [ ! -f "$directory/installed-$name" ]; then
        echo "Installing an SQL engine for the tests: $engine"
        if "$directory/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 30 "$engine" >&2; then
            touch "$directory/installed-$name"
        else
            echo "SKIPPED: the tests of the SQL queries with $name, because it cannot be installed" >&2
            continue
        fi
    fi
    installed=1
done
[ "$installed" = 1 ] || skip "no engine can be installed"
