#!/usr/bin/env python3
"""Checks every playlist and MPD of a folder, plays every media file, and compares what was understood with what is expected.

    scripts/run-corpus.py DIR                       prints one line for each file
    scripts/run-corpus.py DIR --write FILE          writes what was understood to FILE, one JSON object for each file and line
    scripts/run-corpus.py DIR --expect FILE         compares with such a file, and says what differs

For the test files of other projects, whose checkouts lie in DIR, and for streams of your own. The script fetches nothing: a server on the
loopback address serves DIR, with ranges, and addresses of other servers in a playlist are refused by a proxy that does not exist. FILE may
be written by hand: only the members that it has are compared. `null` expects that a member is absent.

    {"path": "live/index.m3u8", "outcome": "sound", "kind": "onDemand", "duration": 24, "rules": []}

Exits with 1 if something differs, if a file that is expected is missing, or if the program crashed or did not end in time.
"""
import argparse, concurrent.futures, http.server, json, os, pathlib, re, subprocess, sys, threading, urllib.parse

from local_servers import free_port

MANIFESTS = {".m3u8", ".m3u", ".mpd"}
MEDIA = {".mp4", ".m4a", ".m4v", ".mov", ".ts", ".aac", ".mp3", ".mkv", ".webm", ".ogg", ".flac", ".wav"}
TYPES = {".m3u8": "application/vnd.apple.mpegurl", ".m3u": "application/vnd.apple.mpegurl", ".mpd": "application/dash+xml"}
# Durations and windows are equal if they differ by less, in seconds: of a live stream, "now" differs between two runs.
TOLERANCE = 0.05


class Files(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, with ranges: byte ranges are common in playlists."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            content = pathlib.Path(self.translate_path(self.path)).read_bytes()
        except OSError:
            return self.send_error(404)
        status, extra = 200, {}
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if match:
            first, last = int(match[1]), min(int(match[2] or len(content) - 1), len(content) - 1)
            if first > last:
                return self.send_error(416)
            status, extra = 206, {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
            content = content[first:last + 1]
        self.send_response(status)
        suffix = pathlib.Path(urllib.parse.urlsplit(self.path).path).suffix.lower()
        self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content)))
        for name, value in extra.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def serve(folder):
    handler = lambda *arguments: Files(*arguments, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def understood(report):
    """What two runs have in common: of a check's report, its outcome, the broken rules, and the shape of the stream."""
    stream = report.get("stream") or {}
    renditions = stream.get("renditions", [])
    return {
        "outcome": report["outcome"],
        "reason": report["reason"],
        "format": report["format"],
        "rules": sorted({finding["rule"] for finding in report["findings"]}),
        "kind": stream.get("kind"),
        "duration": stream.get("duration"),
        "variants": len(stream.get("variants", [])),
        "segments": [rendition["segments"] for rendition in renditions],
        "codecs": sorted({codec for item in stream.get("variants", []) + renditions for codec in item["codecs"] or []}),
        "encryption": sorted({method for rendition in renditions for method in rendition["encryption"]}),
    }


def run(arguments, options):
    # A proxy that nothing listens on, for every address but the loopback ones.
    environment = os.environ | {name: "http://127.0.0.1:1" for name in ("http_proxy", "https_proxy", "all_proxy")} | {"no_proxy": "127.0.0.1"}
    try:
        return subprocess.run(
            [options.program, *arguments], capture_output=True, timeout=options.timeout, env=environment, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return None


def examine(path, options, port):
    """What the program says of one file, and what went wrong with the program itself."""
    url = f"http://127.0.0.1:{port}/{urllib.parse.quote(path.as_posix())}"
    result = {"path": path.as_posix()}
    if path.suffix.lower() in MANIFESTS:
        done = run(["check", "--format", "json", "--for", "0", "--segments", str(options.segments), url], options)
    else:
        done = run(["play", "--speed", "max", "--backend", "json", url], options)
    if done is None:
        return result, f"did not end within {options.timeout:g} s"
    if done.returncode < 0 or done.returncode > 2:
        return result, f"ended with the code {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}"
    if path.suffix.lower() not in MANIFESTS:
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
        actions = [event.get("action") for event in events]
        return result | {"outcome": "played" if done.returncode == 0 else "failed", "errors": actions.count("ERROR")}, None
    try:
        return result | understood(json.loads(done.stdout)), None
    except (ValueError, KeyError) as error:
        return result, f"printed no report of a check ({error!r}): {done.stderr.decode(errors='replace').strip()[-300:]}"


def is_equal(found, expected):
    numbers = (int, float)
    if isinstance(found, numbers) and isinstance(expected, numbers) and not isinstance(found, bool):
        return abs(found - expected) < TOLERANCE
    return found == expected


def differences(found, expected):
    for member, value in expected.items():
        if not is_equal(found.get(member), value):
            yield f"{member}: expected {json.dumps(value)}, found {json.dumps(found.get(member))}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", metavar="DIR", type=pathlib.Path)
    arguments.add_argument("--expect", metavar="FILE", type=pathlib.Path, help="what is expected of each file")
    arguments.add_argument("--write", metavar="FILE", type=pathlib.Path, help="write what was understood, for a later --expect")
    arguments.add_argument("--program", default=".build/programs/player-monitor", help="by default the one that `make programs` builds")
    arguments.add_argument("--segments", type=int, default=0, help="segments of each rendition to fetch (default: 0, for folders without media)")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="files at once (default: the number of processors)")
    arguments.add_argument("--timeout", type=float, default=120, help="seconds for one file (default: 120)")
    options = arguments.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"{options.folder} is no folder")
    if not os.access(options.program, os.X_OK):
        sys.exit(f"there is no program {options.program}: `make programs` builds it, or name another with --program")
    try:
        lines = options.expect.read_text(encoding="utf-8").splitlines() if options.expect else []
        expected = {item["path"]: item for item in map(json.loads, filter(str.strip, lines))}
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{options.expect} cannot be read: {error}. Expected one JSON object with a 'path' for each line")
    files = (path for path in options.folder.rglob("*") if path.is_file() and path.suffix.lower() in MANIFESTS | MEDIA)
    paths = sorted(path.relative_to(options.folder) for path in files)
    if expected:
        # Segments are media files, too: only files that are expected are examined.
        paths = [path for path in paths if path.as_posix() in expected]
    missing = sorted(set(expected) - {path.as_posix() for path in paths})
    server = serve(options.folder.resolve())
    found, faults = [], len(missing)
    for path in missing:
        print(f"{path}: is expected, and is not in {options.folder}")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result, fault in pool.map(lambda path: examine(path, options, server.server_port), paths):
            found.append(result)
            problems = [fault] if fault else list(differences(result, expected.get(result["path"], {})))
            faults += bool(problems)
            if problems:
                print(f"{result['path']}: " + "\n    ".join(problems), flush=True)
            elif not expected:
                print(f"{result['path']}: {result['outcome']} {' '.join(result.get('rules', []))}".rstrip(), flush=True)
    server.shutdown()
    if options.write:
        options.write.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in found), encoding="utf-8")
    print(f"{len(paths)} files, {faults} of them differ or went wrong" if faults else f"{len(paths)} files, no difference")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
