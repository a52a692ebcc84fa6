#!/bin/sh
# Prints the version, which is in one place of the sources. With --debian, prints it as dpkg orders it: 1.0.0-rc.1 is 1.0.0~rc.1.
set -eu

cd "$(dirname "$0")/.."
file=Sources/Instrument/Support/InstrumentVersion.swift
fail() {
    echo "version: $*" >&2
    exit 1
}

[ -r "$file" ] || fail "cannot read $file, which must have the version"
version=$(sed -n 's/.*static let current[^"]*"\([^"]*\)".*/\1/p' "$file")
echo "$version" | grep -Eqx '(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?' ||
    fail "the version in $file must be MAJOR.MINOR.PATCH or MAJOR.MINOR.PATCH-PRERELEASE (found '$version')"
if [ "${1:-}" = --debian ]; then
    echo "$version" | sed 's/-/~/'
else
    echo "$version"
fi
