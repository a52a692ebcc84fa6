#!/bin/sh
# Builds everything, tests included; a warning in our code is an error.
set -eu

swift=${SWIFT:-swift}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "$swift" build --build-tests >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
cat "$log"
if grep -E '(Sources|Tests|Examples)/.*warning:' "$log" >/dev/null; then
    echo "There are warnings:" >&2
    grep -E '(Sources|Tests|Examples)/.*warning:' "$log" | sort -u >&2
    exit 1
fi
