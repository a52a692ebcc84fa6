#!/usr/bin/env python3
"""Measures what a full history costs the monitor: its file, the time until the pages answer, and the memory beside a monitor without a history.

Writes a history of a day in minutes, two weeks in quarters of an hour and 50 events for each stream, in the format of docs/monitor/state.md, starts
`player-monitor watch` over streams that do not play yet, with that history and without, and verifies that a stream has its whole history. Memory
is that of the process after two and a half minutes, and the highest of the process until then.

Usage: scripts/measure-history.py [--streams 1000] [--bin .build/programs]
"""
import argparse, json, os, random, re, signal, struct, subprocess, tempfile, time
from local_servers import free_port, page

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--streams", type=int, default=1000)
arguments.add_argument("--bin", default=".build/programs")
options = arguments.parse_args()
folder = tempfile.mkdtemp(prefix="history-measurement-")
MINUTES, QUARTERS, EVENTS = 1_440, 1_344, 50
random.seed(1)


def checksum(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def text(value):
    return struct.pack("<H", len(value.encode())) + value.encode()


def points(kind, count, unit, now):
    last = now - now % unit
    data = bytearray(struct.pack("<cI", kind, count))
    for index in range(count):
        playing = random.randrange(unit * 60_000)
        data += struct.pack("<i7IB", last - (count - index) * unit, playing, unit * 60_000 - playing, random.randrange(5_000), random.randrange(3_000), random.randrange(20_000),
                            random.randrange(30_000), random.randrange(9), random.randrange(4))
    return bytes(data)


def history(names):
    """A full history of each stream: the points differ, and are the same for every hundredth stream, so that this script is done sooner."""
    now = int(time.time()) // 60
    kinds = [points(b"m", MINUTES, 1, now) + points(b"q", QUARTERS, 15, now) for _ in range(4)]
    parts = [b"IMHIST2\n"]
    for index, name in enumerate(names):
        events = b"".join(struct.pack("<cQ", b"e", (now - 60 + number) * 60_000) + text("error") + text(f"503 Service Unavailable for segment {number} of {name}") for number in range(EVENTS))
        data = text(name) + kinds[index % len(kinds)] + events
        parts.append(b"IHB2" + struct.pack("<IQ", len(data), checksum(data)) + data)
    return b"".join(parts)


def memory(process, key):
    return int(re.search(key + r":\s+(\d+) kB", open(f"/proc/{process.pid}/status").read())[1]) * 1024 / 1e6


def processor_seconds(process):
    fields = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(state):
    port = free_port()
    begin = time.time()
    log = open(folder + "/monitor.log", "a")
    process = subprocess.Popen([options.bin + "/player-monitor", "watch", "--listen", f"127.0.0.1:{port}", "--state", state, configuration], stdout=log, stderr=log)
    try:
        while True:
            try:
                found = json.loads(page(port, f"/api/stream?name={names[-1]}&minutes={MINUTES}&quarters={QUARTERS}"))
                break
            except OSError:
                if process.poll() is not None:
                    raise SystemExit(f"the monitor ended: {folder}/monitor.log")
                time.sleep(0.01)
        start, spent = time.time() - begin, processor_seconds(process)
        # The monitor writes the whole history after a minute, and gives free memory back each minute.
        time.sleep(150)
        return start, spent, len(found["minutes"]), len(found["quarters"]), len(found["log"]), memory(process, "VmRSS"), memory(process, "VmHWM")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


names = [f"stream-{number:05}" for number in range(options.streams)]
configuration = folder + "/monitor.yaml"
with open(configuration, "w") as file:
    file.write("defaults: { every: 7d, for: 30s }\nstreams:\n" + "".join(f'  - {{ name: {name}, url: "http://127.0.0.1:9/live.m3u8" }}\n' for name in names))
os.makedirs(folder + "/full")
with open(folder + "/full/history.bin", "wb") as file:
    file.write(history(names))
size = os.path.getsize(folder + "/full/history.bin") / 1e6
without, with_history = run(folder + "/none"), run(folder + "/full")
written = os.path.getsize(folder + "/full/history.bin") / 1e6
(start, spent, minutes, quarters, events, memory_with, most_with), (start_without, spent_without, *_, memory_without, most_without) = with_history, without
print(f"{options.streams} streams: history of {size:.0f} MB, after the run {written:.0f} MB; start {start:.2f} s ({spent:.2f} s of a core), without a history {start_without:.2f} s"
      f" ({spent_without:.2f} s); {minutes} minutes, {quarters} quarters and {events} events of a stream are there")
print(f"memory: {memory_with:.0f} MB, without a history {memory_without:.0f} MB: {memory_with - memory_without:+.0f} MB; at most {most_with:.0f} MB, without {most_without:.0f} MB")
