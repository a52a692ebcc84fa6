#!/bin/sh
# Checks that no comment line of a Swift file is longer than 120 columns: swift-format wraps code, and leaves comments as they are.
# Rows of tables are exempt, because Markdown cannot break them. Prints file:line:text for each hit, and exits 1 if there is a hit.
# Usage: scripts/check-comments.sh
set -eu
# Columns are characters, not bytes.
LC_ALL=C.UTF-8
export LC_ALL

cd "$(dirname "$0")/.."
hits=$(find . -name '.?*' ! -name . -prune -o -name '*.swift' -type f -print0 |
    xargs -0 grep -HnE '^.{121,}$' | grep -E '^[^:]*:[0-9]+: *//' | grep -vE '^[^:]*:[0-9]+: *///? *\|' || true)
if [ -n "$hits" ]; then
    printf '%s\n' "$hits" | sed 's|^[.]/||' >&2
    echo "$(printf '%s\n' "$hits" | wc -l) comment lines are longer than 120 columns; wrap them" >&2
    exit 1
fi
