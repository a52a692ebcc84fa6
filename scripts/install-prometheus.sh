#!/bin/sh
# Unpacks Prometheus and promtool (Debian's package, not installed, so that no service starts) in a directory beside the build, for the
# tests of the monitor. Can be run again. Exits with 3 if the package is not available: those tests are then skipped.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${PROMETHEUS_DIRECTORY:-.build/prometheus}
[ -x "$directory/usr/bin/promtool" ] && exit 0

skip() { # REASON
    echo "SKIPPED: the tests against Prometheus, because $1" >&2
    exit 3
}
command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || skip "this is no Debian system"
downloads=$(mktemp -d)
trap 'rm -rf "$downloads"' EXIT
(cd "$downloads" && apt-get -qq download prometheus >/dev/null 2>&1) || skip "its package cannot be downloaded"
mkdir -p "$directory"
dpkg-deb -x "$downloads"/prometheus_*.deb "$directory" || skip "its package cannot be unpacked"
