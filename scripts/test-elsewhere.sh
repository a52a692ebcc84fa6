#!/bin/bash
# Runs a command on a machine that is unlike this one, so that nothing of this machine decides about a test:
#
#   scripts/test-elsewhere.sh PLACE COMMAND…
#
#   strange  no network but loopback, no IPv6, a resolver that answers every name with 127.0.0.1, a proxy that nobody serves, a zone
#            14 hours ahead, German, no HOME, a long TMPDIR with a space, a /dev/shm that cannot be written, umask 077
#   poor     a user without rights, a checkout that cannot be written, a resolver that never answers, a /dev/shm of one megabyte with
#            files of another user, 256 file descriptors, no HOME, TMPDIR, LANG or TERM
#
# The places need Linux and either root or user namespaces; without them the script says SKIPPED and ends with 3. It fails if the command
# fails, and if the command asked the resolver for a name.
set -eu

usage() { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
skip() { echo "SKIPPED: $1" >&2; exit 3; }
here=$(cd "$(dirname "$0")" && pwd)
place=${1:-}
case $place in strange | poor) shift ;; *) usage ;; esac
[ $# -gt 0 ] || usage

if [ -z "${ELSEWHERE:-}" ]; then
    user=""
    [ "$(id -u)" -eq 0 ] || user=--map-root-user
    # shellcheck disable=SC2086
    unshare $user --mount --net true 2>/dev/null || skip "the kernel gives this user no namespaces"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    result=0
    # shellcheck disable=SC2086
    ELSEWHERE=$work unshare $user --mount --net --pid --fork --mount-proc --kill-child "$here/test-elsewhere.sh" "$place" "$@" ||
        result=$?
    exit "$result"
fi

# From here on, mounts and network are those of this script, and its processes end with it.
mount --make-rprivate /
work=$ELSEWHERE
unset ELSEWHERE
chmod 755 "$work"
ip link set lo up
cover() { # FILE TEXT: other content for a file of the system
    echo "$2" >"$work/$(basename "$1")"
    mount --bind "$work/$(basename "$1")" "$1"
}
cover /etc/resolv.conf "nameserver 127.0.0.1"
: >"$work/names"
resolver() { python3 "$here/test_resolver.py" "$1" "$work/names" & until [ -e "$work/names.ready" ]; do sleep 0.05; done; }

result=0
case $place in
    strange)
        cover /etc/hosts "127.0.0.1 localhost"
        echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
        mount -t tmpfs -o ro none /dev/shm
        folder="$work/a folder with a name that is long and not plain, like those of macOS: T/über/$(printf 'x%.0s' $(seq 60))"
        mkdir -p "$folder"
        locale=C
        if localedef -f UTF-8 -i de_DE "$work/de_DE.UTF-8" 2>/dev/null; then locale=de_DE.UTF-8; fi
        resolver everything
        umask 077
        env -u XDG_STATE_HOME -u XDG_CACHE_HOME -u XDG_CONFIG_HOME TZ=Pacific/Kiritimati LOCPATH="$work" LC_ALL=$locale LANG=$locale \
            HOME=/dev/null/home TMPDIR="$folder" http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 ALL_PROXY=http://127.0.0.1:9 \
            "$@" || result=$?
        ;;
    poor)
        mount -t tmpfs -o size=1m,mode=1777 none /dev/shm
        for number in 1 2 3; do echo leftover >"/dev/shm/instrument-queue-$number"; done
        chmod 600 /dev/shm/instrument-queue-*
        resolver nothing
        ulimit -n 256
        env -u HOME -u TMPDIR -u LANG -u TERM -u XDG_STATE_HOME -u XDG_CACHE_HOME -u XDG_CONFIG_HOME TZ=America/St_Johns LC_ALL=C \
            setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@" || result=$?
        ;;
esac
if [ -s "$work/names" ]; then
    echo "error: the command asked a resolver for these names; a test may ask for none:" >&2
    sort "$work/names" | uniq -c >&2
    [ "$result" -ne 0 ] || result=1
fi
exit "$result"
