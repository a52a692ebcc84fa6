#!/usr/bin/env python3
"""Runs the monitor for long over many streams of this machine, and plots its memory, threads, open files and the time of a scrape.

The streams come from one test origin. The fleet `mixed` plays a quarter of its streams without a pause, samples the others, and has a tenth that
does not exist, so that failures and their back-off are part of the run; the fleet `continuous` plays all streams at 1 Mbit/s without a pause, with
an open dashboard. `/metrics` is scraped every five seconds. Writes samples.csv and soak.svg, and exits with 1 if the memory in the last
quarter differs from that of the second quarter by more than the tolerance.

Usage: scripts/soak-monitor.py [--streams 200] [--seconds 3600] [--fleet mixed|continuous] [--tolerance PERCENT] [--bin .build/programs] [--out soak]
"""
import argparse, csv, http.client, os, signal, subprocess, sys, threading, time, urllib.request
from local_servers import free_port, page, wait_for

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--streams", type=int, default=200)
arguments.add_argument("--seconds", type=int, default=3600)
arguments.add_argument("--fleet", choices=["mixed", "continuous"], default="mixed")
arguments.add_argument("--tolerance", type=float, default=20, help="difference of the memory, in percent")
arguments.add_argument("--bin", default=".build/programs")
arguments.add_argument("--out", default="soak")
options = arguments.parse_args()
os.makedirs(options.out, exist_ok=True)
out = os.path.abspath(options.out)


def keep_dashboard_open(port, ended):
    """Reads the dashboard's events until the monitor ends."""
    try:
        events = urllib.request.urlopen(f"http://127.0.0.1:{port}/events", timeout=600)
        while events.read1(65536):
            pass
    except (OSError, http.client.HTTPException) as error:
        if not ended.is_set():
            print(f"the stream of events broke: {error}", file=sys.stderr)


origin, listen = free_port(), free_port()
first = subprocess.Popen([options.bin + "/test-origin", "--port", str(origin)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wait_for(origin, "/")
lines = ["defaults: { every: 1m, for: 20s }", "streams:"]
for number in range(options.streams):
    if options.fleet == "continuous":
        # The variant of 1,050 kbit/s.
        path, more = "live/ts/v1.m3u8", ", continuous: true"
    else:
        path = "missing.m3u8" if number % 10 == 9 else "live/ts/master.m3u8"
        more = ", continuous: true" if number % 4 == 0 else ""
    lines.append(f'  - {{ name: s{number:05}, url: "http://127.0.0.1:{origin}/s/s{number}/{path}", checks: {{ stale: 1.5x }}{more} }}')
lines += ["alerts:", "  - { name: down, when: up == 0 over 5m, to: none }", 'notify: { none: { webhook: "http://127.0.0.1:1/" } }']
open(out + "/monitor.yaml", "w").write("\n".join(lines) + "\n")
log = open(out + "/monitor.log", "w")
monitor = subprocess.Popen(
    [options.bin + "/player-monitor", "watch", "--dry-run", "--listen", f"127.0.0.1:{listen}", "--state", out + "/state", out + "/monitor.yaml"],
    stdout=log, stderr=log,
)
rows, ended = [], threading.Event()
try:
    wait_for(listen, "/healthz")
    if options.fleet == "continuous":
        threading.Thread(target=keep_dashboard_open, args=(listen, ended), daemon=True).start()
    begin = time.time()
    while time.time() - begin < options.seconds and monitor.poll() is None:
        scrape = time.time()
        text = page(listen, "/metrics").decode()
        taken = time.time() - scrape
        value = lambda name: next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " ")), 0.0)
        rows.append({
            "seconds": round(time.time() - begin), "memory": value("process_resident_memory_bytes") / 2**20, "threads": value("process_threads"),
            "files": value("process_open_fds"), "sessions": value("instrument_monitor_sessions"), "scrape": taken * 1000, "page": len(text) / 1024,
        })
        time.sleep(max(0, 5 - (time.time() - scrape)))
except KeyboardInterrupt:
    pass
finally:
    ended.set()
    monitor.send_signal(signal.SIGTERM)
    status = monitor.wait(90)
    first.terminate()
    first.wait()

with open(out + "/samples.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
plots, height = [("memory", "resident memory, MiB"), ("threads", "threads"), ("files", "open files"), ("sessions", "sessions"), ("scrape", "time of a scrape, ms")], 120
drawn = []
for index, (key, title) in enumerate(plots):
    values, top = [row[key] for row in rows], max(max(row[key] for row in rows), 1)
    points = " ".join(f"{60 + 700 * row['seconds'] / max(1, rows[-1]['seconds']):.1f},{index * height + 105 - 80 * row[key] / top:.1f}" for row in rows)
    drawn.append(f'<text x="60" y="{index * height + 18}">{title}: last {values[-1]:.1f}, at most {max(values):.1f}</text><polyline points="{points}"/>')
open(out + "/soak.svg", "w").write(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height * len(plots) + 20}" font-family="sans-serif" font-size="13">'
    "<style>polyline{fill:none;stroke:#1f5fa8;stroke-width:1.5}</style><rect width=\"100%\" height=\"100%\" fill=\"white\"/>" + "".join(drawn) + "</svg>\n"
)
quarter = max(1, len(rows) // 4)
mean = lambda part: sum(row["memory"] for row in part) / max(1, len(part))
early, late = mean(rows[quarter:2 * quarter]), mean(rows[-quarter:])
median = sorted(row["scrape"] for row in rows)[len(rows) // 2]
change = (late / early - 1) * 100
print(f"{options.streams} streams for {rows[-1]['seconds']} s: memory {early:.1f} MiB in the second quarter, {late:.1f} MiB in the last ({change:+.1f} %);"
      f" threads at most {max(row['threads'] for row in rows):.0f}; scrape {median:.0f} ms (median), page {rows[-1]['page']:.0f} KiB; exit code {status}")
print(f"plot: {out}/soak.svg")
sys.exit(1 if abs(change) > options.tolerance or status != 0 else 0)
