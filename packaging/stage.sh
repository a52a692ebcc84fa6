#!/bin/sh
# Lays out everything that an installation has, in an empty folder: programs, completions, manual pages, the systemd unit and its user,
# examples. Completions and manual pages come from the programs themselves.
# Usage: packaging/stage.sh PROGRAMS FOLDER PREFIX
# PROGRAMS is the folder with player-monitor and test-origin. The files are in FOLDER/PREFIX.
set -eu

fail() {
    echo "stage: $*" >&2
    exit 1
}

[ $# -eq 3 ] || fail "usage: packaging/stage.sh PROGRAMS FOLDER PREFIX"
here=$(cd "$(dirname "$0")" && pwd)
programs=$1
prefix=$3
root=$2$prefix
case $prefix in
/*) ;;
*) fail "PREFIX must be an absolute path (found '$prefix')" ;;
esac
case $prefix in
*[!A-Za-z0-9/._+-]*) fail "PREFIX must consist of letters, digits and / . _ + - (found '$prefix')" ;;
esac
for tool in python3 gzip install; do
    command -v "$tool" >/dev/null || fail "$tool is missing. Install it and repeat the command."
done
version=$("$here/version.sh")

put() { install -D -m "$1" "$2" "$root/$3"; }
for program in player-monitor test-origin; do
    [ -x "$programs/$program" ] || fail "$programs has no program '$program'"
    put 755 "$programs/$program" "bin/$program"
    for shell in bash:share/bash-completion/completions/$program \
        zsh:share/zsh/site-functions/_$program fish:share/fish/vendor_completions.d/$program.fish; do
        mkdir -p "$root/$(dirname "${shell#*:}")"
        # A completion is read by the shell and not run: without the line that names an interpreter.
        script=$("$programs/$program" --generate-completion-script "${shell%%:*}") || fail "$programs/$program does not run"
        printf '%s\n' "$script" | sed '1{/^#!/d}' >"$root/${shell#*:}"
        [ -s "$root/${shell#*:}" ] || fail "$program printed no completions for ${shell%%:*}"
        chmod 644 "$root/${shell#*:}"
    done
    mkdir -p "$root/share/man/man1"
    "$programs/$program" --experimental-dump-help | python3 "$here/man-pages.py" "$root/share/man/man1" "$version"
done
chmod 644 "$root"/share/man/man1/*.1
gzip -9n "$root"/share/man/man1/*.1

sed "s|/usr/local/bin/|$prefix/bin/|" "$here/../docs/monitor/player-monitor.service" >"$root/player-monitor.service"
put 644 "$root/player-monitor.service" lib/systemd/system/player-monitor.service
rm "$root/player-monitor.service"
put 644 "$here/sysusers.conf" lib/sysusers.d/player-monitor.conf
for example in monitor.yaml alerts.rules.yml grafana-dashboard.json; do
    put 644 "$here/../docs/monitor/$example" "share/doc/player-monitor/examples/$example"
done
