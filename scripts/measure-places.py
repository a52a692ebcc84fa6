#!/usr/bin/env python3
"""Measures `player-monitor watch --from` over a NATS server: processor time for each sample, and memory.

  scripts/measure-places.py --bin .build/release [--places 5] [--streams 200] [--seconds 30] [--rate 5000]

Publishes, in JetStream, the events of sessions that play, and a ping of a session in the order of all sessions at RATE samples a second. Prints
one line. Needs nats-server (scripts/install-servers.sh).
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
import uuid

import local_servers

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--bin", default=".build/release")
options.add_argument("--places", type=int, default=5)
options.add_argument("--streams", type=int, default=200)
options.add_argument("--seconds", type=int, default=30)
options.add_argument("--rate", type=int, default=5000)
options = options.parse_args()

root = pathlib.Path(__file__).resolve().parent.parent
installed = pathlib.Path(os.environ.get("SERVERS_DIRECTORY", root / ".build/servers")) / "debian/usr/sbin/nats-server"
nats = str(installed) if installed.exists() else shutil.which("nats-server")
if not nats:
    raise SystemExit("nats-server is not installed: scripts/install-servers.sh")


def line(number, action, place, stream, extra):
    """An event as a monitor writes it, with the attributes of a ping."""
    now = time.time_ns()
    session = f"{place}-{stream}"
    attributes = {
        "accumBufferTime": 2, "accumPauseTime": 0, "accumPlayTime": 30156, "accumSeekTime": 0, "bitrate": 2500400, "bufferLevel": 4000,
        "countErrors": 0, "countStarts": 1, "fps": 25.0, "inBufferBlock": False, "inPauseBlock": False, "inPlaybackBlock": True,
        "inSeekBlock": False, "monitorLabels": {"cdn": "alpha", "channel": stream}, "monitorLocation": place, "monitorStream": stream,
        "playbackId": session, "position": 33948, "resolutionHeight": 480, "resolutionWidth": 854, "senderId": f"sender-{session}",
        "source": f"http://cdn.example.org/{stream}/master.m3u8", "title": "master.m3u8", "trackerTarget": "probe",
    } | extra
    sample = {
        "id": str(uuid.uuid4()).upper(), "sequence": number, "type": "event", "action": action, "tracker": 0, "time": now // 1_000_000,
        "instant": now, "attributes": attributes,
    }
    return json.dumps(sample, separators=(",", ":")).encode()


def publish(payloads):
    connection.sendall(b"".join(b"PUB samples %d\r\n%s\r\n" % (len(payload), payload) for payload in payloads))


def processor(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def taken():
    with urllib.request.urlopen(f"http://127.0.0.1:{listen}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(text.rsplit(" ", 1)[1]) for text in lines if text.startswith("instrument_place_samples_total"))


with tempfile.TemporaryDirectory() as folder:
    port, listen = local_servers.free_port(), local_servers.free_port()
    server = subprocess.Popen([nats, "-js", "-a", "127.0.0.1", "-p", str(port), "-sd", folder + "/js"], stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            connection = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            time.sleep(0.1)
    body = b'{"name":"SAMPLES","subjects":["samples"],"storage":"file"}'
    connection.sendall(b'CONNECT {"verbose":false}\r\nPUB $JS.API.STREAM.CREATE.SAMPLES %d\r\n%s\r\n' % (len(body), body))
    time.sleep(1)
    source = f"nats:127.0.0.1:{port}/samples"
    command = [options.bin + "/player-monitor", "watch", "--plain", "--from", source, "--listen", f"127.0.0.1:{listen}"]
    monitor = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        # Samples that are published before the monitor reads would be older than what it reads.
        local_servers.wait_for(listen, "/metrics")
        time.sleep(1)
        sessions = [(f"place-{place}", f"stream-{stream}") for place in range(options.places) for stream in range(options.streams)]
        number = 0
        for place, stream in sessions:
            number += 2
            start = {"inPlaybackBlock": False, "countStarts": 0, "accumPlayTime": 0}
            publish([line(number, "MediaRequest", place, stream, start), line(number + 1, "Start", place, stream, {})])
        while taken() < 2 * len(sessions):
            time.sleep(0.5)
        before, begin, sent = processor(monitor), time.monotonic(), 0
        while time.monotonic() - begin < options.seconds:
            part = options.rate // 20
            chosen = [sessions[(sent + index) % len(sessions)] for index in range(part)]
            publish([line(number + 2 + sent + index, "Ping", place, stream, {}) for index, (place, stream) in enumerate(chosen)])
            sent += part
            time.sleep(max(0, begin + sent / options.rate - time.monotonic()))
        while taken() < 2 * len(sessions) + sent:
            time.sleep(0.2)
        used = processor(monitor) - before
        memory = int(pathlib.Path(f"/proc/{monitor.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
        print(
            f"{len(sessions)} streams in {options.places} places, {sent} samples in {time.monotonic() - begin:.0f} s: "
            f"{used / sent * 1e6:.1f} µs of a core for each sample, {memory:.0f} MiB"
        )
    finally:
        for process in (monitor, server):
            process.send_signal(signal.SIGTERM)
        for process in (monitor, server):
            process.wait(timeout=60)
