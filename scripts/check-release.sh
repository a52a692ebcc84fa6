#!/bin/sh
# Checks scripts/release.sh in a clone: what it refuses, that a failure leaves no trace, and what a release consists of. The packages are
# stand-ins; packaging/test-installation.sh tests the real ones.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

git clone --quiet --no-tags "$root" "$work/source"
cd "$work/source"
# A checkout of one commit, as build services make it, has no branch.
git checkout --quiet -B main
# The scripts as they are now, committed or not.
mkdir -p packaging
for file in scripts/release.sh packaging/version.sh Sources/Instrument/Support/InstrumentVersion.swift; do cp "$root/$file" "$file"; done
git config user.name Release
git config user.email release@localhost.invalid
git add -A
git commit --quiet --allow-empty -m "check: the scripts of the working tree"
cat >"$work/package" <<'PACKAGE'
#!/bin/sh
set -e
mkdir -p .build/packages
echo deb >".build/packages/player-monitor_$(packaging/version.sh --debian)_amd64.deb"
echo deb >".build/packages/test-origin_$(packaging/version.sh --debian)_amd64.deb"
echo tar >".build/packages/player-monitor-$(packaging/version.sh)-linux-x86_64.tar.xz"
echo '{}' >.build/packages/sbom.spdx.json
PACKAGE
chmod +x "$work/package"
export RELEASE_PACKAGE="$work/package"

failed=0
wrong() {
    echo "check-release: $*" >&2
    failed=1
}
state() { echo "$(git rev-parse HEAD) $(git tag | tr '\n' ' ') $(git status --porcelain | tr '\n' ' ')"; }
# refuses TEXT ARGUMENT…: the release fails with a message that has TEXT, and changes nothing.
refuses() {
    text=$1
    shift
    before=$(state)
    if scripts/release.sh "$@" >"$work/log" 2>&1; then wrong "'$*' must fail with '$text'"; fi
    grep -qF -e "$text" "$work/log" || wrong "'$*' must fail with '$text' (found: $(cat "$work/log"))"
    [ "$before" = "$(state)" ] || wrong "'$*' has changed the clone"
}
commit() { git commit --quiet -am "check: $1"; }

refuses "usage:"
refuses "VERSION must be" one
refuses "VERSION must be" 1.0
refuses "VERSION must be" 1.0.0-dev
refuses "VERSION must be" 01.0.0
refuses "NEXT must be" 1.0.0 1.1.0

printf '# Changelog\n\n## [Unreleased]\n\n## [0.0.1] - 2020-01-01\n\n- Old.\n' >CHANGELOG.md
refuses "changes that are not committed" 1.0.0
commit "an empty section"
refuses "CHANGELOG.md must have the section" 1.0.0

printf '# Changelog\n\n## [Unreleased]\n\n### Added\n- News.\n\n## [0.0.1] - 2020-01-01\n\n- Old.\n' >CHANGELOG.md
commit "a section"
sed -i 's/static let current = ".*"/static let current = "one"/' Sources/Instrument/Support/InstrumentVersion.swift
commit "a version that does not parse"
refuses "(found 'one')" 1.0.0
git reset --quiet --hard HEAD^
git tag 2.0.0
refuses "higher than the newest tag" 1.0.0
refuses "the tag 2.0.0 exists" 2.0.0
git tag -d 2.0.0 >/dev/null
RELEASE_PACKAGE=false refuses "nothing was released" 1.0.0
RELEASE_PACKAGE=true refuses "made no .build" 1.0.0

before=$(state)
scripts/release.sh --dry-run 1.0.0 >"$work/log" 2>&1 || wrong "the dry run failed: $(cat "$work/log")"
[ "$before" = "$(state)" ] || wrong "the dry run has changed the clone"
[ -s .build/release-1.0.0/SHA256SUMS ] || wrong "the dry run kept no artefacts"

scripts/release.sh 1.0.0-rc.1 >"$work/log" 2>&1 || wrong "the release candidate failed: $(cat "$work/log")"
[ "$(packaging/version.sh)" = 1.0.0-dev ] || wrong "1.0.0-rc.1 must continue with 1.0.0-dev (found $(packaging/version.sh))"
printf '# Changelog\n\n## [Unreleased]\n\n### Added\n- More.\n' >CHANGELOG.md
commit "more"
scripts/release.sh 1.0.0 >"$work/log" 2>&1 || wrong "the release failed: $(cat "$work/log")"
[ "$(packaging/version.sh)" = 1.1.0-dev ] || wrong "1.0.0 must continue with 1.1.0-dev (found $(packaging/version.sh))"
git checkout --quiet 1.0.0
[ "$(packaging/version.sh)" = 1.0.0 ] || wrong "the tag must have the version 1.0.0 (found $(packaging/version.sh))"
grep -q '^## \[1.0.0\] - 20' CHANGELOG.md || wrong "the changelog of the tag has no section 1.0.0"
grep -q '^## \[Unreleased\]$' CHANGELOG.md || wrong "the changelog of the tag has no section for later changes"
git tag -l --format='%(contents)' 1.0.0 | grep -q '^### Added' || wrong "the tag has no notes"
cd .build/release-1.0.0
sha256sum --quiet --check SHA256SUMS || wrong "the checksums differ"
[ "$(wc -l <SHA256SUMS)" -eq 5 ] || wrong "a release has five artefacts (found: $(cat SHA256SUMS))"
[ "$(cat notes.md)" = "$(printf '### Added\n- More.')" ] || wrong "the notes must be those of the section (found: $(cat notes.md))"
tar -tf instrument-1.0.0.tar.gz | grep -q '^instrument-1.0.0/Package.swift$' || wrong "the archive of the sources has no Package.swift"

[ "$failed" -eq 0 ] || exit 1
echo "The release script works."
