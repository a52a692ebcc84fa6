#!/usr/bin/env python3
"""Measures the bytes of one reload of a live playlist with a window of three hours, plain and with gzip.

    scripts/measure-reloads.py [--program .build/release/player-monitor] [--hours 3]

Serves the playlist on the loopback address, lets `player-monitor check` reload it, and counts the bytes of the bodies that leave the server.
"""
import argparse
import gzip
import http.server
import subprocess
import threading
import time

SEGMENT = 2
START = 1_700_000_000


def playlist(hours, dated):
    count = hours * 3600 // SEGMENT
    newest = int(time.time() - START) // SEGMENT
    first = newest - count
    lines = ["#EXTM3U", "#EXT-X-VERSION:4", f"#EXT-X-TARGETDURATION:{SEGMENT}", f"#EXT-X-MEDIA-SEQUENCE:{max(0, first)}"]
    for number in range(first, newest):
        if dated:
            date = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(START + number * SEGMENT))
            lines.append(f"#EXT-X-PROGRAM-DATE-TIME:{date}")
        address = f"https://cdn.example/live/v0/{number}.ts?session=0123456789abcdef" if dated else f"v0/{number}.ts"
        lines += [f"#EXTINF:{SEGMENT:.3f},", address]
    return "\n".join(lines + [""]).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = playlist(self.server.hours, "dated" in self.path)
        coded = "gzip" in self.path and "gzip" in self.headers.get("Accept-Encoding", "")
        if coded:
            body = gzip.compress(body, 6)
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.apple.mpegurl")
        self.send_header("Content-Length", str(len(body)))
        if coded:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)
        self.server.sizes.append(len(body))

    def log_message(self, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/player-monitor")
    parser.add_argument("--hours", type=int, default=3)
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.hours = options.hours
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ["plain", "gzip", "plain-dated", "gzip-dated"]:
        server.sizes = []
        address = f"http://127.0.0.1:{server.server_address[1]}/{name}.m3u8"
        subprocess.run([options.program, "check", "--for", "5s", address], stdout=subprocess.DEVNULL, timeout=120)
        average = sum(server.sizes) // max(1, len(server.sizes))
        print(f"{name:12} {average:9,} bytes in each of {len(server.sizes)} reloads")


if __name__ == "__main__":
    main()
