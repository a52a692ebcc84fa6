#!/bin/sh
# Runs the commands of docs/monitor/README.md "From nothing to a watched stream in five minutes", and verifies what they promise: the stream
# plays, the pages show it, and the monitor reports that the stream is down once its server has ended; then those of docs/monitor/places.md with a
# NATS server, if one is installed. BIN is the folder of the built tools.
set -eu

cd "$(dirname "$0")/.."
bin=${BIN:-.build/programs}
work=$(mktemp -d)
origin= monitor= others=
finish() {
    for process in $monitor $others; do kill "$process" 2>/dev/null || true; done
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

nats=${SERVERS_DIRECTORY:-.build/servers}/debian/usr/sbin/nats-server
[ -x "$nats" ] || nats=$(command -v nats-server || true)
if [ -z "$nats" ]; then
    echo "SKIPPED: nats-server is not installed (scripts/install-servers.sh); docs/monitor/places.md was not tried."
    exit 0
fi
"$bin/test-origin" --port "$served" >"$work/origin.log" 2>&1 &
origin=$!
queue=$(port)
"$nats" -js -a 127.0.0.1 -p "$queue" -sd "$work/nats" >"$work/nats.log" 2>&1 &
others=$!
wait_for live "http://127.0.0.1:$served/"
# What `nats stream add SAMPLES --subjects samples` does.
python3 -B - "$queue" <<'PROGRAM'
import socket, sys, time
for _ in range(1200):
    try:
        connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        break
    except OSError:
        time.sleep(0.25)
body = '{"name":"SAMPLES","subjects":["samples"],"storage":"file"}'
connection.sendall(f'CONNECT {{"verbose":false}}\r\nSUB answer 1\r\nPUB $JS.API.STREAM.CREATE.SAMPLES answer {len(body)}\r\n{body}\r\n'.encode())
text = ""
while "stream_create_response" not in text:
    text += connection.recv(4096).decode()
PROGRAM
printf 'backends: { all: { nats: "127.0.0.1:%s/samples" } }\nstreams:\n  - { name: news, url: "http://127.0.0.1:%s/live/ts/master.m3u8", continuous: true }\n' "$queue" "$served" >"$work/streams.yaml"
printf 'notify: { ops: { webhook: "https://hooks.example.org/ops" } }\nalerts:\n  - { name: down, when: "up < 1", to: ops }\n' >"$work/alerts.yaml"
"$bin/player-monitor" watch --from "nats:127.0.0.1:$queue/samples" --state "$work/center" --dry-run --listen "127.0.0.1:$listen" \
    "$work/alerts.yaml" >"$work/monitor.log" 2>&1 &
monitor=$!
for place in oslo paris; do
    "$bin/player-monitor" watch --location $place --state "$work/$place" "$work/streams.yaml" >"$work/$place.log" 2>&1 &
    others="$others $!"
done
for place in oslo paris; do
    wait_for "instrument_stream_up{stream=\"news\",location=\"$place\"} 1" "http://127.0.0.1:$listen/metrics"
done
kill "$origin"
origin=
wait_for 'everywhere (2 of 2 places)' "http://127.0.0.1:$listen/api/incidents"
echo "The commands for several places work."
