#!/bin/sh
# Installs the real servers and decoders that the tests of the open backends and of messages use, in a directory beside the build:
# InfluxDB, VictoriaMetrics, nats-server and Alertmanager (Debian packages, unpacked and not installed, so that no service starts), carbon
# with whisper, the OTLP messages and the SMTP server aiosmtpd (PyPI, in virtual environments). Can be run again. Exits with 3 if a part is
# not available: the tests of that part are then skipped.
set -u

cd "$(dirname "$0")/.." || exit 1
directory=${SERVERS_DIRECTORY:-.build/servers}
carbon_packages="carbon==1.1.10 whisper==1.1.10"
otlp_packages="opentelemetry-proto==1.45.2"
mail_packages="aiosmtpd==1.4.6"
debian_packages="influxdb victoria-metrics nats-server prometheus-alertmanager"
status=0
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

skip() { # PART REASON
    echo "SKIPPED: the tests against $1, because $2" >&2
    status=3
}

unpack() { # PACKAGE
    [ -f "$directory/unpacked-$1" ] && return 0
    command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 1
    downloads=$(mktemp -d)
    (cd "$downloads" && apt-get -qq download "$1" >/dev/null 2>&1) \
        && dpkg-deb -x "$downloads"/"$1"_*.deb "$directory/debian" && touch "$directory/unpacked-$1"
    found=$?
    rm -rf "$downloads"
    return $found
}

for package in $debian_packages; do
    unpack "$package" || skip "$package" "its Debian package cannot be downloaded"
done

# NAME PACKAGES: a virtual environment for each, because carbon's messages need an old protobuf.
environment() {
    mark="$directory/$1-$(printf '%s' "$2" | tr -c 'a-z0-9.\n' '-')"
    [ -f "$mark" ] && return 0
    rm -rf "${directory:?}/$1"
    if ! command -v python3 >/dev/null 2>&1 || ! python3 -m venv "$directory/$1" >/dev/null 2>&1; then
        skip "$1" "python3 with venv is missing (Debian: python3-venv)"
    # Without its own prefix, carbon installs itself outside of the environment.
    elif ! GRAPHITE_NO_PREFIX=True "$directory/$1/bin/pip" install --quiet --disable-pip-version-check --retries 2 \
        --timeout 30 $2 >&2; then
        rm -rf "${directory:?}/$1"
        skip "$1" "its packages cannot be installed"
    else
        touch "$mark"
    fi
}
environment carbon "$carbon_packages"
environment otlp "$otlp_packages"
environment mail "$mail_packages"
exit $status
