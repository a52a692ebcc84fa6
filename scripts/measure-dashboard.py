#!/usr/bin/env python3
"""Measures how soon a person sees the dashboard: the first contentful paint in headless Chromium, for a fleet of continuous streams.

Starts a test origin, `player-monitor watch` over the streams, and Chromium, waits until the fleet plays, and opens the dashboard several
times, each time in a new tab. The first one also pays for the beginning of the browser. Prints the milliseconds from the beginning of the
navigation to the first paint, and to the first frame that has rows of the table.

Usage: scripts/measure-dashboard.py [--streams 1000] [--rounds 10] [--bin .build/release] [--picture FILE.png]
"""
import argparse, json, signal, statistics, subprocess, tempfile, time
from browser import Browser
from local_servers import free_port, wait_for

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--streams", type=int, default=1000)
arguments.add_argument("--rounds", type=int, default=10)
arguments.add_argument("--bin", default=".build/release")
arguments.add_argument("--chromium", default="chromium")
arguments.add_argument("--picture", help="where to keep a picture of the page")
options = arguments.parse_args()
folder = tempfile.mkdtemp(prefix="dashboard-measurement-")

FIRST_PAINT = """Promise.all([
  new Promise(resolve => new PerformanceObserver(list => {
    for (const entry of list.getEntriesByName('first-contentful-paint')) resolve(entry.startTime)
  }).observe({type: 'paint', buffered: true})),
  new Promise(resolve => {
    const look = time => document.querySelector('#rows .row .name') ? resolve(time) : requestAnimationFrame(look)
    requestAnimationFrame(look)
  }),
]).then(JSON.stringify)"""


def first_paint(browser, address, picture=None):
    tab, session = browser.open(address)
    times = json.loads(browser.value(session, FIRST_PAINT))
    if picture:
        browser.picture(session, picture)
    browser.close(tab)
    return times


origin, listen = free_port(), free_port()
server = subprocess.Popen([options.bin + "/test-origin", "--port", str(origin)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
monitor = browser = None
try:
    wait_for(origin, "/")
    with open(folder + "/monitor.yaml", "w") as file:
        file.write("defaults: { continuous: true }\nstreams:\n")
        for number in range(options.streams):
            file.write(f'  - {{ name: s{number:05}, url: "http://127.0.0.1:{origin}/s/s{number}/live/ts/v1.m3u8" }}\n')
    log = open(folder + "/monitor.log", "w")
    command = [options.bin + "/player-monitor", "watch", folder + "/monitor.yaml", "--listen", f"127.0.0.1:{listen}"]
    monitor = subprocess.Popen(command, stdout=log, stderr=log)
    wait_for(listen, "/healthz")
    # The starts of the fleet are spread over at most a minute.
    time.sleep(min(60, options.streams / 50) + 20)
    browser = Browser(folder + "/profile", options.chromium)
    address = f"http://127.0.0.1:{listen}/"
    paints = [first_paint(browser, address, options.picture if number == options.rounds - 1 else None) for number in range(options.rounds)]
finally:
    for process in (browser and browser.process, monitor, server):
        if process:
            process.send_signal(signal.SIGTERM)
            process.wait(120)
for name, times in zip(("first paint", "first frame with rows"), zip(*paints)):
    text = f"{name} after {times[0]:.0f} ms in a new browser"
    if times[1:]:
        text += f", then {statistics.median(times[1:]):.0f} ms (median of {len(times) - 1}; {min(times[1:]):.0f} to {max(times[1:]):.0f})"
    print(f"{options.streams} streams: {text}")
