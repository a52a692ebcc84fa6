#!/bin/sh
# Compiles the sources for Apple platforms against declarations of Apple's frameworks (Tests/AppleStubs), and tests their logic. A
# warning in our sources is an error. Linux only: on Apple platforms the real frameworks have these names.
set -eu

cd "$(dirname "$0")/.."
if [ "$(uname -s)" != Linux ]; then
    echo "Skipped: the declarations of Apple's frameworks are for Linux"
    exit 0
fi
swift=${SWIFT:-swift}
package=Tests/AppleStubs
scripts/link-apple-sources.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "$swift" build --package-path "$package" --build-tests >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
# The declarations warn that Foundation is not compiled for library evolution.
warnings=$(grep -E '\.swift:[0-9]+:[0-9]+: warning:' "$log" | grep -v "$package/Stubs/" | sort -u || true)
if [ -n "$warnings" ]; then
    printf 'There are warnings:\n%s\n' "$warnings" >&2
    exit 1
fi
"$swift" test --package-path "$package" --skip-build
