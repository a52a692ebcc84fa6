#!/bin/sh
# Builds the documentation of each library with the toolchain's DocC from the debug build; any warning is an error. Compares the public
# surface of each product with its file in api; --update writes these files, and builds no documentation.
# Usage: scripts/check-documentation.sh [--update | OUTPUT-DIRECTORY]   (by default .docs; after a build)
set -eu

cd "$(dirname "$0")/.."
update=
[ "${1:-}" != --update ] || update=$1
output=.docs
[ -n "$update" ] || output=${1:-.docs}
swift=${SWIFT:-swift}
tools=$(dirname "$(readlink -f "$(command -v "$swift")")")
target=$("$swift" -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",*$/\1/p')
. scripts/module-flags.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$output"
mkdir -p "$output"
export output tools target work update

# The bindings for Apple platforms exist in the build against declarations alone.
stubs=Tests/AppleStubs
apple="InstrumentAVPlayer InstrumentIMA InstrumentSwiftUI"
flags .build/debug >"$work/flags"
printf '%s\n' -I "$stubs/.build/debug/Modules" >"$work/apple-flags"
if [ ! -d "$stubs/.build/debug/Modules" ]; then
    scripts/link-apple-sources.sh
    "$swift" build --package-path "$stubs" >/dev/null
fi

# MODULE CATALOG FLAGS
cat >"$work/document" <<'SCRIPT'
set -eu
graphs=$work/graphs/$1
mkdir -p "$graphs"
# The module, and its extensions of other modules' types.
xargs "$tools/swift-symbolgraph-extract" -module-name "$1" -target "$target" -minimum-access-level public -skip-synthesized-members \
    -output-dir "$graphs" <"$3"
[ -z "$update" ] || exit 0
"$tools/docc" convert "$2" --additional-symbol-graph-dir "$graphs" --warnings-as-errors --fallback-display-name "$1" \
    --fallback-bundle-identifier "instrument.$1" --output-path "$output/$1.doccarchive"
echo "documentation of $1"
SCRIPT

find Sources -name '*.docc' | sort | while read -r catalog; do
    module=$(basename "$catalog" .docc)
    case " $apple " in
        *" $module "*) echo "$module $catalog $work/apple-flags" ;;
        *) echo "$module $catalog $work/flags" ;;
    esac
done | xargs -P 2 -L 1 sh "$work/document"
# shellcheck disable=SC2086
scripts/list-api.py "$work/graphs" $update
