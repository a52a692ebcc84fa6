#!/usr/bin/env python3
"""Measures how soon a person sees the dashboard: the first contentful paint in headless Chromium, for a fleet of continuous streams.

Starts a test origin, `player-monitor watch` over the streams, and Chromium, waits until the fleet plays, and opens the dashboard several
times, each time in a new tab. The first one also pays for the beginning of the browser. Prints the milliseconds from the beginning of the
navigation to the first paint, and to the first frame that has rows of the table.

Usage: scripts/measure-dashboard.py [--streams 1000] [--rounds 10] [--bin .build/release] [--picture FILE.png]
"""
import argparse, base64, json, os, signal, statistics, subprocess, tempfile, time
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
    const look = time => document.querySelector('tbody tr') ? resolve(time) : requestAnimationFrame(look)
    requestAnimationFrame(look)
  }),
]).then(JSON.stringify)"""


class Browser:
    """Speaks the DevTools protocol over two pipes: each message is JSON, and a zero byte ends it."""

    def __init__(self):
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "sh", options.chromium, *flags, "--window-size=1440,900",
             "--remote-debugging-pipe", f"--user-data-dir={folder}/profile"],
            pass_fds=(read_commands, write_answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self.received, self.number = b"", 0

    def ask(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            line, separator, rest = self.received.partition(b"\0")
            if not separator:
                piece = os.read(self.answers, 1 << 16)
                if not piece:
                    raise SystemExit("Chromium ended")
                self.received += piece
                continue
            self.received = rest
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]

    def first_paint(self, address, picture=None):
        tab = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        self.ask("Page.navigate", session, url=address)
        result = self.ask("Runtime.evaluate", session, expression=FIRST_PAINT, awaitPromise=True)
        if picture:
            open(picture, "wb").write(base64.b64decode(self.ask("Page.captureScreenshot", session)["data"]))
        self.ask("Target.closeTarget", targetId=tab)
        return json.loads(result["result"]["value"])


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
    browser = Browser()
    address = f"http://127.0.0.1:{listen}/"
    paints = [browser.first_paint(address, options.picture if number == options.rounds - 1 else None) for number in range(options.rounds)]
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
