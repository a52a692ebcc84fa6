#!/usr/bin/env python3
"""The monitor's demonstration: streams with random faults, from servers on this machine.

Starts one test origin without faults and one for each stream with a fault of delivery, a packager of live streams with black, frozen and
silent intervals, `player-monitor watch` over all streams, a receiver of webhooks and (where scripts/install-prometheus.sh has installed it)
Prometheus. It verifies that every injected fault has raised an alert of its kind while it lasted, that nothing else has raised an alert,
that the cause in each incident is that of the faults of its streams, and that no rule was broken on a stream without a fault. Then it ends the
servers, waits until no sum changes any more, and verifies that the dashboard's data, Prometheus and the report of the recorded samples state
the same numbers for each stream. At last it kills the monitor and starts it again: the incidents and the report of the month are the same, and
no message is sent twice. Exits with 1 otherwise.

Usage: scripts/demonstrate-monitor.py [--streams 50] [--seconds 600] [--seed 1] [--bin .build/programs]
"""
import argparse, collections, csv, http.server, json, os, random, re, signal, subprocess, sys, time, urllib.parse, urllib.request
from demonstration import Hook, answers, finish, folder, messages, serve, start, verify
from local_servers import free_port

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--streams", type=int, default=50)
arguments.add_argument("--seconds", type=int, default=600)
arguments.add_argument("--seed", type=int, default=1)
arguments.add_argument("--bin", default=".build/programs")
options = arguments.parse_args()
chance = random.Random(options.seed)

# A fault, and the alerts of which one has to fire. Another fault may follow from the first: a stream without playlists stalls. Where the
# player gives up as soon as its buffer is empty, because its playlist is too old, a stalled server is a stream that is down.
EXPECTED = {
    "missing": {"down"}, "stalled": {"stalls", "down"}, "stale": {"stale"}, "black": {"black"}, "frozen": {"freeze"}, "silent": {"silence"},
}
POSSIBLE = {
    "missing": {"down", "stalls", "unavailable"}, "stalled": {"stalls", "down", "unavailable", "stale"}, "stale": {"stale", "stalls", "down"},
    "black": {"black"}, "frozen": {"freeze"}, "silent": {"silence"},
}
# The kinds of the cause of an incident, by the fault of each of its streams.
CAUSES = {
    "missing": {"http"}, "stalled": {"stalled", "network", "stale"}, "stale": {"stale", "stalled", "check"}, "black": {"check"}, "frozen": {"check"},
    "silent": {"check"},
}


class Packager:
    """A live stream whose media have an interval that is black, frozen or silent: segments of two seconds, published as time passes."""

    SEGMENT, WINDOW, HEAD = 2, 6, 4

    def __init__(self, name, kind, begin, length):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        # The head is published when the stream begins: the interval comes that much later in the media.
        begin += self.HEAD * self.SEGMENT
        seconds = options.seconds + 300
        between = f"enable='between(t,{begin},{begin + length})'"
        picture = {"black": "color=c=black:", "frozen": "smptebars="}.get(kind, "color=c=black:") + "size=160x90:rate=10"
        shown = f"[0:v][1:v]overlay=shortest=1:{between}[v]" if kind != "silent" else "[0:v]null[v]"
        heard = f"volume=0:{between}" if kind == "silent" else "anull"
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size=160x90:rate=10:duration={seconds}", "-f", "lavfi", "-i", picture,
             "-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={seconds}", "-filter_complex", shown, "-map", "[v]", "-map", "2:a",
             "-af", heard, "-threads", "1", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-sc_threshold", "0", "-pix_fmt", "yuv420p",
             "-c:a", "aac", "-b:a", "48k", "-f", "hls", "-hls_time", str(self.SEGMENT), "-hls_list_size", "0", "-hls_segment_filename", self.folder + "/%d.ts",
             self.folder + "/all.m3u8"], check=True,
        )
        self.lengths = [float(text) for text in re.findall(r"#EXTINF:([0-9.]+)", open(self.folder + "/all.m3u8").read())]
        sizes = [os.path.getsize(f"{self.folder}/{number}.ts") for number in range(len(self.lengths))]
        self.bandwidth = int(max(8 * size / length for size, length in zip(sizes, self.lengths) if length >= 1)) + 1
        self.begin = None

    def file(self, name):
        """The bytes of a file of the stream, and their type; None if it does not exist yet."""
        self.begin = self.begin or time.time()
        count = min(len(self.lengths), self.HEAD + int((time.time() - self.begin) / self.SEGMENT))
        first = max(0, count - self.WINDOW)
        if name == "master.m3u8":
            text = f"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH={self.bandwidth},RESOLUTION=160x90\nmedia.m3u8\n"
            return text.encode(), "application/vnd.apple.mpegurl"
        if name == "media.m3u8":
            lines = ["#EXTM3U", "#EXT-X-VERSION:3", f"#EXT-X-TARGETDURATION:{self.SEGMENT}", f"#EXT-X-MEDIA-SEQUENCE:{first}"]
            for number in range(first, count):
                lines += [f"#EXTINF:{self.lengths[number]:.6f},", f"{number}.ts"]
            return ("\n".join(lines) + "\n").encode(), "application/vnd.apple.mpegurl"
        number = int(name[:-3]) if re.fullmatch(r"[0-9]+\.ts", name) else count
        # A segment stays for a while after it has left the playlist.
        if not max(0, first - self.WINDOW) <= number < count:
            return None
        return open(f"{self.folder}/{name}", "rb").read(), "video/mp2t"


packagers = {}


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    is_closed = False

    def do_GET(self):
        if Pages.is_closed:
            # A connection without an answer, also on connections that were open before.
            self.close_connection = True
            return
        name, _, file = self.path[1:].split("?")[0].partition("/")
        content = packagers[name].file(file) if name in packagers else None
        body, kind = content or (b"", "text/plain")
        self.send_response(200 if content else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# The fleet: which streams have which fault, and when.
origin = free_port()
origins = [start("origin", [options.bin + "/test-origin", "--port", str(origin)])]
answers(origin)
pages, hook = serve(Pages), serve(Hook)
faults = {}
lines = ["defaults: { continuous: true, backends: [samples] }", "streams:"]
CHECKS = "rules: true, stale: 2x, ignore: [stale]"
MEDIA = CHECKS + ", black: 5s, freeze: 5s, silence: 5s"
for number in range(options.streams):
    name = f"stream-{number:02}"
    address = f"http://127.0.0.1:{origin}/s/{name}/live/ts/master.m3u8"
    checks = MEDIA if number % 5 == 0 else CHECKS
    if chance.random() < 0.4:
        kind = chance.choice(sorted(EXPECTED))
        begin, length = chance.randint(40, max(41, options.seconds - 150)), chance.randint(40, 60)
        faults[name] = (kind, begin, length)
        if kind in ("black", "frozen", "silent"):
            packagers[name] = Packager(name, kind, begin, length)
            address, checks = f"http://127.0.0.1:{pages.server_address[1]}/{name}/master.m3u8", MEDIA
        else:
            port = free_port()
            command = [options.bin + "/test-origin", "--port", str(port)]
            if kind == "stalled":
                command += ["--schedule", f"20M for {begin}s, 0 for {length}s, 20M"]
            else:
                fault = "404" if kind == "missing" else "stale"
                command += ["--fault", f"{fault} on live/* from {begin}s until {begin + length}s"]
            origins.append(start(name, command))
            answers(port, "/requests")
            address = f"http://127.0.0.1:{port}/s/{name}/live/ts/master.m3u8"
    lines.append(f'  - {{ name: {name}, url: "{address}", checks: {{ {checks} }} }}')
lines += [f"backends: {{ samples: {{ file: {folder}/samples.ndjson }} }}", "alerts:"]
for name, condition in [
    ("down", "up == 0"), ("stalls", "rebuffer_seconds > 3s over 1m"), ("stale", 'check_failed{rule="stale"} > 0'),
    ("black", 'check_failed{rule="black"} > 0'), ("freeze", 'check_failed{rule="freeze"} > 0'), ("silence", 'check_failed{rule="silence"} > 0'),
    ("unavailable", 'check_failed{rule="manifest-unavailable"} > 0'),
]:
    lines.append(f"  - {{ name: {name}, when: '{condition}', to: demo{', for: 10s' if name == 'unavailable' else ''} }}")
lines.append(f'notify: {{ demo: {{ webhook: "http://127.0.0.1:{hook.server_address[1]}/" }} }}')
configuration = os.path.join(folder, "monitor.yaml")
open(configuration, "w").write("\n".join(lines) + "\n")

# The run.
listen = free_port()
watch = [options.bin + "/player-monitor", "watch", "--listen", f"127.0.0.1:{listen}", "--state", folder + "/state", configuration]
monitor = start("monitor", watch)
answers(listen, "/healthz")
begun = time.time()
prometheus = ".build/prometheus/usr/bin/prometheus"
query = None
if os.access(prometheus, os.X_OK):
    open(folder + "/prometheus.yml", "w").write(
        "global: { scrape_interval: 2s }\nscrape_configs:\n"
        f"  - {{ job_name: player-monitor, static_configs: [{{ targets: ['127.0.0.1:{listen}'] }}] }}\n"
    )
    query = free_port()
    start("prometheus", [prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{query}"])
else:
    print("SKIPPED: the comparison with Prometheus, because it is not installed (scripts/install-prometheus.sh)", file=sys.stderr)
print(f"{options.streams} streams, {len(faults)} with a fault, for {options.seconds} s: http://127.0.0.1:{listen}/", flush=True)
# How late the monitor worked at most: on a machine that is too busy, streams stall without a fault.
late = 0.0
# The alerts of each stream: messages are about incidents, of which a stream may break several rules.
fired = collections.defaultdict(list)
seen = set()
while time.time() < begun + options.seconds and monitor.poll() is None:
    time.sleep(5)
    try:
        text = urllib.request.urlopen(f"http://127.0.0.1:{listen}/metrics", timeout=10).read().decode()
        late = max([late] + [float(value) for value in re.findall(r"\ninstrument_monitor_delay_seconds ([0-9.e-]+)", text)])
        state = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{listen}/api/state", timeout=10).read())
        for alert in state["alerts"]:
            firing = (alert["stream"], alert["alert"], alert["since"])
            if alert["firing"] and firing not in seen:
                seen.add(firing)
                fired[alert["stream"]].append((alert["alert"], time.time() - begun))
    except OSError as error:
        print(f"the pages of the monitor: {error}", file=sys.stderr)
if monitor.poll() is not None:
    print("the monitor ended early")
    finish(True)

print(f"the monitor worked {late:.2f} s late at most{': the machine is too busy for a verdict about stalls' if late > 1 else ''}", flush=True)
# Every fault is found while it lasts or soon after, and nothing else.
for name, (kind, begin, length) in sorted(faults.items()):
    found = fired.pop(name, [])
    names = {alert for alert, _ in found}
    # A session begins with its stream; the start of the fleet is spread over some seconds.
    in_time = all(begin - 5 <= at <= begin + length + 60 for _, at in found)
    text = ", ".join(f"{alert} at {at:.0f} s" for alert, at in found) or "none"
    verify(bool(names & EXPECTED[kind]) and names <= POSSIBLE[kind] and in_time, f"{name}: {kind} at {begin} s for {length} s, alerts: {text}")
for name, found in sorted(fired.items()):
    verify(False, f"{name} has no fault, alerts: {found}")
verify(True, f"{options.streams - len(faults)} streams without a fault, {len(fired)} false alarms, {len(messages)} messages")
incidents = json.loads(answers(listen, "/api/incidents"))["incidents"]
named = {name for incident in incidents for name in incident["streams"]}
verify(named <= set(faults), f"{len(incidents)} incidents, and none of a stream without a fault {sorted(named - set(faults)) or ''}")
for incident in incidents:
    kinds = sorted({faults[name][0] for name in incident["streams"] if name in faults})
    verify(all(incident["kind"] in CAUSES[kind] for kind in kinds), f"incident '{incident['title']}' of {incident['streamCount']} streams: {', '.join(kinds)}")
broken = collections.defaultdict(set)
for line in answers(listen, "/metrics").decode().splitlines():
    found = re.match(r'instrument_stream_check_failed\{stream="([^"]*)",rule="([^"]*)"\}', line)
    if found:
        broken[found[1]].add(found[2])
wrong = {name: sorted(rules) for name, rules in broken.items() if name not in faults}
verify(not wrong, f"no rule was broken on a stream without a fault {wrong or ''}")

# Without servers, the sums of all streams come to rest: sessions fail, and further ones do not begin to play.
for child in origins:
    child.terminate()
Pages.is_closed = True
pages.shutdown()
pages.server_close()
# What the dashboard, Prometheus and the report have: the number of sessions and errors, and the sums of playing and stalls.
KEYS = ["rebuffers", "rebuffering", "playing", "sessions", "errors"]
# Errors that the monitor itself finds, which no player reports and no recording has.
OWN_ERRORS = {"startTimeout"}


def recorded(path):
    """What the recorded events of each stream say of starts, requests and errors: number and milliseconds of the starts, and the numbers."""
    found, requests = collections.defaultdict(collections.Counter), {}
    for line in open(path):
        event = json.loads(line)
        if event["type"] != "event":
            continue
        attributes = event["attributes"]
        name, session = attributes["monitorStream"], (attributes.get("senderId"), attributes.get("playbackId"))
        if event["action"] == "Start":
            found[name]["starts"] += 1
        if event["action"] == "Error":
            found[name]["errors"] += 1
        if "countRequests" in attributes:
            requests[session] = (name, max(requests.get(session, (name, 0))[1], attributes["countRequests"]))
    for name, count in requests.values():
        found[name]["requests"] += count
    return found


def samples_of(text, metric, left_out=()):
    """The sum of a metric's samples by stream, without the codes that are left out."""
    values = collections.Counter()
    for labels, value in re.findall(r"\n" + metric + r"\{([^}]*)\} ([0-9.e+-]+)", text):
        code = re.search(r'code="([^"]*)"', labels)
        if not code or code[1] not in left_out:
            values[re.search(r'stream="([^"]*)"', labels)[1]] += float(value)
    return values


def sums():
    rows = json.loads(answers(listen, "/api/state"))["streams"]
    return {row["name"]: {key: row[key] for key in KEYS} for row in rows}, all(row["up"] is False for row in rows)


def media(state):
    """The sums that come to rest: sessions begin and fail on and on."""
    return {name: [row[key] for key in ("rebuffers", "rebuffering", "playing")] for name, row in state.items()}


(state, rests), end = sums(), time.time() + 300
while time.time() < end:
    time.sleep(10)
    before, (state, rests) = media(state), sums()
    if rests and before == media(state):
        break
verify(rests and before == media(state), "without servers, every stream is down and no sum changes")


def quiet(take, seconds=300):
    """What `take` returns at a time at which no session runs and no number changes: views that are read one after another can be compared."""
    limit = time.time() + seconds
    while time.time() < limit:
        before, page = sums()[0], answers(listen, "/metrics").decode()
        if "\ninstrument_monitor_sessions 0\n" not in page:
            time.sleep(0.2)
            continue
        taken = take()
        after = sums()[0]
        if before == after and "\ninstrument_monitor_sessions 0\n" in answers(listen, "/metrics").decode():
            return after, page, taken
    verify(False, "the numbers never came to rest")
    finish(True)


def prometheus_sums():
    # Two scrapes later, Prometheus has the numbers.
    time.sleep(4.5)
    found = {}
    for metric, _, _ in METRICS:
        expression = urllib.parse.quote(f"sum by (stream) (instrument_stream_{metric})")
        found[metric] = json.loads(answers(query, f"/api/v1/query?query={expression}"))["data"]["result"]
    return found


METRICS = [
    ("rebuffers_total", "rebuffers", 1), ("rebuffer_seconds_total", "rebuffering", 1000), ("playing_seconds_total", "playing", 1000),
    ("sessions_total", "sessions", 1), ("errors_total", "errors", 1),
]

# The three views state the same numbers.
if query:
    state, _, found = quiet(prometheus_sums)
    for metric, key, scale in METRICS:
        values = {entry["metric"]["stream"]: round(float(entry["value"][1]) * scale) for entry in found[metric]}
        wrong = {name: (values.get(name), state[name][key]) for name in state if values.get(name) != state[name][key]}
        verify(not wrong, f"Prometheus and the dashboard agree in {metric} of {len(state) - len(wrong)} of {len(state)} streams {wrong or ''}")
    # No counter has ever decreased: Prometheus would have counted a whole value once more.
    for metric in ["rebuffer_seconds_total", "playing_seconds_total", "rebuffers_total", "errors_total", "requests_total", "startup_seconds_sum"]:
        expression = urllib.parse.quote(f"resets(instrument_stream_{metric}[1h]) > 0")
        wrong = [entry["metric"] for entry in json.loads(answers(query, f"/api/v1/query?query={expression}"))["data"]["result"]]
        verify(not wrong, f"{metric} has never decreased {wrong or ''}")
state, page, _ = quiet(lambda: None)
monitor.send_signal(signal.SIGTERM)
monitor.wait(60)
subprocess.run([options.bin + "/player-monitor", "report", "-q", "--csv", folder + "/sessions.csv", "-o", folder + "/report.html", folder + "/samples.ndjson"], check=True)
counted = collections.defaultdict(collections.Counter)
for session in csv.DictReader(open(folder + "/sessions.csv")):
    name = re.search(r"stream-[0-9]+", session["source"])[0]
    for key, column in zip(KEYS, ["stalls", "rebufferTimeMs", "playTimeMs"]):
        counted[name][key] += round(float(session[column] or 0))
    counted[name]["sessions"] += 1
    counted[name]["starts"] += session["startTimeMs"] != ""
    counted[name]["startTime"] += round(float(session["startTimeMs"] or 0))
for key in ["rebuffers", "rebuffering", "playing", "sessions"]:
    wrong = {name: (counted[name][key], state[name][key]) for name in state if counted[name][key] != state[name][key]}
    verify(not wrong, f"the report and the dashboard agree in {key} of {len(state) - len(wrong)} of {len(state)} streams {wrong or ''}")
# Starts, as Prometheus has them in the histogram, by the report; errors and requests by the recorded events.
events = recorded(folder + "/samples.ndjson")
for text, values, other in [
    ("startup_seconds_count and the report", samples_of(page, "instrument_stream_startup_seconds_count"), {name: counted[name]["starts"] for name in state}),
    ("startup_seconds_sum and the report", collections.Counter({name: round(value * 1000) for name, value in samples_of(page, "instrument_stream_startup_seconds_sum").items()}),
     {name: counted[name]["startTime"] for name in state}),
    ("errors_total and the recorded errors", samples_of(page, "instrument_stream_errors_total", OWN_ERRORS), {name: events[name]["errors"] for name in state}),
]:
    wrong = {name: (values[name], other[name]) for name in state if values[name] != other[name]}
    verify(not wrong, f"{text} agree in {len(state) - len(wrong)} of {len(state)} streams {wrong or ''}")
# An event has the number of requests before it: what a session requests after its last event is in the metrics alone.
requested, known = sum(samples_of(page, "instrument_stream_requests_total").values()), sum(events[name]["requests"] for name in state)
print(f"{requested:.0f} requests in the metrics, {known} of them before the last event of their session")
verify(known <= requested, "no recorded request is missing in the metrics")


def lasting():
    """What a monitor knows of its incidents: identifier and state by cause."""
    found = json.loads(answers(listen, "/api/incidents"))["incidents"]
    month = {incident["id"] for incident in json.loads(answers(listen, "/api/month"))["incidents"]}
    verify(month == {incident["id"] for incident in found}, f"the report of the month has the {len(found)} incidents")
    return {(incident["id"], incident["title"], incident["streamCount"], incident["state"]) for incident in found}


# After a restart, and after the loss of the process, the incidents are the same, and nobody is told again.
sent = len(messages)
monitor = start("monitor", watch)
before = lasting()
time.sleep(5)
monitor.kill()
monitor.wait()
monitor = start("monitor", watch)
after = lasting()
verify(before == after and before, f"after kill -9, the {len(before)} incidents are the same {sorted(before ^ after) or ''}")
time.sleep(15)
verify(len(messages) == sent, f"no message is sent twice ({len(messages) - sent} more)")
finish()
