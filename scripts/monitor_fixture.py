"""The dashboard's page with fixed data, for the scripts that look at it: the page's own files, as the program composes them, and a monitor's documents."""
import base64, datetime, hashlib, http.server, json, math, pathlib, re, struct, threading, urllib.parse, zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Sources/Monitor/Runtime/Page"
# In the order of the program.
SCRIPTS = re.findall(r"PackageResources\.(\w+)_js", (ROOT / "Sources/Monitor/Runtime/DashboardPage.swift").read_text())
# When the fixed data are from.
NOW = datetime.datetime(2026, 11, 26, 22, 4, 10, tzinfo=datetime.timezone.utc)
PLAYLIST = """#EXTM3U
#EXT-X-VERSION:3
#EXT-X-TARGETDURATION:6
#EXT-X-MEDIA-SEQUENCE:398
#EXTINF:6,
398.ts?…
#EXTINF:6,
399.ts?…
#EXTINF:6,
400.ts?…
"""


def picture(width=320, height=180):
    """A black PNG."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(width) for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def evidence(rule, seconds, *kinds):
    """Pieces of a finding of `studio`."""
    texts = {"picture": "The black picture, reduced to 320 × 180 pixels", "playlist": "https://cdn-a.example/studio/v1.m3u8, read at 21:50:09 UTC",
             "segment": "https://cdn-a.example/studio/v1/400.ts, the first 64 KiB of 310 kB"}
    return [{"id": f"{rule}-{kind}", "stream": "studio", "kind": kind, "rule": rule, "time": ago(seconds), "text": texts[kind], "bytes": 65_536, "href": f"/api/evidence/{kind}"} for kind in kinds]


def document():
    """The page and its content security policy."""
    style = (ROOT / "Sources/Support/PageDesign/tokens.css").read_text() + (PAGE / "dashboard.css").read_text()
    script = "".join((PAGE / f"{name}.js").read_text() for name in SCRIPTS)
    digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    html = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Instrument monitor</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f'<style>{style}</style>\n</head>\n{(PAGE / "dashboard.html").read_text()}<script>{script}</script>\n</html>\n'
    )
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; connect-src 'self'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return html.encode(), policy


def ago(seconds):
    return (NOW - datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def after(seconds):
    return ago(-seconds)


def bars(played, impaired=0, down=0, unknown=0):
    return [0] * unknown + [1] * played + [2] * impaired + [3] * down


def row(name, state="playing", cdn="alpha", channel=None, since=7200, **more):
    base = {
        "name": name, "state": state, "up": state != "down", "labels": {"cdn": cdn, "channel": channel or name.split("-")[0], "isp": "telia"},
        "address": f"https://cdn-{cdn[0]}.example/{name}/master.m3u8", "startup": 455, "rebuffers": 0, "rebuffering": 0, "playing": 6_820_000,
        "rebufferRatio": 0.0, "errors": 0, "sessions": 12, "failures": 0, "broken": [], "bars": bars(30), "stateSince": ago(since), "age": 1900,
    }
    if state in ("playing", "impaired", "stalled"):
        base |= {"bitrate": 997_000, "latency": 11_600, "buffer": 12_100}
    return base | more


def broken(name, seconds, next_try, resource="playlist"):
    return row(
        name, "down", since=seconds - 9, failures=9, errors=9, startup=None, rebufferRatio=None, bars=bars(30 - seconds // 60 - 1, 1, seconds // 60), nextTry=after(next_try),
        error={"code": "httpStatus", "message": "status 503 for master.m3u8", "time": ago(seconds)},
        cause={"kind": "http", "title": "503 Service Unavailable", "status": 503, "host": "cdn-a.example", "resource": resource, "since": ago(seconds),
               "text": "master.m3u8 and v1.m3u8 from cdn-a.example answer 503; the buffer ran empty 9 s later."},
    )


def troubled():
    return [
        broken("news-hd", 726, 12), broken("news-fmp4", 721, 4), broken("movies", 718, 21), broken("kids", 662, 8, "segment"),
        row("studio", "impaired", since=845, bars=bars(16, 14), broken=["black", "silence"], startup=38, latency=16_000,
            cause={"kind": "check", "title": "Black picture and silence", "text": "The picture is black and the sound below -60 LUFS; both are kept as evidence.", "since": ago(845)}),
        row("film-fmp4", startup=271, latency=None, title="The Long Night"), row("sport-1"),
        row("sport-3", "stalled", "beta", since=24, startup=29, rebuffers=9, rebuffering=1_214_000, rebufferRatio=0.178, latency=23_800, buffer=0, bars=bars(22, 3) + [1, 1] + bars(0, 3),
            cause={"kind": "stalled", "title": "Segments arrive at 0.6 × real time", "host": "cdn-b.example", "resource": "segment", "text": "v1/412.ts has taken 21 s so far, 84 of 310 kB.", "since": ago(1440)}),
        row("sport-2", cdn="beta", startup=51, rebufferRatio=0.0042, latency=12_100, bars=bars(12) + [2] + bars(17)),
        row("film-ondemand", "waiting", "beta", startup=104, nextTry=after(40), bars=bars(9) + [0] * 3 + bars(18)),
        row("arte", cdn="beta", channel="culture", startup=188, bitrate=2_500_000, latency=9_400, bars=bars(26, unknown=4)),
        row("radio-1", "starting", "beta", since=2, startup=None, rebufferRatio=None, bars=bars(0, unknown=30)),
    ]


def healthy(count):
    return [row(f"channel-{number:03}", cdn=["alpha", "beta", "gamma"][number % 3], channel=f"group{number % 7}", startup=180 + number * 7 % 900,
                bitrate=400_000 + number * 37_000 % 5_600_000, latency=4_000 + number * 331 % 20_000) for number in range(count)]


def mixed(count):
    rows = healthy(count)
    for number in range(0, count, 23):
        rows[number] = broken(rows[number]["name"], 300 + number, 10)
    for number in range(7, count, 31):
        rows[number] = row(rows[number]["name"], "stalled", "beta", since=40, bars=bars(28, 2), rebufferRatio=0.05)
    return rows


def placed(origin, place, state="playing", **more):
    """A stream that the monitor of a place plays."""
    base = broken(origin, 726, 12) if state == "down" else row(origin, state, **more)
    base["labels"] = base["labels"] | {"location": place}
    if state == "down":
        # When the next session begins, the monitor of the place knows.
        del base["nextTry"]
    if state == "unknown":
        base |= {"up": None, "stateSince": ago(252), "bars": bars(26, unknown=0) + [0] * 4}
    return base | {"name": f"{origin} ({place})", "origin": origin, "place": place}


def of_places():
    """Six streams as three places see them: one fails from one place, one from all, and a place is silent."""
    rows = []
    for place, state, startup in (("oslo", "playing", 455), ("paris", "playing", 210), ("rome", "unknown", 320)):
        rows += [
            placed("news-hd", place, "down" if place == "oslo" else state), placed("sport-1", place, state, startup=startup),
            placed("movies", place, "down" if state == "playing" else state), placed("arte", place, state, cdn="beta", startup=startup - 120),
            placed("kids", place, state, startup=startup + 44),
        ]
    rows.append(placed("sport-3", "paris", "stalled", cdn="beta", since=24, startup=29, rebuffers=9, rebuffering=1_214_000, rebufferRatio=0.178, latency=23_800, buffer=0, bars=bars(22, 8),
                       cause={"kind": "stalled", "title": "Segments arrive at 0.6 × real time", "host": "cdn-b.example", "resource": "segment", "text": "v1/412.ts has taken 21 s so far.", "since": ago(1440)}))
    rows.append(placed("sport-3", "oslo", cdn="beta", startup=51))
    return rows


PLACES = [
    {"name": "oslo", "state": "reports", "latest": ago(2), "streams": 6, "down": 2, "samples": 41_322, "refused": {}},
    {"name": "paris", "state": "reports", "latest": ago(1), "streams": 6, "down": 1, "samples": 40_871, "refused": {"rival": 12, "late": 3}},
    {"name": "rome", "state": "silent", "latest": ago(252), "streams": 5, "down": 0, "samples": 22_140, "refused": {}},
]
SOURCE = {"caughtUp": True, "samples": 104_333, "refused": {"rival": 12, "late": 3, "unnamed": 40}}
seen = lambda oslo, paris, rome="silent": [{"name": name, "state": state} for name, state in (("oslo", oslo), ("paris", paris), ("rome", rome))]
SEEN_INCIDENTS = [
    {"id": "p1", "title": "Playlist: 503 Service Unavailable, everywhere (2 of 2 places; nothing is known from rome)", "severity": "critical", "state": "open", "since": ago(718),
     "streams": ["movies (oslo)", "movies (paris)"], "streamCount": 2, "failing": 2, "labels": {"cdn": "alpha"}, "host": "cdn-a.example", "viewerMinutes": 23.9, "alerts": ["down"], "evidence": [],
     "text": "master.m3u8 from cdn-a.example answers 503.", "places": seen("failing", "failing"), "scope": "everywhere (2 of 2 places; nothing is known from rome)"},
    {"id": "p2", "title": "Playlist: 503 Service Unavailable, from oslo only (1 of 2 places; nothing is known from rome)", "severity": "critical", "state": "acknowledged", "by": "Ana", "until": after(3350),
     "since": ago(726), "streams": ["news-hd (oslo)"], "streamCount": 1, "failing": 1, "labels": {"cdn": "alpha", "location": "oslo"}, "host": "cdn-a.example", "viewerMinutes": 12.1, "alerts": ["down"],
     "evidence": [], "text": "master.m3u8 from cdn-a.example answers 503; the buffer ran empty 9 s later.", "places": seen("failing", "fine"), "scope": "from oslo only (1 of 2 places; nothing is known from rome)"},
    {"id": "p3", "title": "No samples from rome since 21:59:58 UTC", "severity": "warning", "state": "open", "since": ago(252), "streams": ["place rome"], "streamCount": 1, "failing": 1,
     "labels": {"location": "rome"}, "alerts": ["silence"], "evidence": [], "text": "The monitor in rome has sent nothing since 21:59:58 UTC. Its streams are in no known state: look at that monitor, its machine and its network."},
]


INCIDENTS = [
    {"id": "i1", "title": "503 Service Unavailable for playlists from cdn=alpha", "severity": "critical", "state": "open", "since": ago(726), "ended": None,
     "streams": ["news-hd", "news-fmp4", "movies", "kids"], "streamCount": 4, "labels": {"cdn": "alpha"}, "host": "cdn-a.example",
     "text": "Playlists of cdn-a.example answer 503; four streams play nothing.", "viewerMinutes": 46.4, "alerts": ["down", "errors", "stalls"],
     "changes": [{"time": ago(741), "kind": "server", "text": "cdn-a.example answers from 203.0.113.9, before from 203.0.113.5", "streams": 4},
                 {"time": ago(1_020), "kind": "playlist", "text": "target duration: 4 s, before 6 s", "streams": 2},
                 {"time": ago(1_320), "kind": "configuration", "text": "the monitor uses a new configuration"}],
     "evidence": [{"id": "e1", "stream": "news-hd", "kind": "request", "time": ago(726), "text": "curl -sv -o /dev/null 'https://cdn-a.example/news-hd/master.m3u8'", "href": "/api/evidence/request"},
                  {"id": "e2", "stream": "news-hd", "kind": "playlist", "time": ago(724), "text": "https://cdn-a.example/news-hd/v1.m3u8, read at 21:52:01 UTC", "href": "/api/evidence/playlist"}]},
    {"id": "i2", "title": "studio: black picture and silence", "severity": "warning", "state": "acknowledged", "since": ago(845), "streams": ["studio"], "streamCount": 1,
     "labels": {"channel": "studio"}, "by": "Ana", "until": after(3350), "note": "the studio knows", "text": "The picture is black and the sound below -60 LUFS.", "alerts": ["black"],
     "evidence": evidence("black", 840, "picture", "playlist", "segment")},
    {"id": "i3", "title": "sport-3 stalls: segments arrive at 0.6 × real time from cdn=beta", "severity": "warning", "state": "silenced", "since": ago(1440), "streams": ["sport-3"],
     "streamCount": 1, "labels": {"cdn": "beta"}, "until": after(5000), "by": "Bo", "hiddenBy": "s1", "text": "9 stalls, 17.8 % of the time.", "alerts": ["stalls"], "evidence": []},
    {"id": "i4", "title": "404 Not Found for segments of arte", "severity": "critical", "state": "closed", "since": ago(9_000), "ended": ago(8_100), "streams": ["arte"], "streamCount": 1,
     "labels": {"cdn": "beta"}, "alerts": ["down"], "text": "", "evidence": []},
]
LEDGERS = [{"name": "samples", "emitted": 81_322, "acknowledged": 81_290, "queued": 32, "dead": 0, "dropped": 0}]
MONITOR = {"streams": 12, "sessions": 10, "reloads": 1, "configurationValid": True, "delayedStarts": 0, "delay": 3}
OBJECTIVES = [{"name": "watchable", "goal": 0.999, "value": 0.9921, "budgetLeft": 0.31, "days": 30}, {"name": "start within 2 s", "goal": 0.99, "value": 0.9964, "budgetLeft": 0.64, "days": 30}]
AUDIT = [
    {"time": ago(300), "by": "Ana", "action": "maintenance", "target": "w2", "text": "cdn=\"beta\" from 2026-11-27T06:24:10.000Z until 2026-11-27T10:24:10.000Z: move of the origin"},
    {"time": ago(550), "by": "Bo", "action": "silence", "target": "s1", "text": "stream=\"sport-3\" until 2026-11-26T23:27:30.000Z: the provider works on it"},
    {"time": ago(755), "by": "Ana", "action": "acknowledge", "target": "i2", "text": "for 3600 s: the studio knows"},
]
MAINTENANCE = [
    {"id": "w1", "kind": "maintenance", "name": "encoder updates", "matchers": [{"label": "channel", "value": "news"}], "ends": after(7_000), "isConfigured": True},
    {"id": "w2", "kind": "maintenance", "name": "move of the origin", "matchers": [{"label": "cdn", "value": "beta"}], "begins": after(30_000), "ends": after(44_400), "by": "Ana"},
]
SILENCES = [{"id": "s1", "kind": "silence", "matchers": [{"label": "stream", "value": "sport-3"}], "ends": after(5000), "by": "Bo", "reason": "the provider works on it"}]


def state(name):
    """The whole state of one of the fixed situations."""
    base = {"time": ago(0), "alerts": [], "backends": LEDGERS, "monitor": dict(MONITOR), "incidents": [], "silences": [], "objectives": [], "maintenance": [], "upToday": 0.9921, "role": "act"}
    if name == "empty":
        return base | {"streams": []}
    if name == "well":
        return base | {"streams": healthy(12), "objectives": [{"name": "watchable", "goal": 0.999, "value": 0.9997, "budgetLeft": 0.7, "days": 30}]}
    if name == "banner":
        base["monitor"] |= {"configurationValid": False, "configurationProblemCount": 2, "configurationProblems": [
            {"file": "monitor.yaml", "line": 12, "column": 5, "message": "'rebufer_ratio' is no metric; did you mean 'rebuffer_ratio'?"},
            {"file": "streams/sport.yaml", "line": 3, "column": 12, "message": "`url` must be an HTTP address (found 'htp://cdn-b.example/sport.m3u8')."}]}
        return base | {"streams": healthy(12)}
    if name in ("places", "unread", "unplaced"):
        base |= {"backends": [], "source": dict(SOURCE), "places": PLACES, "incidents": SEEN_INCIDENTS, "streams": of_places()}
        if name == "unread":
            base["source"] |= {"failure": "nats: no server of 127.0.0.1:4222 answers", "failingSince": ago(31)}
        if name == "unplaced":
            base |= {"places": [], "incidents": [], "streams": [], "source": {"caughtUp": False, "samples": 0, "refused": {}}}
        return base
    if name in ("many", "thousand"):
        rows = mixed(200 if name == "many" else 1000)
        return base | {"streams": rows, "incidents": [INCIDENTS[0] | {"streams": [row["name"] for row in rows if row["state"] == "down"], "streamCount": 9}]}
    return base | {"streams": troubled(), "incidents": INCIDENTS, "objectives": OBJECTIVES, "silences": SILENCES, "maintenance": MAINTENANCE}


def incident(name):
    """One incident with its streams and its log; None for an unknown identifier."""
    known = next((incident for incident in INCIDENTS + SEEN_INCIDENTS if incident["id"] == name), None)
    if known is None:
        return None
    begin = int((NOW - datetime.datetime.fromisoformat(known["since"].replace("Z", "+00:00"))).total_seconds())
    members = [{"stream": stream, "address": f"https://cdn-a.example/{stream}/master.m3u8", "since": ago(begin - 20 * index), "alerts": known["alerts"], "labels": {}}
               for index, stream in enumerate(known["streams"])]
    if "places" in known:
        members = [member | {"place": member["stream"].rpartition(" (")[2].rstrip(")")} for member in members]
    if known["state"] == "closed":
        members = [member | {"ended": known["ended"]} for member in members]
    log = [{"time": ago(begin), "kind": "open", "text": "opens: " + known["title"]}]
    log += [{"time": ago(begin - 20 * index), "kind": "stream", "text": stream + " joins"} for index, stream in enumerate(known["streams"])]
    log += [{"time": ago(begin - 30), "kind": "message", "text": "the message was sent to ops"}]
    if known.get("by"):
        log += [{"time": ago(begin - 90), "kind": known["state"], "text": f"{known['by']} takes the incident: {known.get('note', '')}".rstrip(": ")}]
    return known | {"members": members, "log": sorted(log, key=lambda entry: entry["time"])}


def detail(rows, name):
    """One stream with its course; None for an unknown name."""
    known = next((row for row in rows if row["name"] == name), None)
    if known is None:
        return None
    minute = int(NOW.timestamp()) // 60
    minutes = []
    for index in range(60):
        kind = ([1] * 30 + known["bars"])[index]
        minutes.append({"minute": minute - 59 + index, "playing": [0, 60_000, 41_000, 0][kind], "rebuffering": 19_000 if kind == 2 else 0, "errors": 3 if kind == 3 else 0,
                        "bitrate": 997 if kind == 1 else 400 if kind == 2 else 0, "startup": 0, "latency": 11_600 + 40 * (index % 7) if kind in (1, 2) else 0,
                        "buffer": int(11_000 + 1_900 * math.sin(index * 1.7)) if kind == 1 else 3_000 if kind == 2 else 0, "down": kind == 3})
    quarter = minute - minute % 15
    quarters = [{"minute": quarter - 15 * (95 - index), "playing": 900_000 if index < 95 else 200_000, "rebuffering": 12_000 if index % 31 == 5 else 0, "errors": 0,
                 "bitrate": 997, "startup": 0, "latency": 11_600, "buffer": 12_000 - 100 * (index % 9), "down": index == 95 and known["state"] == "down"} for index in range(96)]
    base, requests, begin = known["address"].rsplit("/", 1)[0], [], 738.0
    for number, (kind, path, wait, receive, size) in enumerate(
        [("playlist", "master.m3u8", 40, 60, 812), ("playlist", "v1.m3u8", 38, 44, 690), ("segment", "v1/398.ts", 160, 380, 310_000), ("segment", "v1/399.ts", 150, 350, 308_400),
         ("playlist", "v1.m3u8", 41, 52, 690), ("segment", "v1/400.ts", 210, 3_470, 311_000), ("playlist", "v1.m3u8", 33, 3, 153), ("playlist", "master.m3u8", 31, 3, 153),
         ("playlist", "v1.m3u8", 35, 2, 153)]):
        failed = number > 5 and known["state"] == "down"
        requests.append({"time": ago(begin - (wait + receive) / 1000), "begin": ago(begin), "kind": kind, "status": 503 if failed else 200, "failed": failed, "ms": wait + receive,
                         "wait": wait, "bytes": size, "address": f"{base}/{path}"})
        begin -= (wait + receive) / 1000 + 0.6
    checks = [{"rule": "bandwidth-exceeded", "broken": False, "count": 3, "since": ago(5_000), "message": "Segments of v1.m3u8 have at most 1,204 kbit/s; BANDWIDTH is 997,000.", "evidence": []}]
    if known["broken"]:
        checks += [{"rule": rule, "broken": True, "count": 14, "since": ago(845), "message": {"black": "The picture is black for 845 s, from 12 s after the first decoded media."}.get(rule, "The sound is silent for 845 s, from 12 s after the first decoded media."),
                   "evidence": evidence(rule, 840, *(["picture"] if rule == "black" else []), "playlist", "segment")} for rule in known["broken"]]
    log = [{"time": ago(seconds), "kind": kind, "text": text} for seconds, kind, text in [
        (3_000, "session", "session 11 begins"), (2_999, "start", "first picture after 365 ms"), (726, "error", "503 Service Unavailable for master.m3u8"),
        (717, "stall", "stalled: the buffer is empty"), (660, "alert", "alert down fires")]]
    return known | {"minutes": minutes, "quarters": quarters, "requests": requests, "checks": checks, "log": log, "loudness": -23.1, "upToday": 0.9917 if known["state"] == "down" else 1, "hiding": SILENCES if name == "sport-3" else []}


class Fixture:
    """Serves the page over one of the situations, on the loopback address; `update` sends an update to the pages that listen."""

    def __init__(self, situation):
        self.state = state(situation)
        self.sinks, self.lock, self.posted, self.refusal = [], threading.Lock(), [], None
        fixture = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def answer(self, status, kind, body, headers={}):
                self.send_response(status)
                for key, value in {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store", **headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                if url.path == "/":
                    html, policy = document()
                    self.answer(200, "text/html; charset=utf-8", html, {"Content-Security-Policy": policy})
                elif url.path == "/api/state":
                    self.answer(200, "application/json", json.dumps(fixture.state).encode())
                elif url.path == "/api/stream":
                    found = detail(fixture.state["streams"], urllib.parse.parse_qs(url.query).get("name", [""])[0])
                    self.answer(200 if found else 404, "application/json", json.dumps(found).encode())
                elif url.path.startswith("/api/incidents/"):
                    found = incident(url.path.rsplit("/", 1)[1])
                    self.answer(200 if found else 404, "application/json", json.dumps(found).encode())
                elif url.path == "/api/audit":
                    self.answer(200, "application/json", json.dumps({"audit": AUDIT}).encode())
                elif url.path == "/api/evidence/picture":
                    self.answer(200, "image/png", picture())
                elif url.path.startswith("/api/evidence/"):
                    self.answer(200, "text/plain; charset=utf-8", PLAYLIST.encode())
                elif url.path == "/events":
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.send_header("Connection", "close")
                    self.end_headers()
                    self.close_connection = True
                    ended = threading.Event()
                    with fixture.lock:
                        self.send_event("state", fixture.state)
                        fixture.sinks.append((self, ended))
                    ended.wait()
                else:
                    self.answer(404, "text/plain", b"nothing is here")

            def send_event(self, name, value):
                self.wfile.write(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode())
                self.wfile.flush()

            def act(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                fixture.posted.append((self.command, self.path, json.loads(body or b"null")))
                refused = fixture.refusal
                self.answer(403 if refused else 200, "text/plain" if refused else "application/json", (refused or "{}").encode())

            do_POST = do_DELETE = act

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *arguments):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def update(self, rows, **more):
        """Sends rows that changed."""
        names = {row["name"]: row for row in rows}
        self.state["streams"] = [names.pop(row["name"], row) for row in self.state["streams"]] + list(names.values())
        value = {key: value for key, value in self.state.items() if key != "streams"} | {"streams": rows, "names": len(self.state["streams"])} | more
        with self.lock:
            for sink in list(self.sinks):
                try:
                    sink[0].send_event("update", value)
                except OSError:
                    # The page was closed.
                    sink[1].set()
                    self.sinks.remove(sink)

    def lose(self):
        """Ends the connections of the pages, and answers no more."""
        self.server.shutdown()
        self.server.server_close()
        with self.lock:
            for handler, ended in self.sinks:
                ended.set()
            self.sinks = []
