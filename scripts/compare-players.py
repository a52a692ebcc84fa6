#!/usr/bin/env python3
"""Plays the same schedules with hls.js in a real Chromium and with the probe's profile of it, and prints one table.

Both play at the same time from one test origin, each over a separate link with the same schedule. The table has, for each stream and
schedule: the start time, the number and length of stalls, the rungs in the order of their segments, and the bytes. A trial in which the
page's timers were late by more than 100 ms says so: the machine was too busy to judge.

With --check, exits with 1 if a trial that can be judged differs: other rungs or another order, a run of segments that differs by more than
two, bytes by more than 5 %, the number of stalls, the start by more than 0.4 s (0.2 s for decoding, 0.2 s for the machine). A trial that
differs is repeated, because the machine may have been busy for less than the page notices: only one that differs three times counts.

Needs chromium, and hls.js from scripts/install-hls-js.sh (1.6; the profile stands for 1.7.1). Exits with 3 without them.

Usage: scripts/compare-players.py [--seconds 60] [--schedule 6000k]… [--stream vod/ts/master.m3u8]… [--check] [--bin .build/debug]
"""
import argparse, http.server, itertools, json, os, queue, shutil, socket, subprocess, sys, tempfile, threading, time
from local_servers import free_port

SCHEDULES = ["6000k", "900k", "2500k for 5s, 300k for 10s, 2500k", "500k"]
ATTEMPTS = 3
STREAMS = ["vod/ts/master.m3u8", "vod/fmp4/master.m3u8"]

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--seconds", type=int, default=60, help="seconds of media that are played (default: 60)")
arguments.add_argument("--schedule", action="append", help="a schedule of the test origin; may be repeated")
arguments.add_argument("--stream", action="append", help="a path of the test origin; may be repeated")
arguments.add_argument("--bin", default=".build/debug", help="the folder of the built programs (default: .build/debug)")
arguments.add_argument("--check", action="store_true", help="exit with 1 if the players differ")
arguments.add_argument("--json", metavar="FILE", help="write the results to FILE as JSON")
options = arguments.parse_args()

PAGE = """<!doctype html><meta charset="utf-8"><title>hls.js</title><video muted></video><script type="module">
import { t as load } from "/hls.js"
const [url, seconds] = [decodeURIComponent(location.hash.slice(1).split("|")[0]), +location.hash.split("|")[1]]
const video = document.querySelector("video")
// The module's own player has other settings: its class makes one with the defaults.
const Hls = load(document.createElement("video"), "data:,", () => {}).constructor
const result = { version: Hls.version, start: null, stalls: [], gap: 0, error: null }
let last = performance.now()
setInterval(() => { const now = performance.now(); result.gap = Math.max(result.gap, now - last - 20); last = now }, 20)
const hls = new Hls()
const begin = performance.now()
let stall = null, moved = begin, position = 0, isWaiting = false
video.addEventListener("waiting", () => { isWaiting = true })
video.addEventListener("playing", () => {
  isWaiting = false
  if (result.start === null) result.start = (performance.now() - begin) / 1000
})
setInterval(() => {
  const now = performance.now()
  if (video.currentTime !== position) {
    if (stall !== null) { result.stalls.push({ at: position, length: (now - stall) / 1000 }); stall = null }
    position = video.currentTime; moved = now
  } else if (isWaiting && result.start !== null && !video.ended && now - moved > 100 && stall === null) stall = moved
  if (video.ended || position >= seconds || now - begin > 4000 * seconds) end()
}, 10)
let isOver = false
async function end() {
  if (isOver) return
  isOver = true
  result.position = position
  hls.destroy()
  await fetch("/result", { method: "POST", body: JSON.stringify(result) })
}
hls.on("hlsError", (_, data) => { if (data.fatal) { result.error = String(data.details); end() } })
hls.loadSource(url)
hls.attachMedia(video)
video.play().catch(() => {})
video.addEventListener("canplay", () => video.play().catch(() => {}))
</script>"""


def skip(reason):
    print(f"SKIPPED: the comparison of players, because {reason}", file=sys.stderr)
    sys.exit(3)


class Pages(http.server.ThreadingHTTPServer):
    """Serves the page and hls.js, and takes the results."""

    def __init__(self, script):
        self.results, self.script = queue.Queue(), script
        super().__init__(("127.0.0.1", 0), PageHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class PageHandler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/hls.js":
            self.reply(self.server.script, "text/javascript")
        else:
            self.reply(PAGE.encode(), "text/html")

    def do_POST(self):
        self.server.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.reply(b"", "text/plain")


def start_origin(schedule, folder):
    port, log = free_port(), os.path.join(folder, "origin.ndjson")
    length = next((size for size in range(24, 481, 24) if size >= options.seconds + 24), 480)
    process = subprocess.Popen(
        [options.bin + "/test-origin", "--port", str(port), "--schedule", schedule, "--length", str(length), "--log", log],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process, port, log
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the test origin does not answer")


def play_in_browser(pages, url, folder):
    address = f"http://127.0.0.1:{pages.server_port}/#{url.replace('%', '%25')}|{options.seconds}"
    browser = subprocess.Popen(
        [shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
         "--no-first-run", "--disable-background-networking", "--disable-web-security", "--autoplay-policy=no-user-gesture-required",
         f"--user-data-dir={folder}/profile", address],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        return pages.results.get(timeout=5 * options.seconds + 120)
    except queue.Empty:
        return {"error": "the page did not report", "start": None, "stalls": [], "gap": 0}
    finally:
        browser.terminate()
        browser.wait()


def play_with_probe(url):
    run = subprocess.run(
        [options.bin + "/player-monitor", "play", "--profile", "hlsjs", "--duration", str(options.seconds), "--backend", "json", url],
        capture_output=True, text=True,
    )
    result = {"start": None, "stalls": [], "error": None if run.returncode == 0 else run.stderr.strip().split("\n")[-1]}
    for line in run.stdout.splitlines():
        sample = json.loads(line)
        action, name = sample.get("action"), sample.get("name")
        attributes = sample.get("attributes", sample)
        if name == "StartTime":
            result["start"] = sample["value"] / 1000
        elif action == "BufferFinish" and result["start"] is not None:
            result["stalls"].append({"length": attributes.get("timeSinceBufferBegin", 0) / 1000})
    return result


def segments(log, session):
    """The rungs in the order of requests, and the bytes, of a session."""
    rungs, size = [], 0
    for line in open(log):
        record = json.loads(line)
        if record.get("session") != session:
            continue
        path, sent = record["path"], record.get("bytes", record.get("sentBytes", 0))
        size += sent
        parts = path.strip("/").split("/")
        name = next((part for part in parts if len(part) > 1 and part[0] == "v" and part[1:].isdigit()), None)
        if name and (path.endswith(".ts") or path.endswith(".m4s")):
            rungs.append(name[1:] + ("" if record.get("isComplete", True) else "!"))
    return " ".join(f"{rung}×{len(list(group))}" for rung, group in itertools.groupby(rungs)), size


def row(name, result, rungs, size):
    start = "–" if result["start"] is None else f"{result['start']:.2f}"
    stalled = sum(stall["length"] for stall in result["stalls"])
    note = result.get("error") or (f"timers late by {result['gap']:.0f} ms" if result.get("gap", 0) > 100 else "")
    return f"  {name:<8} {start:>7} {len(result['stalls']):>6} {stalled:>9.2f} {size / 1e6:>8.2f}  {rungs}  {note}"


def runs(rungs):
    """The rungs and lengths of a text like `0×1 2×23`."""
    return [(part.split("×")[0], int(part.split("×")[1])) for part in rungs.split()]


def differences(shown, probed, real, ours):
    """What differs beyond the tolerances."""
    found = []
    (seen, played) = (runs(real[0]), runs(ours[0]))
    # The last run is cut where the player was stopped.
    if [rung for rung, _ in seen] != [rung for rung, _ in played]:
        found.append("rungs")
    elif any(abs(left - right) > 2 for (_, left), (_, right) in zip(seen, played)):
        found.append("length of a run")
    if abs(real[1] - ours[1]) > 0.05 * max(real[1], ours[1]):
        found.append("bytes")
    if len(shown["stalls"]) != len(probed["stalls"]):
        found.append("stalls")
    if shown["start"] is None or probed["start"] is None or abs(shown["start"] - probed["start"]) > 0.4:
        found.append("start")
    return found


def play(pages, stream, schedule):
    """One trial: what the page and the probe report, and the rungs and bytes that each requested."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        origin, port, log = start_origin(schedule, folder)
        try:
            probed = {}
            worker = threading.Thread(
                target=lambda: probed.update(play_with_probe(f"http://127.0.0.1:{port}/s/probe/{stream}"))
            )
            worker.start()
            shown = play_in_browser(pages, f"http://127.0.0.1:{port}/s/real/{stream}", folder)
            worker.join()
        finally:
            origin.terminate()
            origin.wait()
        return shown, probed, segments(log, "real"), segments(log, "probe")


def main():
    if not shutil.which("chromium"):
        skip("there is no chromium")
    script = os.path.join(os.environ.get("HLS_JS_DIRECTORY", ".build/hls-js"), "hls.js")
    if not os.path.exists(script):
        skip("there is no hls.js (scripts/install-hls-js.sh)")
    pages, results, has_failed = Pages(open(script, "rb").read()), [], False
    for stream, schedule in itertools.product(options.stream or STREAMS, options.schedule or SCHEDULES):
        for attempt in range(ATTEMPTS if options.check else 1):
            shown, probed, real, ours = play(pages, stream, schedule)
            print(f"{stream}, {schedule}\n  player   start s stalls stalled s       MB  rung × segments", flush=True)
            print(row("hls.js", shown, *real) + "\n" + row("probe", probed, *ours), flush=True)
            results.append({"stream": stream, "schedule": schedule, "real": shown, "probe": probed, "rungs": [real, ours]})
            found = differences(shown, probed, real, ours)
            if not found or shown["gap"] > 100:
                break
            print("  differ: " + ", ".join(found), flush=True)
        else:
            has_failed = True
    if options.json:
        json.dump(results, open(options.json, "w"), indent=1)
    if options.check and has_failed:
        sys.exit(1)


main()
