#!/usr/bin/env python3
"""Takes the pictures of docs/images: a report of real sessions, and the dashboard of a running monitor (the table, a stream, an incident), in headless Chromium.

Starts a test origin, plays a stream with several profiles at once under bandwidths that stall and that do not, writes their report, watches a few
streams of which one fails, one has a stale playlist and one has too little bandwidth, and keeps a picture of each page. Takes about two
minutes. The pictures show real numbers: they differ from run to run. Where pngquant is installed, it makes the files smaller.

Usage: scripts/picture-documents.py OUT [--bin .build/release] [--seconds 60]    (OUT: a folder, for example docs/images)
"""
import argparse, json, os, shutil, signal, subprocess, tempfile, time
from browser import Browser
from local_servers import free_port, page, wait_for

# Sessions of the origin: each is a link with its schedule.
LINKS = {
    "good": "6000k",
    "fair": "2500k for 15s, 700k for 20s, 2500k",
    "drop": "4000k for 6s, 0 for 14s, 4000k",
    "slow": "260k latency 60ms",
}
WATCHED = """\
defaults: {{ continuous: true }}
streams:
  - {{ name: news, url: "{origin}/s/good/live/ts/master.m3u8", labels: {{ channel: news, cdn: a }}, checks: {{ rules: true, stale: 1.5x }} }}
  - {{ name: news-backup, url: "{origin}/s/fair/live/fmp4/master.m3u8", labels: {{ channel: news, cdn: b }} }}
  - {{ name: sport, url: "{origin}/s/drop/live/dash/number.mpd", labels: {{ channel: sport, cdn: a }} }}
  - {{ name: sport-backup, url: "{origin}/s/slow/live/ts/v1.m3u8", labels: {{ channel: sport, cdn: b }} }}
  - {{ name: film, url: "{origin}/s/good2/vod/ts/master.m3u8", labels: {{ channel: film, cdn: a }} }}
  - {{ name: events, url: "{origin}/s/stale/break/stale/live/ts/master.m3u8", labels: {{ channel: events, cdn: a }}, checks: {{ rules: true, stale: 1.5x }} }}
  - {{ name: film-backup, url: "{origin}/s/gone/vod/gone.m3u8", labels: {{ channel: film, cdn: b }} }}
backends:
  samples: {{ file: "{folder}/samples.ndjson.gz" }}
alerts:
  - {{ name: down, when: up == 0, for: 5s, to: [ops] }}
  - {{ name: stalls, when: 'rebuffer_ratio > 2% over 5m', for: 5s, to: [ops] }}
  - {{ name: stale, when: 'check_failed{{rule="stale"}} > 0', to: [ops] }}
notify:
  ops: {{ webhook: "http://127.0.0.1:9/hook", secret: {{ env: HOOK }} }}
"""

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("out")
arguments.add_argument("--bin", default=os.environ.get("BIN", ".build/release"))
arguments.add_argument("--seconds", type=int, default=60, help="how long streams play before the pictures")
options = arguments.parse_args()
folder = tempfile.mkdtemp(prefix="pictures-")
os.makedirs(options.out, exist_ok=True)


def keep(browser, address, name, ready, height, screen=400):
    """Keeps a picture of the page's top, at most `height` pixels, as on a screen of `screen` pixels."""
    tab, session = browser.open(address)
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=1200, height=screen, deviceScaleFactor=1, mobile=False)
    browser.ask("Emulation.setScrollbarsHidden", session, hidden=True)
    for _ in range(240):
        if browser.value(session, ready):
            break
        time.sleep(0.25)
    else:
        raise SystemExit(f"{name}: the page did not show what the picture is of: {ready}")
    path = os.path.join(options.out, name + ".png")
    browser.picture(session, path, width=1200, height=min(height, browser.value(session, "document.documentElement.scrollHeight")))
    browser.close(tab)
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--skip-if-larger", "--ext", ".png", "128", path], check=False)
    print(f"{path}: {os.path.getsize(path)} bytes")


served, listen = free_port(), free_port()
origin = f"http://127.0.0.1:{served}"
with open(folder + "/scenario.json", "w") as file:
    json.dump({"schedule": "6000k", "sessions": {**LINKS, **{f"{link}-{profile}": text for link, text in LINKS.items() for profile in ("exoplayer", "hlsjs", "avplayer")}}}, file)
with open(folder + "/monitor.yaml", "w") as file:
    file.write(WATCHED.format(origin=origin, folder=folder))
processes, browser = [], None
player_monitor = os.path.abspath(options.bin) + "/player-monitor"
try:
    processes.append(subprocess.Popen(
        [options.bin + "/test-origin", "--port", str(served), "--scenario", folder + "/scenario.json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ))
    wait_for(served, "/")
    log = open(folder + "/monitor.log", "w")
    processes.append(subprocess.Popen(
        [player_monitor, "watch", "--listen", f"127.0.0.1:{listen}", "--dry-run", folder + "/monitor.yaml"], stdout=log, stderr=log,
        env=dict(os.environ, HOOK="secret"),
    ))
    plays, files = [], []
    for profile in ("exoplayer", "hlsjs", "avplayer"):
        files.append(profile + ".ndjson")
        addresses = [f"{origin}/s/{link}-{profile}/{path}" for link in LINKS for path in ("vod/ts/master.m3u8",)]
        if profile == "hlsjs":
            addresses.append(f"{origin}/s/gone/vod/gone.m3u8")
        plays.append(subprocess.Popen([
            player_monitor, "play", "--quiet", "--profile", profile, "--duration", str(options.seconds), "--backend", "file:" + files[-1], "--request-events",
            *addresses,
        ], cwd=folder))
    for play in plays:
        play.wait(options.seconds + 120)
    subprocess.run([player_monitor, "report", *files, "-o", "report.html"], check=True, cwd=folder)
    wait_for(listen, "/healthz")
    browser = Browser(folder + "/profile")
    keep(browser, f"http://127.0.0.1:{listen}/", "dashboard", "document.querySelectorAll('#rows .row .name').length >= 7", 900)
    keep(browser, f"http://127.0.0.1:{listen}/#stream=film-backup", "dashboard-stream", "document.querySelectorAll('#panel .waterfall li').length >= 1", 900, 900)
    incident = next(incident for incident in json.loads(page(listen, "/api/incidents"))["incidents"] if "film-backup" in incident["streams"])
    keep(browser, f"http://127.0.0.1:{listen}/#incident={incident['id']}", "dashboard-incident", "document.querySelectorAll('#panel .log li').length >= 1", 900, 900)
    keep(browser, "file://" + folder + "/report.html", "report", "document.querySelectorAll('svg').length > 0", 900)
finally:
    if browser:
        browser.end()
    for process in reversed(processes):
        process.send_signal(signal.SIGTERM)
        process.wait(120)
shutil.rmtree(folder, ignore_errors=True)
