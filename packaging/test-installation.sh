#!/bin/bash
# Installs the Debian package into a bare Debian, without Swift and compiler, and uses it as its users do: play, check, watch as the
# service's user, upgrade over an older version whose queue is on the disk, removal. Then the archive: unpack and run.
# Usage: packaging/test-installation.sh PACKAGES
# Exit codes: 0 passed, 3 skipped (not root, or no bare system can be made here). Everything runs in a mount, process and network namespace
# of this script, which ends with it; the tests contact loopback alone. The bare system is kept in .build/installation for a week.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
skip() {
    echo "SKIPPED: the installation test: $*" >&2
    exit 3
}
fail() {
    echo "test-installation: $*" >&2
    exit 1
}

[ $# -eq 1 ] || fail "usage: packaging/test-installation.sh PACKAGES"
packages=$(cd "$1" 2>/dev/null && pwd) || fail "there is no folder '$1'. Run: make package"
deb=$(ls "$packages"/player-monitor_*.deb 2>/dev/null) || fail "$packages has no package. Run: make package"
origin_deb=$(ls "$packages"/test-origin_*.deb 2>/dev/null) || fail "$packages has no package of test-origin. Run: make package"
archive=$(ls "$packages"/player-monitor-*.tar.xz 2>/dev/null) || fail "$packages has no archive. Run: make package"
if [ "${INSTALLATION_NAMESPACE:-}" != 1 ]; then
    [ "$(id -u)" -eq 0 ] || skip "it needs root for chroot"
    for tool in debootstrap unshare nsenter ip ffmpeg curl python3; do
        command -v "$tool" >/dev/null || skip "$tool is missing"
    done
    unshare --mount --pid --net --fork true 2>/dev/null || skip "namespaces are not permitted here"
    exec env INSTALLATION_NAMESPACE=1 unshare --mount --propagation private --pid --fork --kill-child --mount-proc "$0" "$packages"
fi

release=bookworm
cache=$here/../.build/installation
mkdir -p "$cache/archives/partial"
cache=$(cd "$cache" && pwd)
work=$(mktemp -d)
# In memory: package managers wait for the disk after every file.
mount -t tmpfs -o size=4g tmpfs "$work"
root=$work/root
holder=
finish() {
    code=$?
    trap - EXIT
    [ "$code" -eq 0 ] || { ls -t "$work"/*.log | head -2 | xargs tail -n 15 | cut -c1-300 >&2; } 2>/dev/null || true
    [ -z "$holder" ] || kill "$holder" 2>/dev/null || true
    for mounted in proc dev/shm var/cache/apt/archives; do umount -l "$root/$mounted" 2>/dev/null || true; done
    umount -l "$work"
    rmdir "$work"
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

# The bare system.
origin_of_packages=$(apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)' 'Created-By: Packages' | sed -n 's/^Debian|//p' | sort -u)
mirror=$(echo "$origin_of_packages" | awk -F '|' -v release="$release" '$2 == release { print $1; exit }')
[ -n "$mirror" ] || skip "the sources of apt have no Debian $release"
bare=$cache/$release.tar
if [ -z "$(find "$bare" -mtime -7 2>/dev/null)" ]; then
    step "make a bare Debian $release"
    debootstrap --variant=minbase "$release" "$work/bare" "$mirror" >"$work/debootstrap.log" 2>&1 || skip "debootstrap failed: $(tail -1 "$work/debootstrap.log")"
    tar -C "$work/bare" --exclude='./var/cache/apt/archives/*.deb' -cf "$bare.new" .
    mv "$bare.new" "$bare"
    rm -rf "$work/bare"
fi
step "unpack the bare Debian"
mkdir "$root"
tar -C "$root" -xf "$bare"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs -o mode=1777,size=256m tmpfs "$root/dev/shm"
mount --bind "$cache/archives" "$root/var/cache/apt/archives"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
for file in /etc/apt/apt.conf.d/*proxy*; do [ ! -e "$file" ] || cp "$file" "$root/etc/apt/apt.conf.d/"; done
echo "$origin_of_packages" | sed -E 's/^(.*)\|(.*)\|(.*)$/deb [signed-by=\/usr\/share\/keyrings\/debian-archive-keyring.gpg] \1 \2 \3/' >"$root/etc/apt/sources.list"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"

apt() {
    chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o Dpkg::Options::=--force-unsafe-io -o APT::Sandbox::User=root \
        -o Dpkg::Use-Pty=0 "$@" >>"$work/apt.log" 2>&1
}
unshare --net sh -c 'ip link set lo up && exec sleep 1200' &
holder=$!
within() { nsenter --net="/proc/$holder/ns/net" "$@"; }
inside() { within chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"; }
as_service() { inside setpriv --reuid player-monitor --regid player-monitor --clear-groups --no-new-privs "$@"; }
# wait_for WORDS COMMAND…: waits until the command succeeds.
wait_for() {
    words=$1
    shift
    for _ in $(seq 1200); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    fail "waited two minutes without success: $words"
}
wait_for "the loopback interface" within sh -c 'ip -o link show lo up | grep -q UP'

[ "$(dpkg-deb -f "$deb" Installed-Size)" -le 60000 ] || fail "the package must take at most 60 MB (found $(dpkg-deb -f "$deb" Installed-Size) kB)"
[ "$(stat -c %s "$deb")" -le 20000000 ] || fail "the package must have at most 20 MB (found $(stat -c %s "$deb") bytes)"

# An older version, as an administrator may have it.
step "make an older package"
dpkg-deb -R "$deb" "$work/older"
sed -i 's/^Version: .*/Version: 0.0.1/' "$work/older/DEBIAN/control"
dpkg-deb --root-owner-group -Znone -b "$work/older" "$root/tmp/older.deb" >/dev/null
cp "$deb" "$root/tmp/newer.deb"
cp "$origin_deb" "$root/tmp/test-origin.deb"
rm -rf "$work/older"

step "install the older package with its dependencies"
apt update || skip "no package lists: $(tail -1 "$work/apt.log")"
apt install -y --no-install-recommends /tmp/older.deb /tmp/test-origin.deb || fail "apt cannot install the package"
! inside sh -c 'command -v swift cc gcc clang' >/dev/null || fail "the bare system has a compiler"
[ "$(inside stat -c '%U:%G %a' /var/lib/player-monitor /etc/player-monitor | tr '\n' ' ')" = "player-monitor:player-monitor 750 root:player-monitor 750 " ] ||
    fail "the folders have other owners or modes than expected"
[ ! -e "$root/etc/systemd/system/multi-user.target.wants/player-monitor.service" ] || fail "the package has enabled the service"

step "programs, completions, manual pages, unit"
version=$(inside player-monitor --version | head -1)
expected="player-monitor $("$here/version.sh")"
[ "$version" = "$expected" ] || fail "--version must print '$expected' (found '$version')"
inside bash -n /usr/share/bash-completion/completions/player-monitor
for shell in zsh fish; do
    command -v $shell >/dev/null || { echo "SKIPPED: completions of $shell: $shell is missing"; continue; }
    for file in "$root"/usr/share/zsh/vendor-completions/_* "$root"/usr/share/fish/vendor_completions.d/*; do
        case $shell:$file in
        zsh:*/_* | fish:*.fish) $shell -n "$file" || fail "$shell does not accept ${file#"$root"}" ;;
        esac
    done
done
for command in $(inside player-monitor --help | sed -n '/^SUBCOMMANDS:/,$s/^  \([a-z0-9-]*\) .*/\1/p'); do
    [ -s "$root/usr/share/man/man1/player-monitor-$command.1.gz" ] || fail "there is no manual page of player-monitor $command"
done
if command -v man >/dev/null; then
    for page in "$root"/usr/share/man/man1/{player-monitor,test-origin}*; do
        problems=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null | grep -v "can't break line" || true)
        [ -z "$problems" ] || fail "${page##*/}: $problems"
    done
fi
if command -v systemd-analyze >/dev/null; then
    systemd-analyze verify --man=no --recursive-errors=no --root="$root" player-monitor.service >"$work/unit.log" 2>&1 || fail "systemd refuses the unit"
fi
if command -v lintian >/dev/null; then
    lintian --fail-on error "$deb" "$origin_deb" >"$work/lintian.log" 2>/dev/null &
    lintian=$!
fi

step "play"
"$here/../scripts/make-sample.sh" "$cache/sample.ts"
cp "$cache/sample.ts" "$root/tmp/sample.ts"
inside player-monitor play --speed max --backend json /tmp/sample.ts >"$work/play.log" 2>&1 || fail "the sample does not play"
grep -q '"action":"End"' "$work/play.log" || fail "playing the sample ended without its last event"

step "serve and check"
# Made beside the bare system, which has no ffmpeg.
"$root/usr/bin/test-origin" --cache "$cache/fixtures" --make-fixtures >/dev/null 2>"$work/origin.log" || fail "test-origin cannot make its media"
cp -r "$cache/fixtures" "$root/tmp/fixtures"
inside test-origin --cache /tmp/fixtures --port 8080 >"$work/origin.log" 2>&1 &
wait_for "test-origin" within curl -sf http://127.0.0.1:8080/
inside player-monitor check http://127.0.0.1:8080/vod/ts/master.m3u8 >"$work/check.log" 2>&1 || fail "the check of a good stream fails"
! inside player-monitor check http://127.0.0.1:8080/s/a/break/target-duration-exceeded/vod/ts/master.m3u8 >"$work/check.log" 2>&1 ||
    fail "the check of a broken stream passes"

step "watch as the service, with a backend that does not answer"
configure() { # STREAM
    cat >"$root/etc/player-monitor/monitor.yaml" <<YAML
streams:
  - { name: $1, url: "http://127.0.0.1:8080/live/ts/master.m3u8", continuous: true }
backends:
  samples: { influx: "http://127.0.0.1:8086/write?db=samples" }
YAML
    inside chown root:player-monitor /etc/player-monitor/monitor.yaml
    chmod 640 "$root/etc/player-monitor/monitor.yaml"
}
service() { as_service sh -c "cd /var/lib/player-monitor && umask 0077 && exec $(sed -n 's/^ExecStart=//p' "$root/usr/lib/systemd/system/player-monitor.service")" >>"$work/service.log" 2>&1; }
monitored() { within curl -sf http://127.0.0.1:9464/metrics | grep -q "^instrument_stream_up{stream=\"$1\"[^}]*} 1"; }
end_service() { # SIGNAL
    process=$(within ss -Hltnp 'sport = :9464' | sed -n 's/.*pid=\([0-9]*\).*/\1/p' | head -1)
    kill "-$1" "$process"
    wait "$service" || status=$?
}
configure before
service &
service=$!
wait_for "the older version watches" monitored before
queued() { inside player-monitor queue export /var/lib/player-monitor/queue 2>/dev/null | wc -l; }
sleep 3
status=0
end_service KILL
count=$(queued)
[ "$count" -gt 10 ] || fail "the killed service must leave samples in its queue (found $count)"
[ "$(inside stat -c %U /var/lib/player-monitor/queue)" = player-monitor ] || fail "the queue must belong to the service's user"

step "upgrade over $count queued samples"
apt install -y --no-install-recommends /tmp/newer.deb || fail "apt cannot upgrade the package"
[ "$(queued)" -ge "$count" ] || fail "the newer version must read the $count queued samples of the older one (found $(queued))"
[ -s "$root/etc/player-monitor/monitor.yaml" ] || fail "the upgrade has removed the configuration"
cat >"$work/receiver.py" <<'PYTHON'
import gzip, http.server, sys
class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        with open(sys.argv[1], "ab") as file:
            file.write(body.rstrip(b"\n") + b"\n")
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8086), Receiver).serve_forever()
PYTHON
: >"$work/received"
within python3 "$work/receiver.py" "$work/received" &
configure after
service &
service=$!
wait_for "the newer version watches" monitored after
delivered() { [ "$(grep -c 'monitorStream="\?before' "$work/received")" -ge "$count" ]; }
wait_for "the newer version delivers the $count samples of the older one" delivered
status=0
end_service TERM
[ "$status" -eq 0 ] || fail "the service must end with 0 after SIGTERM (found $status)"
[ "$(grep -c 'monitorStream="\?after' "$work/received")" -gt 0 ] || fail "the newer version has delivered none of its samples"

step "remove and purge"
apt remove -y player-monitor test-origin || fail "apt cannot remove the package"
[ ! -e "$root/usr/bin/player-monitor" ] || fail "the removal has left the program"
[ -d "$root/var/lib/player-monitor/queue" ] || fail "the removal must keep the queue"
[ -s "$root/etc/player-monitor/monitor.yaml" ] || fail "the removal must keep the configuration"
apt purge -y player-monitor test-origin || fail "apt cannot purge the package"
for path in /var/lib/player-monitor /etc/player-monitor /usr/share/doc/player-monitor /usr/lib/systemd/system/player-monitor.service; do
    [ ! -e "$root$path" ] || fail "the purge has left $path"
done

step "the archive"
tar -C "$root/opt" -xf "$archive"
unpacked=$(cd "$root" && echo opt/player-monitor-*)
[ "$(inside "/$unpacked/bin/player-monitor" --version | head -1)" = "$expected" ] || fail "the program of the archive does not run"
inside "/$unpacked/bin/player-monitor" play --speed max --backend json /tmp/sample.ts >"$work/play.log" 2>&1 || fail "the program of the archive does not play"

if [ -n "${lintian:-}" ]; then
    wait "$lintian" || fail "lintian: $(grep '^E:' "$work/lintian.log")"
else
    echo "SKIPPED: lintian is missing"
fi
step "the installation works"
