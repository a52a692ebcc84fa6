"""Serves ClickHouse's HTTP interface on a loopback port, as far as `player-monitor watch --from clickhouse:` uses it, with chDB as the engine.

Usage: clickhouse-front.py [USER:PASSWORD]

Creates the tables of sql/clickhouse/fleet, prints the port, and ends with its standard input. With USER:PASSWORD, requests need these
headers. A POST to /lines inserts lines of JSON. (Needs chdb from PyPI: scripts/install-sql-engines.sh)
"""

import http.server
import pathlib
import sys
import tempfile
import threading

from chdb import session

login = sys.argv[1].split(":", 1) if len(sys.argv) > 1 else None
tables = pathlib.Path(__file__).resolve().parent.parent / "sql/clickhouse/fleet/tables.sql"
folder = tempfile.TemporaryDirectory()
engine = session.Session(folder.name)
lock = threading.Lock()
for statement in "\n".join(line for line in tables.read_text(encoding="utf-8").splitlines() if not line.startswith("--")).split(";"):
    if statement.strip():
        engine.query(statement)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        status, answer = 200, b""
        if self.path != "/lines" and login and [self.headers.get("X-ClickHouse-User"), self.headers.get("X-ClickHouse-Key")] != login:
            status, answer = 403, b"Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)"
        else:
            try:
                with lock:
                    if self.path == "/lines":
                        rows = body.decode().splitlines()
                        values = ", ".join("('" + row.replace("\\", "\\\\").replace("'", "\\'") + "')" for row in rows)
                        engine.query("INSERT INTO sample_lines VALUES " + values)
                    else:
                        answer = str(engine.query(body.decode())).encode()
            except Exception as error:  # The words of the engine are the answer, as those of a server are.
                status, answer = 500, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
engine.cleanup()
