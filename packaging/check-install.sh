#!/bin/bash
# Checks `make install` and `make uninstall`: what they install, that a second installation replaces the first one, and that every failure
# leaves the target as it was. Usage: packaging/check-install.sh PROGRAMS
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=0
wrong() {
    echo "check-install: $*" >&2
    failed=1
}
files() { (cd "$work" && find target -printf "%p %y %s\n" 2>/dev/null | sort) || true; }
# refuses TEXT COMMAND…: the command fails with a message that has TEXT, and changes nothing in the target.
refuses() {
    text=$1
    shift
    before=$(files)
    if "$@" >"$work/log" 2>&1; then wrong "expected a failure with '$text': $*"; fi
    grep -qF -e "$text" "$work/log" || wrong "expected '$text' (found: $(cat "$work/log")): $*"
    [ "$before" = "$(files)" ] || wrong "a failure has changed the target: $*"
}
install="$here/install.sh install $programs"
export PREFIX=/usr/local DESTDIR=$work/target

refuses "has no program" "$here/install.sh" install "$work"
refuses "must be an absolute path" env PREFIX=usr $install
refuses "must consist of" env PREFIX='/usr local' $install
refuses "has no installation" "$here/install.sh" uninstall
mkdir -p "$work/few"
for tool in bash sh cat sed grep mktemp rm dirname mkdir env; do ln -s "$(command -v $tool)" "$work/few/"; done
refuses "python3 is missing" env PATH="$work/few" $install
cp -r "$here" "$work/packaging"
mkdir -p "$work/Sources/Instrument/Support"
refuses "which must have the version" "$work/packaging/install.sh" install "$programs"
echo 'public static let current = "1.x"' >"$work/Sources/Instrument/Support/InstrumentVersion.swift"
refuses "(found '1.x')" "$work/packaging/install.sh" install "$programs"

$install >"$work/log"
for file in bin/player-monitor bin/test-origin share/man/man1/player-monitor-play.1.gz lib/systemd/system/player-monitor.service \
    share/bash-completion/completions/player-monitor share/zsh/site-functions/_player-monitor share/fish/vendor_completions.d/player-monitor.fish \
    share/doc/player-monitor/examples/monitor.yaml lib/sysusers.d/player-monitor.conf; do
    [ -s "$DESTDIR$PREFIX/$file" ] || wrong "the installation has no $file"
done
grep -q "^ExecStart=$PREFIX/bin/player-monitor" "$DESTDIR$PREFIX/lib/systemd/system/player-monitor.service" || wrong "the unit names another program"

# A newer version has fewer files than an older one.
list=$DESTDIR$PREFIX/share/doc/player-monitor/installed-files
touch "$DESTDIR$PREFIX/share/man/man1/player-monitor-old.1.gz" "$DESTDIR$PREFIX/bin/foreign"
echo share/man/man1/player-monitor-old.1.gz >>"$list"
$install >"$work/log"
[ ! -e "$DESTDIR$PREFIX/share/man/man1/player-monitor-old.1.gz" ] || wrong "a file of the older version is left"

mkdir "$work/aside"
mv "$DESTDIR$PREFIX/bin/test-origin" "$work/aside/"
mkdir "$DESTDIR$PREFIX/bin/test-origin"
refuses "expected a file" $install
rmdir "$DESTDIR$PREFIX/bin/test-origin"
mv "$work/aside/test-origin" "$DESTDIR$PREFIX/bin/"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$work"
    refuses "cannot write to" setpriv --reuid 65534 --regid 65534 --clear-groups $install
    refuses "cannot write to" setpriv --reuid 65534 --regid 65534 --clear-groups "$here/install.sh" uninstall
    # A disk with room for the first files only.
    mkdir "$work/small"
    if unshare --mount true 2>/dev/null; then
        unshare --mount --propagation private sh -c '
            mount -t tmpfs -o size=8m tmpfs "$0" && cd "$0" && ! DESTDIR=$0 "$1" install "$2" >"$3" 2>&1 && [ -z "$(find . -type f)" ]
        ' "$work/small" "$here/install.sh" "$programs" "$work/log" || wrong "a full disk must leave no file: $(cat "$work/log")"
    fi
fi

"$here/install.sh" uninstall >"$work/log"
left=$(cd "$DESTDIR" && find . -type f)
[ "$left" = ./usr/local/bin/foreign ] || wrong "removing must leave foreign files alone (found: $left)"

[ "$failed" -eq 0 ] || exit 1
echo "Installing and removing work."
