#!/usr/bin/env python3
"""The monitor's demonstration: streams with random faults, from servers on this machine.

Starts one test origin without faults and one for each faulty stream, `player-monitor watch` over all streams, a receiver of webhooks and
(where scripts/install-prometheus.sh has installed it) Prometheus. After the time is over it verifies that every injected fault has raised
an alert of its kind, that no stream without a fault has raised one, and that the dashboard's data, Prometheus and the report of the recorded
samples state the same stalls. Exits with 1 otherwise.

Usage: scripts/demonstrate-monitor.py [--streams 50] [--seconds 600] [--seed 1] [--bin .build/debug]
"""
import argparse, collections, csv, http.server, json, os, random, signal, socket, subprocess, sys, tempfile, threading, time, urllib.request

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--streams", type=int, default=50)
arguments.add_argument("--seconds", type=int, default=600)
arguments.add_argument("--seed", type=int, default=1)
arguments.add_argument("--bin", default=".build/debug")
options = arguments.parse_args()
chance = random.Random(options.seed)
folder = tempfile.mkdtemp(prefix="monitor-demonstration-")
children = []


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(name, command, **more):
    log = open(os.path.join(folder, name + ".log"), "wb")
    child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, **more)
    children.append(child)
    return child


def answers(port, path="/", seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).read()
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"nothing answers on port {port}")


messages = []


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def finish(status):
    for child in reversed(children):
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(60)
        except subprocess.TimeoutExpired:
            child.kill()
    print(f"logs: {folder}")
    sys.exit(status)


# What a fault does, and the alerts of which one has to fire. Another fault may follow from the first: a stream without playlists stalls.
EXPECTED = {"missing": {"down"}, "stalled": {"stalls"}, "stale": {"stale"}}
POSSIBLE = {"missing": {"down", "stalls", "unavailable"}, "stalled": {"stalls", "down", "unavailable", "stale"}, "stale": {"stale", "stalls", "down"}}

origin = free_port()
start("origin", [options.bin + "/test-origin", "--port", str(origin)])
answers(origin)
faults = {}
lines = ["defaults: { continuous: true, backends: [samples], checks: { rules: true, stale: 2x, ignore: [stale] } }", "streams:"]
for number in range(options.streams):
    name = f"stream-{number:02}"
    port = origin
    if chance.random() < 0.4:
        kind = chance.choice(sorted(EXPECTED))
        begin, length = chance.randint(40, max(41, options.seconds - 150)), chance.randint(40, 60)
        port = free_port()
        command = [options.bin + "/test-origin", "--port", str(port)]
        if kind == "missing":
            command += ["--fault", f"404 on live/* from {begin}s until {begin + length}s"]
        elif kind == "stale":
            command += ["--fault", f"stale on live/* from {begin}s until {begin + length}s"]
        else:
            command += ["--schedule", f"20M for {begin}s, 0 for {length}s, 20M"]
        faults[name] = (kind, begin, length)
        start(name, command)
        answers(port, "/requests")
    lines.append(f'  - {{ name: {name}, url: "http://127.0.0.1:{port}/s/{name}/live/ts/master.m3u8" }}')
hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
threading.Thread(target=hook.serve_forever, daemon=True).start()
lines += [
    f"backends: {{ samples: {{ file: {folder}/samples.ndjson }} }}", "alerts:",
    "  - { name: down, when: up == 0, to: demo }", "  - { name: stalls, when: rebuffer_seconds > 3s over 1m, to: demo }",
    '  - { name: stale, when: check_failed{rule="stale"} > 0, to: demo }',
    '  - { name: unavailable, when: check_failed{rule="manifest-unavailable"} > 0, for: 10s, to: demo }',
    f'notify: {{ demo: {{ webhook: "http://127.0.0.1:{hook.server_address[1]}/" }} }}',
]
lines = [line.replace('when: check_failed{rule="stale"} > 0', "when: 'check_failed{rule=\"stale\"} > 0'").replace('when: check_failed{rule="manifest-unavailable"} > 0', "when: 'check_failed{rule=\"manifest-unavailable\"} > 0'") for line in lines]
configuration = os.path.join(folder, "monitor.yaml")
open(configuration, "w").write("\n".join(lines) + "\n")
listen = free_port()
monitor = start("monitor", [options.bin + "/player-monitor", "watch", "--listen", f"127.0.0.1:{listen}", "--state", folder + "/state", configuration])
answers(listen, "/healthz")
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
print(f"{options.streams} streams, {len(faults)} with a fault, for {options.seconds} s: http://127.0.0.1:{listen}/")
end = time.time() + options.seconds
while time.time() < end and monitor.poll() is None:
    time.sleep(1)
if monitor.poll() is not None:
    print("the monitor ended early")
    finish(1)

fired = collections.defaultdict(set)
for message in messages:
    if message["status"] == "firing":
        for stream in message["streams"]:
            fired[stream["name"]].add(message["alert"])
status = 0
for name, (kind, begin, length) in sorted(faults.items()):
    found = fired.pop(name, set())
    is_right = bool(found & EXPECTED[kind]) and found <= POSSIBLE[kind]
    print(f"{'ok' if is_right else 'WRONG'}: {name}: {kind} at {begin} s for {length} s, alerts: {', '.join(sorted(found)) or 'none'}")
    status |= not is_right
for name, found in sorted(fired.items()):
    print(f"WRONG: {name} has no fault, alerts: {', '.join(sorted(found))}")
    status = 1
print(f"{options.streams - len(faults)} streams without a fault, {len(fired)} false alarms, {len(messages)} messages")

# Nothing stalls now: the sums are at rest.
state = {row["name"]: row for row in json.loads(answers(listen, "/api/state"))["streams"]}
if query:
    time.sleep(5)
    for metric, key, scale in [("instrument_stream_rebuffers_total", "rebuffers", 1), ("instrument_stream_rebuffer_seconds_total", "rebuffering", 1000)]:
        answer = json.loads(answers(query, f"/api/v1/query?query={metric}"))["data"]["result"]
        values = {entry["metric"]["stream"]: round(float(entry["value"][1]) * scale) for entry in answer}
        wrong = {name for name in state if values.get(name) != state[name][key]}
        print(f"{'WRONG' if wrong else 'ok'}: Prometheus and the dashboard agree in {metric} of {len(state) - len(wrong)} of {len(state)} streams")
        status |= bool(wrong)
monitor.send_signal(signal.SIGTERM)
monitor.wait(60)
counted = collections.Counter()
subprocess.run([options.bin + "/player-monitor", "report", "-q", "--csv", folder + "/sessions.csv", "-o", folder + "/report.html", folder + "/samples.ndjson"], check=True)
for session in csv.DictReader(open(folder + "/sessions.csv")):
    counted[session["source"].split("/s/")[1].split("/")[0]] += int(session["stalls"])
wrong = {name for name in state if counted[name] != state[name]["rebuffers"]}
for name in sorted(wrong):
    print(f"  {name}: the report counts {counted[name]} stalls, the dashboard {state[name]['rebuffers']}")
print(f"{'WRONG' if wrong else 'ok'}: the report and the dashboard agree in the stalls of {len(state) - len(wrong)} of {len(state)} streams")
status |= bool(wrong)
finish(int(status))
