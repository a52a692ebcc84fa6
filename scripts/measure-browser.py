#!/usr/bin/env python3
"""Measures what streams in a browser cost `player-monitor watch`: processor time and memory of the monitor and of Chromium, by number of tabs.

  scripts/measure-browser.py --bin .build/release [--tabs 0,1,2,4,8] [--seconds 30]

Each stream is a live playlist, played with Video.js (scripts/install-video-js.sh) in a tab; 0 tabs is one probe. Processor time is that of all processes of the
browser from 20 s after the last tab plays; memory is the proportional set size (PSS), which counts shared pages once. Prints one line for each number.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import local_servers

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--bin", default=".build/release")
options.add_argument("--tabs", default="0,1,2,4,8")
options.add_argument("--seconds", type=int, default=30)
options = options.parse_args()
library = pathlib.Path(os.environ.get("VIDEO_JS_DIRECTORY", ".build/video-js")) / "video.js"
if not library.exists():
    raise SystemExit(f"there is no {library}: scripts/install-video-js.sh")
tick = os.sysconf("SC_CLK_TCK")


def family(process):
    """A process with those below it."""
    found = [process]
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                found += family(int(child))
        except OSError:
            pass
    return found


def figures(processes):
    """Seconds of processor time, and megabytes of proportional memory."""
    seconds, kilobytes = 0.0, 0
    for process in processes:
        try:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
            # Its own time, and that of its children that have ended.
            seconds += sum(int(field) for field in fields[11:15]) / tick
            rollup = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
            kilobytes += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        except OSError:
            pass
    return seconds, kilobytes / 1000


def measure(folder, origin, tabs):
    streams = "".join(
        f'  - {{ name: s{number}, url: "http://127.0.0.1:{origin}/live/ts/master.m3u8?session={number}", player: chrome }}\n' for number in range(tabs)
    ) or f'  - {{ name: probe, url: "http://127.0.0.1:{origin}/live/ts/master.m3u8" }}\n'
    file = folder / "m.yaml"
    file.write_text("defaults: { continuous: true }\nstreams:\n" + streams)
    port = local_servers.free_port()
    command = [f"{options.bin}/player-monitor", "watch", "--plain", "--listen", f"127.0.0.1:{port}", "--player-library", str(library)]
    watch = subprocess.Popen(command + ["--max-tabs", str(max(1, tabs)), str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        local_servers.wait_for(port, "/healthz")
        wanted = max(1, tabs)
        for _ in range(600):
            page = local_servers.page(port, "/metrics").decode()
            if sum(line.startswith("instrument_stream_up{") and line.endswith(" 1") for line in page.splitlines()) >= wanted:
                break
            time.sleep(0.2)
        else:
            raise SystemExit(f"{wanted} streams do not all play")
        time.sleep(20)
        rows = []
        begin = time.monotonic()
        for _ in range(2):
            browser = [process for process in family(watch.pid) if process != watch.pid]
            rows.append((figures([watch.pid]), figures(browser)))
            if len(rows) == 1:
                time.sleep(options.seconds)
        elapsed = time.monotonic() - begin
        cpu = lambda index: (rows[1][index][0] - rows[0][index][0]) / elapsed * 100
        print(
            f"{tabs} tabs: browser {cpu(1):.1f} % of a core, {rows[1][1][1]:.0f} MB; monitor {cpu(0):.1f} %, {rows[1][0][1]:.0f} MB; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    finally:
        watch.send_signal(signal.SIGTERM)
        watch.wait(timeout=60)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    port = local_servers.free_port()
    server = subprocess.Popen([f"{options.bin}/test-origin", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        local_servers.wait_for(port, "/live/ts/master.m3u8")
        for count in options.tabs.split(","):
            measure(folder, port, int(count))
    finally:
        server.terminate()
        server.wait(timeout=30)
