#!/bin/sh
# Makes a release: version, changelog, artefacts, tag, and the next development version. docs/releasing.md describes the steps.
# Usage: scripts/release.sh [--dry-run] VERSION [NEXT]
# NEXT is the version that development continues with; by default the next minor version with the suffix -dev. Nothing is pushed.
# --dry-run does everything, and then removes the commits and the tag. So does a failure: the branch is as it was before.
set -eu

fail() {
    echo "release: $*" >&2
    exit 1
}

dry=
if [ "${1:-}" = --dry-run ]; then
    dry=1
    shift
fi
[ $# -eq 1 ] || [ $# -eq 2 ] || fail "usage: scripts/release.sh [--dry-run] VERSION [NEXT]"
version=$1
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
output=$root/.build/release-$version
# What makes the packages; the check of this script has a quicker one.
package=${RELEASE_PACKAGE:-make package}

number='(0|[1-9][0-9]*)'
echo "$version" | grep -Eqx "$number\.$number\.$number(-(alpha|beta|rc)\.$number)?" ||
    fail "VERSION must be MAJOR.MINOR.PATCH, or end in -alpha.N, -beta.N or -rc.N (found '$version')"
next=${2:-$(echo "$version" | awk -F '[.-]' '{ print $4 == "" ? $1 "." $2 + 1 ".0-dev" : $1 "." $2 "." $3 "-dev" }')}
echo "$next" | grep -Eqx "$number\.$number\.$number-dev" || fail "NEXT must be MAJOR.MINOR.PATCH-dev (found '$next')"

[ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed. Commit or stash them: git status"
branch=$(git symbolic-ref --quiet --short HEAD) || fail "HEAD is on no branch. Check out the branch to release."
! git rev-parse --quiet --verify "refs/tags/$version" >/dev/null || fail "the tag $version exists"
newest=$(git tag --list '[0-9]*.[0-9]*.[0-9]*' | sed 's/-/~/' | sort -V | tail -1 | sed 's/~/-/')
if [ -n "$newest" ]; then
    last=$(printf '%s\n%s\n' "$newest" "$version" | sed 's/-/~/' | sort -V | tail -1 | sed 's/~/-/')
    [ "$last" = "$version" ] || fail "VERSION must be higher than the newest tag, $newest (found $version)"
fi

constant=Sources/Instrument/Support/InstrumentVersion.swift
set_version() {
    sed -i "s/\(static let current[^\"]*\"\)[^\"]*\"/\1$1\"/" "$constant"
    [ "$(packaging/version.sh)" = "$1" ] || fail "cannot set the version in $constant"
}
# The lines of one section of the changelog, without its heading.
section() { awk -v name="## [$1]" 'index($0, "## ") == 1 { inside = index($0, name) == 1; next } inside' CHANGELOG.md | sed -e '/./,$!d'; }

packaging/version.sh >/dev/null
start=$(git rev-parse HEAD)
undo() {
    code=$?
    git tag -d "$version" >/dev/null 2>&1 || true
    git reset --quiet --hard "$start"
    echo "release: nothing was released; $branch is as it was before" >&2
    exit "$code"
}
trap undo EXIT
trap 'exit 130' INT TERM

SOURCE_DATE_EPOCH=$(date +%s)
export SOURCE_DATE_EPOCH
if ! grep -q "^## \[$version\]" CHANGELOG.md; then
    [ -n "$(section Unreleased)" ] || fail "CHANGELOG.md must have the section '## [Unreleased]' with the changes, or '## [$version]'"
    sed -i "s/^## \[Unreleased\].*/## [Unreleased]\n\n## [$version] - $(date -u -d "@$SOURCE_DATE_EPOCH" +%F)/" CHANGELOG.md
fi
notes=$(section "$version")
[ -n "$notes" ] || fail "the section '## [$version]' of CHANGELOG.md is empty"
set_version "$version"
git commit --quiet -am "release: $version"

$package >&2
rm -rf "$output"
mkdir -p "$output"
debian=$(packaging/version.sh --debian)
for artefact in ".build/packages/player-monitor_${debian}_"*.deb ".build/packages/test-origin_${debian}_"*.deb ".build/packages/player-monitor-$version-linux-"*.tar.xz .build/packages/sbom.spdx.json; do
    [ -s "$artefact" ] || fail "'$package' made no $artefact"
    cp "$artefact" "$output/"
done
mv "$output/sbom.spdx.json" "$output/player-monitor-$version.spdx.json"
git archive --format=tar --prefix="instrument-$version/" HEAD | gzip -9n >"$output/instrument-$version.tar.gz"
printf '%s\n' "$notes" >"$output/notes.md"
(cd "$output" && sha256sum -- *.deb *.tar.?z *.json >SHA256SUMS)
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "'$package' has changed the sources"

git tag -a "$version" -m "$version" -m "$notes" --cleanup=verbatim
set_version "$next"
git commit --quiet -am "release: continue with $next"
if [ -n "$dry" ]; then
    echo "Dry run of $version, then $next. The artefacts are in $output:"
    ls "$output"
    exit 0
fi
trap - EXIT

echo "Released $version: the tag is on $(git rev-parse --short "$version^{commit}"), $branch continues with $next."
echo "The artefacts are in $output:"
ls "$output"
echo "Publish: git push origin $branch $version, and attach the artefacts to the release with notes.md as its text."
