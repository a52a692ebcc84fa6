#!/bin/sh
# Runs the commands of docs/monitor/README.md "From nothing to a watched stream in five minutes", and verifies what they promise: the stream
# plays, the pages show it, and the monitor reports that the stream is down once its server has ended. BIN is the folder of the built tools.
set -eu

cd "$(dirname "$0")/.."
bin=${BIN:-.build/programs}
work=$(mktemp -d)
origin= monitor=
finish() {
    [ -z "$monitor" ] || kill "$monitor" 2>/dev/null || true
    [ -z "$origin" ] || kill "$origin" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT

port() { PYTHONPATH=scripts python3 -B -c 'import local_servers; print(local_servers.free_port())'; }
wait_for() { # TEXT URL
    for _ in $(seq 1200); do
        if curl -s "$2" | grep -q "$1"; then return 0; fi
        sleep 0.25
    done
    echo "not found at $2: $1" >&2
    cat "$work/monitor.log" >&2
    exit 1
}

served=$(port) listen=$(port)
"$bin/test-origin" --port "$served" >"$work/origin.log" 2>&1 &
origin=$!
wait_for live "http://127.0.0.1:$served/"
printf 'streams:\n  - { name: first, url: "http://127.0.0.1:%s/live/ts/master.m3u8", continuous: true, checks: { stale: 1.5x } }\n' "$served" >"$work/first.yaml"
"$bin/player-monitor" watch --check "$work/first.yaml"
"$bin/player-monitor" watch --listen "127.0.0.1:$listen" "$work/first.yaml" >"$work/monitor.log" 2>&1 &
monitor=$!
wait_for 'instrument_stream_up{stream="first"} 1' "http://127.0.0.1:$listen/metrics"
wait_for 'Instrument monitor' "http://127.0.0.1:$listen/"
wait_for '^ok' "http://127.0.0.1:$listen/healthz"
"$bin/player-monitor" top "http://127.0.0.1:$listen" | grep -q first
kill "$origin"
origin=
wait_for 'instrument_stream_up{stream="first"} 0' "http://127.0.0.1:$listen/metrics"
kill "$monitor"
wait "$monitor"
monitor=
echo "The guide's commands work."
