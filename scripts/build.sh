#!/bin/sh
# Builds with the given options of `swift build`; a warning in our code is an error.
# Usage: scripts/build.sh [--build-tests] [-c release] …
set -eu

swift=${SWIFT:-swift}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "$swift" build "$@" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
tail -n 1 "$log"
if grep -E '(Sources|Tests|Examples)/.*warning:' "$log" >/dev/null; then
    echo "There are warnings:" >&2
    grep -E '(Sources|Tests|Examples)/.*warning:' "$log" | sort -u >&2
    exit 1
fi
