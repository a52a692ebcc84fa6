#!/bin/sh
# Installs what building and testing need from the distribution (Debian, Ubuntu), if it is missing. Can be run again. With
# 'tests', what only tests need, too; with 'packages', what making packages needs; with 'installation', what their test needs, too.
# Elsewhere it says what is missing. A Swift toolchain (6.1 or later) has to be there already: https://swift.org/install
set -eu

missing=""
need() { # PACKAGE COMMAND...: the package is needed unless the command succeeds
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

if ! command -v "${SWIFT:-swift}" >/dev/null 2>&1; then
    echo "There is no Swift toolchain. Install Swift 6.1 or later: https://swift.org/install" >&2
    exit 1
fi

need pkg-config command -v pkg-config
need libavformat-dev pkg-config --exists libavformat libavcodec libavutil
need libcurl4-openssl-dev pkg-config --exists 'libcurl >= 7.68'
need zlib1g-dev pkg-config --exists zlib
need librdkafka-dev pkg-config --exists 'rdkafka >= 1.9'
need libssl-dev pkg-config --exists 'openssl >= 1.1.1'
need libvlc-dev pkg-config --exists 'libvlc >= 3.0'
need libgstreamer1.0-dev pkg-config --exists 'gstreamer-1.0 >= 1.18' gstreamer-base-1.0
need libmpv-dev pkg-config --exists 'mpv >= 2.0'
need libsqlite3-dev pkg-config --exists sqlite3
need ffmpeg command -v ffmpeg
# What only tests need: servers from PyPI, servers, a client, players and a browser that are not ours, a real gpsd, a mocked /sys and network
# namespaces.
if [ "${1:-}" = tests ]; then
    need python3-venv python3 -c 'import ensurepip, venv'
    need curl command -v curl
    need e2fsprogs test -x /usr/sbin/mkfs.ext4 -o -x /sbin/mkfs.ext4
    need nghttp2-server test -x /usr/sbin/nghttpd -o -x /usr/bin/nghttpd
    need chromium command -v chromium
    need mpv command -v mpv
    need vlc-plugin-base sh -c 'test -f /usr/lib/*/vlc/plugins/demux/libadaptive_plugin.so'
    need vlc-bin command -v vlc
    for plugin in plugins-base:playback plugins-good:isomp4 plugins-bad:hls plugins-ugly:asf libav:libav; do
        need "gstreamer1.0-${plugin%:*}" sh -c "test -f /usr/lib/*/gstreamer-1.0/libgst${plugin#*:}.so"
    done
    # The window of Examples/EmbeddedPlayer, and what drives it.
    need libgtk-4-dev pkg-config --exists gtk4
    need xvfb command -v Xvfb
    need xdotool command -v xdotool
    need tmux command -v tmux
    need gpsd test -x /usr/sbin/gpsd
    need umockdev command -v umockdev-run
    need iproute2 test -x /usr/sbin/ip -o -x /sbin/ip -o -x /usr/bin/ip
fi

if [ "${1:-}" = packages ] || [ "${1:-}" = installation ]; then
    need python3 command -v python3
    need dpkg-dev command -v dpkg-shlibdeps
    need xz-utils command -v xz
fi
if [ "${1:-}" = installation ]; then
    need debootstrap test -x /usr/sbin/debootstrap
    need lintian command -v lintian
    need iproute2 test -x /usr/sbin/ip -o -x /sbin/ip -o -x /usr/bin/ip
    need curl command -v curl
    need man-db command -v man
    need zsh command -v zsh
    need fish command -v fish
fi

[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing, and this is no Debian to install them on:$missing (or what your system calls them)" >&2
    exit 1
fi
root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "Missing:$missing. Run as root, or install sudo." >&2
        exit 1
    fi
    root="sudo"
fi

echo "Installing what is missing:$missing"
install() {
    $root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq install -y --no-install-recommends $missing
}
# The package lists of a fresh machine are empty or old.
$root apt-get -o DPkg::Lock::Timeout=300 -qq update && install
