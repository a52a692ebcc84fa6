#!/usr/bin/env python3
"""Measures what watching a watched fleet costs: the processor time of `player-monitor watch` over continuous streams of 1 Mbit/s, with its
pages and without.

Runs the same fleet several times in turn: alone, and with `/metrics` scraped every five seconds and an open dashboard (its stream of events,
and one stream in detail each second). Prints the processor time of the monitor's process in the measured seconds, its memory, and the time
and size of a scrape. The streams come from one test origin, whose time does not count.

With `--checks`, it compares the fleet without checks and with these, both without pages: what a check of pictures and sound costs for a stream.

Usage: scripts/measure-monitor.py [--streams 1000] [--seconds 120] [--rounds 2] [--checks 'black: 5s, silence: 10s'] [--bin .build/release]
"""
import argparse, http.client, os, signal, statistics, subprocess, tempfile, threading, time, urllib.request
from local_servers import free_port, page, wait_for

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--streams", type=int, default=1000)
arguments.add_argument("--seconds", type=int, default=120)
arguments.add_argument("--rounds", type=int, default=2)
arguments.add_argument("--checks", help="checks of a stream, as in its configuration")
arguments.add_argument("--bin", default=".build/release")
arguments.add_argument("--origin", help="folder of test-origin, if it differs from --bin")
options = arguments.parse_args()
folder = tempfile.mkdtemp(prefix="monitor-measurement-")
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(process):
    fields = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(process):
    fields = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()
    return int(fields[21]) * os.sysconf("SC_PAGESIZE") / 2**20


def watch_pages(port, ended, scrapes):
    """Scrapes each five seconds, reads the dashboard's events, and reads one stream each second."""

    def read_events():
        events = urllib.request.urlopen(f"http://127.0.0.1:{port}/events", timeout=60)
        try:
            while not ended.is_set() and events.read1(65536):
                pass
        except (OSError, http.client.HTTPException):
            # The monitor ends the stream when it stops.
            if not ended.is_set():
                raise

    def repeat(seconds, path, times):
        while not ended.wait(seconds):
            begin = time.time()
            size = len(page(port, path))
            times.append((time.time() - begin, size))

    for work in [(read_events,), (repeat, 5, "/metrics", scrapes), (repeat, 1, "/api/stream?name=s00000", [])]:
        threading.Thread(target=work[0], args=work[1:], daemon=True).start()


def configuration(checks):
    name = folder + ("/checked.yaml" if checks else "/monitor.yaml")
    with open(name, "w") as file:
        file.write("defaults: { continuous: true }\nstreams:\n")
        for number in range(options.streams):
            # The variant of 1,050 kbit/s.
            url = f"http://127.0.0.1:{origin}/s/s{number}/live/ts/v1.m3u8"
            file.write(f'  - {{ name: s{number:05}, url: "{url}"{f", checks: {{ {checks} }}" if checks else ""} }}\n')
    return name


def measure(has_more):
    """The share of a core that the fleet takes; with more, its pages are read, or its checks are made."""
    is_watched = has_more and not options.checks
    listen, ended, scrapes = free_port(), threading.Event(), []
    command = [options.bin + "/player-monitor", "watch", configuration(options.checks if has_more else None)]
    command += ["--listen", f"127.0.0.1:{listen}"] if is_watched else []
    log = open(folder + "/monitor.log", "a")
    monitor = subprocess.Popen(command, stdout=log, stderr=log)
    # The starts of the fleet are spread over at most a minute.
    time.sleep(min(60, options.streams / 50) + 20)
    if is_watched:
        watch_pages(listen, ended, scrapes)
    begin, memory, start = processor_seconds(monitor), resident(monitor), time.time()
    time.sleep(options.seconds)
    spent, elapsed = processor_seconds(monitor) - begin, time.time() - start
    later = resident(monitor)
    state = page(listen, "/api/state").decode() if is_watched else ""
    ended.set()
    monitor.send_signal(signal.SIGTERM)
    monitor.wait(120)
    times = sorted(duration for duration, _ in scrapes)
    text = f"{spent / elapsed * 100:.1f} % of a core, memory {memory:.0f} to {later:.0f} MiB"
    if is_watched:
        text += f", {state.count(chr(34) + 'state' + chr(34) + ':' + chr(34) + 'playing')} of {options.streams} play"
        text += f", scrape {statistics.median(times) * 1000:.0f} ms (median; at most {times[-1] * 1000:.0f} ms), {scrapes[-1][1] / 1024:.0f} KiB"
    print(f"{more if has_more else 'alone'}: {text}", flush=True)
    return spent / elapsed


origin = free_port()
server = subprocess.Popen([(options.origin or options.bin) + "/test-origin", "--port", str(origin)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wait_for(origin, "/")
more = "with checks" if options.checks else "with pages"
results = {False: [], True: []}
try:
    for _ in range(options.rounds):
        for has_more in (False, True):
            results[has_more].append(measure(has_more))
finally:
    server.terminate()
    server.wait()
alone, watched = (statistics.mean(results[key]) for key in (False, True))
print(
    f"{options.streams} streams: {alone * 100:.1f} % of a core alone, {watched * 100:.1f} % {more}: {(watched / alone - 1) * 100:+.1f} %,"
    f" {(watched - alone) / options.streams * 100:+.3f} % of a core for each stream"
)
