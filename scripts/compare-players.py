#!/usr/bin/env python3
"""Plays the same schedules with hls.js, dash.js or Shaka in a real Chromium and with the probe's profile of it, and prints one table.

Both play at the same time from one test origin, each over a separate link with the same schedule, and begin when the browsers are there. The table has, for each stream and
schedule: the start time, the stalls, the bytes, and the rungs in the order of their segments; an aborted request has an exclamation mark.

With --check, a trial passes if both players agree within the tolerances (TOLERANCES below): the same rungs in the same order, runs of
segments, bytes, the number and the length of stalls of at least 0.1 s, which the page sees, and the start, to which the profile's decode delay belongs. A trial that differs is
played again, because the machine may have been busy for less than the page notices: the majority of three decides. A trial in which the
page's timers were late by more than 100 ms is not judged, and is played again; if the attempts that can be judged are too few to decide,
the comparison says SKIPPED.

With --random N, N schedules are made from --seed S, and the real player plays each twice at the same time, so that its own spread is known: the
probe agrees if it agrees with one of both. Where the real player differs from itself, and the probe from both, the trial decides nothing.

Exits with 0 if every trial passed, with 1 if one differs, and with 3 if something could not be compared and nothing differs.

Needs chromium, and hls.js from scripts/install-hls-js.sh: 1.6.15 as a module, which cannot start a web worker. Therefore, the profile
is hlsjs-no-worker; it stands for 1.7.1. No package registry has hls.js with its worker, dash.js and Shaka: give the file of a release, hls.js or
dash.all.min.js (UMD) or shaka-player.compiled.js. The profiles stand for hls.js 1.7.1, dash.js 5.1.1 and Shaka 5.2.0.

Usage: scripts/compare-players.py [--seconds 60] [--schedule 6000k]… [--random 12 --seed 1] [--stream vod/ts/master.m3u8]… [--check] [--jobs 1]
                                  [--player hls.js] [--player hls.js=FILE] [--player dash.js=FILE] [--player shaka=FILE] [--seek 6=60]…
                                  [--pause 6=5]… [--rate 6=1.5]… [--hidden 6=10]… [--fault '404 on *v*/3.ts']… [--bin .build/programs]
"""
import argparse, collections, http.server, itertools, json, os, queue, random, shutil, statistics, socket, subprocess, sys, tempfile, threading, time
from concurrent.futures import ThreadPoolExecutor
from local_servers import free_port

HLS_JS_VERSION = "1.6.15"
BUNDLED_HLS_JS = os.path.join(os.environ.get("HLS_JS_DIRECTORY", ".build/hls-js"), "hls.js")
SCHEDULES = ["6000k", "900k", "2500k for 5s, 300k for 10s, 2500k", "500k", "2500k for 3.2s, 0k for 9s, 2500k"]
ATTEMPTS = 3
# The specification's: segments of a run, share of the bytes, seconds of the start, and of a stall or a seek, of the latency; ms that the page's timers may be late.
# `seen`: the page asks for 0.1 s without movement, so that it sees no shorter stall.
TOLERANCES = argparse.Namespace(run=2, bytes=0.05, start=0.2, stall=0.2, latency=0.3, gap=100, seen=0.1)

# A player's profile and streams, and what loads its file and plays `url` in `video`: it sets `version` and `stop`.
Player = collections.namedtuple("Player", "profile streams tag code")
PLAYERS = {
    "hls.js": Player("hlsjs-no-worker", ["vod/ts/master.m3u8", "vod/fmp4/master.m3u8"], "", """
      const module = await import("/player.js")
      // The player of the registry's module has other settings: its class makes one with the defaults.
      const Hls = window.Hls ?? module.t(document.createElement("video"), "data:,", () => {}).constructor
      const hls = new Hls()
      result.version = Hls.version
      stop = () => hls.destroy()
      latency = () => 1000 * hls.latency
      hls.on("hlsError", (_, data) => { if (data.fatal) fail(data.details) })
      begin()
      hls.loadSource(url)
      hls.attachMedia(video)
      video.play().catch(() => {})
    """),
    "dash.js": Player("dashjs", ["vod/dash/number.mpd"], '<script src="/player.js"></script>', """
      const player = dashjs.MediaPlayer().create()
      result.version = player.getVersion()
      stop = () => player.destroy()
      latency = () => 1000 * player.getCurrentLiveLatency()
      player.on("error", event => fail(event.error.message ?? event.error))
      begin()
      // It plays by itself, and has to see the event of the element that begins the reloads of a live MPD.
      player.initialize(video, url, true)
    """),
    "shaka": Player("shaka", ["vod/dash/number.mpd", "vod/fmp4/master.m3u8", "vod/ts/master.m3u8"], '<script src="/player.js"></script>', """
      shaka.polyfill.installAll()
      const player = new shaka.Player()
      await player.attach(video)
      result.version = shaka.Player.version
      stop = () => player.destroy()
      latency = () => Date.now() - player.getPlayheadTimeAsDate()
      player.addEventListener("error", event => { if (event.detail.severity === 2) fail(event.detail) })
      begin()
      player.load(url).catch(fail)
      video.play().catch(() => {})
    """),
}

PAGE = """<!doctype html><meta charset="utf-8"><title>player</title><video muted></video>TAG<script type="module">
const [url, length, ...viewer] = location.hash.slice(1).split("|").map(decodeURIComponent), seconds = +length
const video = document.querySelector("video"), isLive = url.includes("/live/")
const result = { version: null, start: null, stalls: [], seeks: [], latencies: [], gap: 0, hidden: 0, error: null }
let last = performance.now(), wasHidden = document.hidden
setInterval(() => {
  const now = performance.now()
  if (!document.hidden && !wasHidden) result.gap = Math.max(result.gap, now - last - 20)
  last = now; wasHidden = document.hidden
}, 20)
let began = null, stop = () => {}, latency = null
let stall = null, moved = 0, first = null, position = 0, isWaiting = false
// Only what happens from here on counts: a player takes some time to be ready.
function begin() {
  began = moved = last = performance.now(); result.gap = 0
  for (const text of viewer) {
    const [name, at, value] = text.split("=")
    setTimeout(() => actions[name](+value), 1000 * at)
  }
}
// What the viewer does.
let isPaused = false
const actions = {
  seek,
  pause(length) {
    isPaused = true; stall = null; video.pause()
    setTimeout(() => { isPaused = false; moved = performance.now(); video.play().catch(() => {}) }, 1000 * length)
  },
  rate(value) { video.playbackRate = value },
  // Another tab in front, as a viewer opens one: the browser then throttles this one's timers.
  hidden(length) {
    const other = open("about:blank")
    setTimeout(() => document.hidden ? other.close() : fail("no other tab came in front"), 1000 * length)
  },
}
document.addEventListener("visibilitychange", () => { if (document.hidden) result.hidden += 1 })
// The running seek: its target, and the instant at which it began.
let target = null, sought = null
function seek(to) {
  if (first !== null) first += to - video.currentTime
  target = to; sought = performance.now(); stall = null
  video.currentTime = to
}
video.addEventListener("waiting", () => { isWaiting = true })
video.addEventListener("playing", () => {
  isWaiting = false
  if (result.start === null) { result.start = (performance.now() - began) / 1000; first = video.currentTime }
})
setInterval(() => {
  if (began === null) return
  const now = performance.now()
  if (target !== null) {
    if (video.seeking || video.currentTime <= target) return
    result.seeks.push({ length: (now - sought) / 1000 })
    target = null; isWaiting = false
  }
  if (video.currentTime !== position) {
    if (stall !== null) { result.stalls.push({ at: position, length: (now - stall) / 1000 }); stall = null }
    position = video.currentTime; moved = now
  } else if (isWaiting && !isPaused && result.start !== null && !video.ended && now - moved > 100 && stall === null) stall = moved
  if (video.ended || first !== null && position - first >= seconds || now - began > 4000 * seconds) end()
}, 10)
// In a live stream: seconds since the begin, the latency in milliseconds, the rate of playback.
if (isLive) setInterval(() => {
  if (result.start === null || !latency) return
  const now = latency()
  if (Number.isFinite(now)) result.latencies.push([(performance.now() - began) / 1000, Math.round(now), video.playbackRate])
}, 500)
let isOver = false
async function end() {
  if (isOver) return
  isOver = true
  result.position = position
  try { await stop() } finally { await fetch("/result", { method: "POST", body: JSON.stringify(result) }) }
}
function fail(error) { result.error = String(error); end() }
video.addEventListener("canplay", () => { if (!isPaused) video.play().catch(() => {}) })
try {
  await fetch("/start")
  CODE
} catch (error) { fail(error) }
</script>"""

Requests = collections.namedtuple("Requests", "rungs bytes")
# `again` is the real player's second play of the same.
Trial = collections.namedtuple("Trial", "real probe real_requests probe_requests again again_requests", defaults=(None, None))


def skip(reason):
    print(f"SKIPPED: the comparison of players, because {reason}", file=sys.stderr, flush=True)


def await_all(start):
    """Returns when all players of a trial are there, and a second more: a browser that starts takes the processors from the others."""
    try:
        start.wait(timeout=60)
    except threading.BrokenBarrierError:
        pass  # A browser has not come: the others begin without it.
    time.sleep(1)


class Pages(http.server.ThreadingHTTPServer):
    """Serves the page and the file of its player, and takes the result of one page."""

    def __init__(self, player, script, start):
        self.results, self.script, self.start = queue.Queue(), script, start
        self.page = PAGE.replace("TAG", player.tag).replace("CODE", player.code)
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
        if self.path == "/start":
            await_all(self.server.start)
            self.reply(b"", "text/plain")
        elif self.path == "/player.js":
            self.reply(self.server.script, "text/javascript")
        else:
            self.reply(self.server.page.encode(), "text/html")

    def do_POST(self):
        self.server.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.reply(b"", "text/plain")


def start_origin(options, schedule, folder):
    port, log = free_port(), os.path.join(folder, "origin.ndjson")
    length = next((size for size in range(24, 481, 24) if size >= options.seconds + 24), 480)
    process = subprocess.Popen(
        [options.bin + "/test-origin", "--port", str(port), "--schedule", schedule, "--length", str(length), "--log", log]
        + [argument for fault in options.fault or [] for argument in ("--fault", fault)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process, port, log
        except OSError:
            time.sleep(0.1)
    process.terminate()
    raise SystemExit("the test origin does not answer")


def play_in_browser(options, player, script, url, folder, start):
    pages = Pages(player, script, start)
    address = f"http://127.0.0.1:{pages.server_port}/#" + "|".join([url.replace("%", "%25"), str(options.seconds)] + [f"{name}={text}" for name, text in viewer_of(options)])
    browser = subprocess.Popen(
        [shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
         "--no-first-run", "--disable-background-networking", "--disable-popup-blocking", "--disable-web-security", "--autoplay-policy=no-user-gesture-required",
         f"--user-data-dir={folder}/profile", address],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        return pages.results.get(timeout=5 * options.seconds + 120)
    except queue.Empty:
        return {"error": "the page did not report", "start": None, "stalls": [], "seeks": [], "gap": 0}
    finally:
        browser.terminate()
        browser.wait()
        pages.shutdown()
        pages.server_close()


def viewer_of(options):
    """What the viewer does, as pairs of the action's name and its AT=VALUE."""
    return [(name, text) for name in ("seek", "pause", "rate", "hidden") for text in getattr(options, name) or []]


def is_live(url):
    return "/live/" in url


def play_with_probe(options, profile, url, start):
    await_all(start)
    run = subprocess.run(
        [options.bin + "/player-monitor", "play", "--profile", profile, "--duration", str(options.seconds), "--backend", "json", url]
        # A live stream's latency is in each event, of which each request is one.
        + (["--request-events"] if is_live(url) else [])
        # No player is in a tab but those of the browser: what a hidden tab changes is a difference.
        + [argument for name, text in viewer_of(options) if name != "hidden" for argument in ("--" + name, text)],
        capture_output=True, text=True,
    )
    result = {"start": None, "stalls": [], "seeks": [], "latencies": [], "error": None if run.returncode == 0 else run.stderr.strip().split("\n")[-1]}
    for line in run.stdout.splitlines():
        sample = json.loads(line)
        action, name = sample.get("action"), sample.get("name")
        attributes = sample.get("attributes", sample)
        if name == "StartTime":
            result["start"] = sample["value"] / 1000
        elif action == "BufferFinish" and result["start"] is not None:
            result["stalls"].append({"length": attributes.get("timeSinceBufferBegin", 0) / 1000})
        elif action == "SeekFinish":
            result["seeks"].append({"length": attributes.get("timeSinceSeekBegin", 0) / 1000})
        if action == "MediaRequest":
            began = sample["time"]
        if result["start"] is not None and "liveLatency" in attributes:
            result["latencies"].append([(sample["time"] - began) / 1000, attributes["liveLatency"]])
    return result


def rung_of(record):
    """The rung of a segment: the 1 of /s/real/vod/ts/v1/2.ts; None for other requests."""
    folder = next((part for part in record["path"].split("/") if len(part) > 1 and part[0] == "v" and part[1:].isdigit()), None)
    return folder[1:] if folder and record["path"].endswith((".ts", ".m4s")) else None


def random_schedule(random):
    """A schedule that nobody has chosen: three to seven steps of 2 to 15 s, of which one in six is an outage; some have latency."""
    steps, latency = [], random.choice(["", "", " latency 40ms", " latency 150ms"])
    for number in range(random.randint(3, 7)):
        is_outage = number > 0 and random.random() < 1 / 6
        bandwidth = 0 if is_outage else round(200 * (8000 / 200) ** random.random(), -1)
        seconds = random.uniform(2, 9) if is_outage else random.uniform(2, 15)
        steps.append(f"{bandwidth:.0f}k{'' if number else latency} for {seconds:.1f}s")
    # The last step has no end, and carries at least the lowest rung.
    return ", ".join(steps) + f", {round(600 * (8000 / 600) ** random.random(), -1):.0f}k"


def requests_of(records, session):
    """The rungs of a session's segments in the order of the requests, and its bytes, from the origin's log.

    Players are stopped at different instants: what counts is what happened before the first of them was. Of a request that ran at that
    instant, the part of the bytes counts, and not the rung. An aborted request counts if its player requested another segment of a rung
    afterwards: otherwise, the end of the player aborted it.
    """
    def last(of):
        return max((record.get("lastByte", record["start"]) for record in records if record["session"] == of), default=0)

    players = {record["session"] for record in records} & {"real", "again", "probe"}
    until, rungs, size = min(map(last, players), default=0), [], 0
    # The log has the requests in the order of their ends.
    own = sorted((record for record in records if record["session"] == session), key=lambda record: record["number"])
    latest = max((record["start"] for record in own if rung_of(record)), default=0)
    for record in own:
        begin = record.get("firstByte", record["start"])
        end = record.get("lastByte", begin)
        size += record["bytes"] * (1 if end <= until else 0 if begin >= until else (until - begin) / (end - begin))
        if (rung := rung_of(record)) and end <= until:
            if record["outcome"] == "complete":
                rungs.append(rung)
            elif record["start"] < latest:
                rungs.append(rung + "!")
    return Requests([(rung, len(list(group))) for rung, group in itertools.groupby(rungs)], round(size))


def latency_at(latencies, second):
    """The latency in milliseconds at a second: that of the last sample until then, which is at most 3 s old."""
    earlier = [latency for at, latency, *_ in latencies if second - 3 < at <= second]
    return earlier[-1] if earlier else None


def latency_difference(trial):
    """The median of the differences of the latency at each second, in seconds; None outside live streams."""
    real, probe = trial.real.get("latencies") or [], trial.probe.get("latencies") or []
    last = int(min((samples[-1][0] for samples in (real, probe) if samples), default=0))
    pairs = [(latency_at(real, second), latency_at(probe, second)) for second in range(last + 1)]
    apart = [abs(left - right) / 1000 for left, right in pairs if None not in (left, right)]
    return statistics.median(apart) if apart else None


def level(rungs, other):
    """The runs without a last one that the other player, which is as many segments behind, has not come to when it is stopped."""
    ahead = sum(count for _, count in rungs) - sum(count for _, count in other)
    return rungs[:-1] if len(rungs) == len(other) + 1 and rungs[-1][1] <= min(ahead, TOLERANCES.run) else rungs


def differences(name, trial):
    """What differs beyond the tolerances, in words; `name` is that of the real player."""
    found = []
    real, probe = trial.real_requests, trial.probe_requests
    real_rungs, probe_rungs = level(real.rungs, probe.rungs), level(probe.rungs, real.rungs)
    if [rung for rung, _ in real_rungs] != [rung for rung, _ in probe_rungs]:
        found.append("order of rungs")
    elif any(abs(left - right) > TOLERANCES.run for (_, left), (_, right) in zip(real_rungs, probe_rungs)):
        found.append("length of a run")
    if abs(real.bytes - probe.bytes) > TOLERANCES.bytes * max(real.bytes, probe.bytes):
        found.append("bytes")
    for plural, word in (("stalls", "stall"), ("seeks", "seek")):
        lengths = [[event["length"] for event in player[plural] if event["length"] >= TOLERANCES.seen] for player in (trial.real, trial.probe)]
        if len(lengths[0]) != len(lengths[1]):
            found.append(f"number of {plural}")
        elif any(abs(left - right) > TOLERANCES.stall for left, right in zip(*lengths)):
            found.append(f"length of a {word}")
    apart = latency_difference(trial)
    if apart is not None and apart > TOLERANCES.latency:
        found.append("latency")
    starts = (trial.real["start"], trial.probe["start"])
    if None in starts or abs(starts[0] - starts[1]) > TOLERANCES.start:
        found.append("start")
    return found + [f"an error of {who}" for who, player in ((name, trial.real), ("the probe", trial.probe)) if player["error"]]


def verdict_of(name, trial):
    """What differs, in words, and whether the trial decides: not if the real player differs from itself, and the probe from both."""
    found = differences(name, trial)
    if not found or trial.again is None:
        return found, True
    again = trial._replace(real=trial.again, real_requests=trial.again_requests)
    if not differences(name, again):
        return [], True
    return found, not differences(name, trial._replace(probe=trial.again, probe_requests=trial.again_requests))


def row(name, result, requests):
    start = "–" if result["start"] is None else f"{result['start']:.2f}"
    stalls = ", ".join(f"{stall['length']:.2f}" for stall in result["stalls"]) or "none"
    stalls += "".join(f", seek {seek['length']:.2f}" for seek in result["seeks"])
    rungs = " ".join(f"{rung}×{count}" for rung, count in requests.rungs)
    line = f"  {name:<8} {start:>7} {stalls:>12} {requests.bytes / 1e6:>8.2f}  {rungs}  {result['error'] or ''}".rstrip()
    if latencies := result.get("latencies"):
        seconds = range(5, int(latencies[-1][0]) + 1, 5)
        shown = [f"{second} s: {latency / 1000:.2f}" for second in seconds if (latency := latency_at(latencies, second)) is not None]
        rates = sorted({round(rate, 2) for _, _, rate in filter(lambda sample: len(sample) > 2, latencies)} - {1})
        line += f"\n           latency s at {', '.join(shown)}" + (f"; rates {', '.join(map(str, rates))}" if rates else "")
    return line


def play(options, player, script, stream, schedule):
    """One trial: what the page and the probe report, and what each requested."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        origin, port, log = start_origin(options, schedule, folder)
        start = threading.Barrier(3 if options.random else 2)

        def show(session):
            own = os.path.join(folder, session)
            return play_in_browser(options, player, script, f"http://127.0.0.1:{port}/s/{session}/{stream}", own, start)

        try:
            with ThreadPoolExecutor(2) as workers:
                probed = workers.submit(play_with_probe, options, player.profile, f"http://127.0.0.1:{port}/s/probe/{stream}", start)
                again = workers.submit(show, "again") if options.random else None
                shown, probed, again = show("real"), probed.result(), again and again.result()
        finally:
            origin.terminate()
            origin.wait()
        with open(log) as lines:
            records = [json.loads(line) for line in lines]
        if options.logs:
            os.makedirs(options.logs, exist_ok=True)
            name = "".join(sign if sign.isalnum() else "-" for sign in f"{player.profile} {stream} {schedule}")
            shutil.copyfile(log, os.path.join(options.logs, f"{name}-{time.time():.0f}.ndjson"))
    real, probe, repeated = (requests_of(records, session) for session in ("real", "probe", "again"))
    return Trial(shown, probed, real, probe, again, again and repeated)


class Comparison:
    """The attempts of one stream and schedule, and the verdict."""

    def __init__(self, options, player, script, stream, schedule):
        self.player, self.name, self.attempts, agreeing, differing = player, f"{stream}, {schedule}", [], 0, 0
        kind = PLAYERS[player]
        # hls.js with its worker has another profile than bundles that cannot start it.
        self.kind = kind._replace(profile="hlsjs") if b"__HLS_WORKER_BUNDLE__" in script else kind
        text, attempts = [self.name, "  player   start s     stalls s       MB  rung × segments"], ATTEMPTS if options.check else 1
        while len(self.attempts) < attempts:
            trial = play(options, self.kind, script, stream, schedule)
            found, decides = verdict_of(player, trial)
            gap = max(real["gap"] for real in (trial.real, trial.again) if real)
            self.attempts.append({"trial": trial._asdict(), "differences": found})
            text += [row(player, trial.real, trial.real_requests)] + ([row("again", trial.again, trial.again_requests)] if trial.again else [])
            text.append(row("probe", trial.probe, trial.probe_requests))
            if gap > TOLERANCES.gap:
                text.append(f"  not judged: the page's timers were late by {gap:.0f} ms")
                continue
            if not decides:
                text.append(f"  not judged: {player} differs from itself, and the probe from both: " + ", ".join(found))
                continue
            agreeing, differing = agreeing + (not found), differing + bool(found)
            text.append("  differ: " + ", ".join(found) if found else "  agree")
            # One that agrees at once passes; otherwise the majority of three decides.
            if agreeing > differing or differing > attempts // 2:
                break
        self.verdict = "agree" if agreeing > differing else "differ" if differing > attempts // 2 else "not judged"
        if len(self.attempts) > 1:
            text.append(f"  {self.verdict}: {agreeing} of {len(self.attempts)} attempts agree, {differing} differ")
        print("\n".join(text), flush=True)


def player_and_file(text):
    """The player of a --player, and its file."""
    name, _, path = text.partition("=")
    if name not in PLAYERS:
        raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(PLAYERS)}")
    if not path and name != "hls.js":
        raise argparse.ArgumentTypeError(f"{name} needs the file of its release: --player {name}=FILE")
    return name, path or BUNDLED_HLS_JS


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="seconds of media that are played (default: 60)")
    parser.add_argument("--player", action="append", type=player_and_file, metavar="NAME[=FILE]",
                        help=f"a player, and the file of its release; may be repeated: {', '.join(PLAYERS)} (default: hls.js)")
    parser.add_argument("--schedule", action="append", help="a schedule of the test origin; may be repeated")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="play N schedules made from --seed, each twice with the real player")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the seed of --random (default: 1)")
    parser.add_argument("--fault", action="append", help="a fault of the test origin; may be repeated")
    parser.add_argument("--seek", action="append", metavar="AT=TO", help="seek to TO after AT, both in seconds; may be repeated")
    parser.add_argument("--pause", action="append", metavar="AT=LENGTH", help="pause for LENGTH after AT, both in seconds; may be repeated")
    parser.add_argument("--rate", action="append", metavar="AT=RATE", help="play at RATE from AT seconds on; may be repeated")
    parser.add_argument("--hidden", action="append", metavar="AT=LENGTH",
                        help="put another tab in front of the real player's for LENGTH after AT, both in seconds, which the probe has not; may be repeated")
    parser.add_argument("--stream", action="append", help="a path of the test origin; may be repeated")
    parser.add_argument("--bin", default=".build/programs", help="the folder of the built programs (default: .build/programs)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if the players differ")
    parser.add_argument("--jobs", type=int, default=1, help="the trials that play at the same time (default: 1)")
    parser.add_argument("--logs", metavar="FOLDER", help="keep the test origin's log of each trial in this folder")
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE as JSON")
    return parser.parse_args()


def main():
    options = parsed()
    if not shutil.which("chromium"):
        skip("there is no chromium")
        return 3
    players, compared, began = options.player or [player_and_file("hls.js")], [], time.monotonic()
    for name, path in players:
        if not os.path.exists(path):
            skip(f"there is no {path}" + (" (scripts/install-hls-js.sh)" if name == "hls.js" else ""))
            return 3
    with ThreadPoolExecutor(options.jobs) as workers:
        for name, path in players:
            with open(path, "rb") as file:
                script = file.read()
            streams, source = options.stream or PLAYERS[name].streams, random.Random(options.seed)
            trials = itertools.product(options.schedule or SCHEDULES, streams)
            if options.random:
                # The streams in turn, each with other schedules.
                trials = [(random_schedule(source), streams[number % len(streams)]) for number in range(options.random)]
            compared += workers.map(lambda trial: Comparison(options, name, script, trial[1], trial[0]), trials)
    if options.json:
        with open(options.json, "w") as file:
            results = [{"player": one.player, "name": one.name, "verdict": one.verdict, "attempts": one.attempts} for one in compared]
            json.dump(results, file, indent=1)
    for name, path in players:
        own = [one for one in compared if one.player == name]
        versions = {one["trial"]["real"].get("version") for comparison in own for one in comparison.attempts} - {None}
        counts = collections.Counter(one.verdict for one in own)
        summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("agree", "differ", "not judged"))
        print(f"{name} {', '.join(sorted(versions)) or 'of an unknown version'}: {summary}, in {time.monotonic() - began:.0f} s", flush=True)
        if options.check and path == BUNDLED_HLS_JS and versions - {HLS_JS_VERSION}:
            skip(f"hls.js is not {HLS_JS_VERSION}: remove {path}, and run scripts/install-hls-js.sh")
            return 3
    if not options.check:
        return 0
    counts = collections.Counter(one.verdict for one in compared)
    for one in compared:
        if one.verdict == "not judged":
            skip(f"the machine was too busy to judge: {one.name}")
    return 1 if counts["differ"] else 3 if counts["not judged"] else 0


if __name__ == "__main__":
    sys.exit(main())
