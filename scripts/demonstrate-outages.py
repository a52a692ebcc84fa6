#!/usr/bin/env python3
"""The monitor's demonstration of outages: how soon an on-call engineer learns of each, in which words, and how soon it is over.

Two CDNs, of which one has two hosts, serve live streams of one test origin. One after another, one stream is gone, a whole CDN answers 503 while
the monitor is restarted, the other CDN answers 500 while the monitor is killed, the monitor's own network gives no answer, and a CDN returns too
slowly to play. The script verifies that each outage is one incident, of its streams alone, with the right first cause, one message at its begin and one at its
end, that the incident lasts as long as viewers are in trouble, and that nothing else is an incident. It prints a table of the times, and exits with 1 otherwise.

Usage: scripts/demonstrate-outages.py [--only NAME] [--streams 12] [--bin .build/programs]
"""
import argparse, datetime, http.client, http.server, json, os, re, signal, threading, time
from demonstration import Hook, answers, finish, folder, messages, serve, start, verify
from local_servers import free_port

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--only", default="", help="the outages whose name contains this text")
arguments.add_argument("--streams", type=int, default=12)
arguments.add_argument("--bin", default=".build/programs")
options = arguments.parse_args()
# The longest time that an outage, or its end, may take to be seen.
PATIENCE = 300
# The segments of the variant that is played have about this many bytes a second.
REAL_TIME = 35_000


class Fault:
    """What an edge does in place of its work; `released` ends the requests that wait."""

    def __init__(self, status=None, is_silent=False, share=None, stream=None):
        self.status, self.is_silent, self.share, self.stream = status, is_silent, share, stream
        self.released = threading.Event()

    def concerns(self, path):
        return self.stream is None or f"/{self.stream}/" in path


def edge(host):
    """A server of a CDN: gives what the origin has, unless `fault` says something else."""

    class Edge(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        fault = None

        def do_GET(self):
            fault = Edge.fault if Edge.fault and Edge.fault.concerns(self.path) else None
            if fault and fault.is_silent:
                self.close_connection = True
                fault.released.wait()
                return
            if fault and fault.status:
                self.answer(fault.status, "text/plain", b"")
                return
            upstream = http.client.HTTPConnection("127.0.0.1", origin, timeout=30)
            try:
                upstream.request("GET", self.path)
                answer = upstream.getresponse()
                self.answer(answer.status, answer.headers["Content-Type"], answer.read(), fault)
            finally:
                upstream.close()

        def answer(self, status, kind, body, fault=None):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            size = len(body)
            if fault and fault.share and self.path.endswith(".ts"):
                size = max(1, int(REAL_TIME * fault.share / 10))
            for begin in range(0, len(body), max(1, size)):
                self.wfile.write(body[begin:begin + size])
                if size < len(body):
                    fault.released.wait(0.1)

        def log_message(self, *_):
            pass

    return Edge, serve(Edge, host).server_address


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def incidents():
    return json.loads(answers(listen, "/api/incidents"))["incidents"]


def rows():
    return json.loads(answers(listen, "/api/state"))["streams"]


def within(condition, seconds=PATIENCE):
    """The first value of the condition that is true, or its last."""
    end = time.time() + seconds
    while not (value := condition()) and time.time() < end:
        time.sleep(0.25)
    return value


origin = free_port()
start("origin", [options.bin + "/test-origin", "--port", str(origin)])
answers(origin)
edges = {host: edge(host) for host in ("127.0.0.2", "127.0.0.3", "127.0.0.4")}
HOSTS = {"alpha": ["127.0.0.2", "127.0.0.3"], "beta": ["127.0.0.4"]}
fleet, lines = {"alpha": [], "beta": []}, ["defaults: { continuous: true }", "streams:"]
for number in range(options.streams):
    cdn = "beta" if number % 3 == 2 else "alpha"
    name, hosts = f"{cdn}-{len(fleet[cdn])}", HOSTS[cdn]
    host, port = edges[hosts[len(fleet[cdn]) % len(hosts)]][1]
    fleet[cdn].append(name)
    lines.append(f'  - {{ name: {name}, url: "http://{host}:{port}/s/{name}/live/ts/v0.m3u8", labels: {{ cdn: {cdn} }} }}')
everything = fleet["alpha"] + fleet["beta"]
hook = serve(Hook)
lines += ["alerts:"] + [f"  - {{ name: {name}, when: '{condition}', to: ops }}" for name, condition in [
    ("down", "up == 0"), ("stalls", "rebuffer_seconds > 3s over 1m"), ("errors", "error_ratio > 50% over 1m")]]
# Outages here come one soon after another, and each is another incident.
lines += ["incidents: { reopen: 1s }", f'notify: {{ ops: {{ webhook: "http://127.0.0.1:{hook.server_address[1]}/" }} }}']
configuration = os.path.join(folder, "monitor.yaml")
open(configuration, "w").write("\n".join(lines) + "\n")
listen = free_port()
watch = [options.bin + "/player-monitor", "watch", "--listen", f"127.0.0.1:{listen}", "--state", folder + "/state", configuration]
monitor = start("monitor", watch)


def restart(how):
    """Ends the monitor, and starts it again."""
    global monitor
    monitor.send_signal(how)
    monitor.wait(60)
    time.sleep(3)
    monitor = start("monitor", watch)


def fail(hosts, **fault):
    """Makes a fault of some hosts; ends the one before."""
    for host in hosts:
        handler, before = edges[host][0], edges[host][0].fault
        handler.fault = Fault(**fault) if fault else None
        if before:
            before.released.set()


# Name, the hosts and the streams that fail, the fault, the words of the cause and its kind, the restart in the middle, and the fault at the end.
OUTAGES = [
    ("one stream is gone", HOSTS["alpha"], ["alpha-1"], {"status": 404, "stream": "alpha-1"}, r"404 Not Found", "http", None, None),
    ("a whole CDN, two hosts; the monitor is restarted", HOSTS["alpha"], fleet["alpha"], {"status": 503}, r"503 Service Unavailable", "http", signal.SIGTERM, None),
    ("a whole CDN; the monitor is killed", HOSTS["beta"], fleet["beta"], {"status": 500}, r"500 Internal Server Error", "http", signal.SIGKILL, None),
    ("the monitor's own network", list(edges), everything, {"is_silent": True}, r"own network", "network", None, None),
    ("a CDN that returns at half of real time", HOSTS["beta"], fleet["beta"], {"status": 502}, r"502 Bad Gateway", "http", None, {"share": 0.5}),
]
OUTAGES = [outage for outage in OUTAGES if options.only in outage[0]]
table = []


def run(name, hosts, streams, fault, words, kind, how, slow):
    known, before = {incident["id"] for incident in incidents()}, len(messages)
    new = lambda: [incident for incident in incidents() if incident["id"] not in known]
    begun = time.time()
    fail(hosts, **fault)
    found = within(new)
    seen = time.time() - begun
    if not found:
        verify(False, f"{name}: no incident within {PATIENCE} s")
        fail(hosts)
        return
    if how:
        within(lambda: set(new()[0]["streams"]) == set(streams))
        restart(how)
    # The whole outage is known, and a person has the message.
    within(lambda: {row["name"] for row in rows() if row["up"] is False} == set(streams))
    within(lambda: len(messages) > before)
    if slow:
        fail(hosts, **slow)
        time.sleep(60)
        troubled = {row["name"] for row in rows() if row["state"] in ("down", "stalled")}
        verify(all(incident["state"] == "open" for incident in new()), f"{name}: the incident is open while {len(troubled)} streams do not play in real time")
    ended = time.time()
    fail(hosts)
    within(lambda: all(row["state"] == "playing" for row in rows()))
    playing = time.time() - ended
    within(lambda: all(incident["state"] == "closed" for incident in new()))
    closed = time.time() - ended
    # A message about the end comes at once; anything else that was to be sent would come within `group_wait`.
    within(lambda: any(message["kind"] == "closes" for _, message in messages[before:]), 30)
    time.sleep(12)
    all_found = [incident for incident in new() if incident["kind"] == kind and re.search(words, incident["title"])]
    verify(len(all_found) == len(new()) == 1, f"{name}: one incident, '{new()[0]['title']}' ({', '.join(sorted(i['title'] for i in new()))})")
    incident = new()[0]
    verify(set(incident["streams"]) == set(streams), f"{name}: its streams and no others ({len(incident['streams'])} of {len(streams)})")
    kinds = [(message["kind"], instant - begun) for instant, message in messages[before:]]
    verify([kind for kind, _ in kinds if kind != "changes"] == ["opens", "closes"], f"{name}: one message at its begin and one at its end ({', '.join(kind for kind, _ in kinds)})")
    told = next((instant for kind, instant in kinds if kind == "opens"), float("nan"))
    verify(abs(at(incident["since"]) - begun) < 60 and incident["state"] == "closed", f"{name}: since {at(incident['since']) - begun:+.0f} s, closed {closed:.0f} s after the end")
    table.append((name, len(streams), incident["title"], at(incident["since"]) - begun, seen, told, playing, closed))


answers(listen, "/healthz")
verify(within(lambda: all(row["state"] == "playing" for row in rows())), f"{options.streams} streams play")
time.sleep(70)
verify(not incidents() and not messages, "a quiet minute has no incident and no message")
for outage in OUTAGES:
    run(*outage)
    # The windows of the conditions forget the outage.
    time.sleep(70)
verify(len(incidents()) == len(table), f"{len(table)} outages, {len(incidents())} incidents")
print("\n| outage | streams | the incident | its begin | on the page | message | plays again | closed |\n|---|---|---|---|---|---|---|---|")
for name, count, title, since, seen, told, playing, closed in table:
    print(f"| {name} | {count} | {title} | {since:.1f} s | {seen:.1f} s | {told:.1f} s | {playing:.1f} s | {closed:.1f} s |")
finish()
