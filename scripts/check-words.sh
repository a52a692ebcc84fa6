#!/bin/sh
# Checks the project's texts for the phrases of docs/words.txt. Prints file:line, the phrase and the replacement for each hit, and
# exits 1 if there is a hit. A phrase that is broken over two lines is not found. The glossary must define each term once.
# Usage: scripts/check-words.sh
set -eu

cd "$(dirname "$0")/.."
words=docs/words.txt
tab=$(printf '\t')
hits=$(mktemp)
trap 'rm -f "$hits"' EXIT

texts() {
    find . \( -name '.?*' ! -name . -o -path ./sample \) -prune -o \
        \( -name '*.swift' -o -name '*.md' -o -name '*.sh' -o -name Makefile \) ! -path ./scripts/check-words.sh -type f -print0
}

grep -v '^#' "$words" | while IFS="$tab" read -r phrase instead; do
    if [ -z "$phrase" ]; then continue; fi
    if [ -z "$instead" ]; then
        echo "$words: the phrase '$phrase' must have a replacement after a tab" >&2
        exit 2
    fi
    # grep exits 1 without a hit, which xargs reports as 123.
    texts | xargs -0 grep -HnoEi -e "$phrase" >"$hits.found" || [ $? -eq 123 ] || [ $? -eq 1 ]
    while IFS=: read -r file line found; do
        printf '%s:%s: "%s": write %s\n' "${file#./}" "$line" "$found" "$instead"
    done <"$hits.found" >>"$hits"
    rm -f "$hits.found"
done

if [ -s "$hits" ]; then
    sort -t: -k1,1 -k2,2n "$hits" >&2
    echo "$(wc -l <"$hits") phrases to replace; $words has the list" >&2
    exit 1
fi

twice=$(sed -n 's/^| \([^|]*\) |.*/\1/p' docs/glossary.md | grep -vxE 'term|-+' | tr ',' '\n' | sed 's/^ *//; s/ *$//' | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "docs/glossary.md must define each term once (found twice: $(echo "$twice" | tr '\n' ' '))" >&2
    exit 1
fi
