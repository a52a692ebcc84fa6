#!/bin/sh
# Compares the public API of each library target with the newest tag and fails on a breaking change. Targets are compared one at a
# time, because the comparison of a whole package can crash where a system library target is present.
# Usage: scripts/check-api.sh [TARGET...]   (by default every library target that is part of a product)
set -eu

cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

tag=$(git tag --list --sort=-version:refname '[0-9]*' 'v[0-9]*' | head -n 1)
if [ -z "$tag" ]; then
    echo "There is no version tag yet, so there is no API to compare with. The check starts with the first tag."
    exit 0
fi

if [ $# -eq 0 ]; then
    # The library targets of the products, each once.
    # shellcheck disable=SC2046
    set -- $("$swift" package dump-package | python3 -c '
import json, sys
package = json.load(sys.stdin)
for target in sorted({t for p in package["products"] if "library" in p["type"] for t in p["targets"]}):
    print(target)')
fi

failed=
for target in "$@"; do
    echo "API of $target since $tag"
    "$swift" package diagnose-api-breaking-changes "$tag" --targets "$target" || failed="$failed $target"
done
if [ -n "$failed" ]; then
    echo "breaking changes, or a failed comparison, in:$failed. Restore the API, or raise the major version (before 1.0: the minor version)." >&2
    exit 1
fi
