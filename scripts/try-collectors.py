#!/usr/bin/env python3
"""Verifies what the configurations of collectors beside sql/clickhouse/fleet/tables.sql rely on, with chDB.

Neither the OpenTelemetry Collector nor Vector is in Debian or PyPI, so their programs do not run here. Instead
- the lines of a recording enter as Vector's sink sends them (`INSERT INTO sample_lines FORMAT JSONEachRow` with a member `line`), and the tables are
  those of the lines inserted directly;
- `player-monitor replay --backend otlp:URL` sends the recording to a server that decodes it with OpenTelemetry's own messages and writes each log
  record into a table with the columns of the collector's exporter, twice; `otlp_sessions` of otlp.sql has the sessions and start times of the tables.
Exits with 1 if a figure differs, and with 3 where a part is missing.

Usage: scripts/try-collectors.py RECORDING [--programs .build/programs]      (needs scripts/install-sql-engines.sh, install-servers.sh)
"""
import argparse, gzip, http.server, json, os, pathlib, subprocess, sys, tempfile, threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
SQL = os.environ.get("SQL_DIRECTORY", str(ROOT / ".build/sql"))
SERVERS = os.environ.get("SERVERS_DIRECTORY", str(ROOT / ".build/servers"))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("recording")
parser.add_argument("--programs", default=".build/programs")
options = parser.parse_args()
# Decodes length-prefixed requests, and prints a row of the exporter's table for each log record.
DECODER = """
import json, struct, sys
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
def text(value):
    kind = value.WhichOneof("value")
    part = getattr(value, kind) if kind else ""
    return ("true" if part else "false") if kind == "bool_value" else str(part)
def table(attributes):
    return {attribute.key: text(attribute.value) for attribute in attributes}
while size := sys.stdin.buffer.read(4):
    request = ExportLogsServiceRequest.FromString(sys.stdin.buffer.read(*struct.unpack(">I", size)))
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                print(json.dumps({"Timestamp": record.time_unix_nano, "SeverityText": record.severity_text, "EventName": record.event_name,
                    "LogAttributes": table(record.attributes)}))
"""


def main():
    sys.path.insert(0, str(ROOT / "scripts"))
    from fleet_database import Database
    from sql_statements import statements

    folder = tempfile.mkdtemp(prefix="collectors-")
    database = Database(folder + "/database")
    database.make_tables()
    database.insert_file(options.recording)
    rows = folder + "/lines.json"
    with open(options.recording, encoding="utf-8") as lines, open(rows, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"line": line.rstrip("\n")}) + "\n" for line in lines)
    database.run("CREATE DATABASE vector")
    database.run("USE vector")
    database.make_tables()
    with open(rows, encoding="utf-8") as file:
        while part := file.readlines(8 << 20):
            database.run("INSERT INTO sample_lines FORMAT JSONEachRow " + "".join(part))
    contents = "* EXCEPT (arrived)"
    checks = [("samples by Vector's way", database.number("SELECT count() FROM default.samples"), database.number("SELECT count() FROM samples"))]
    for table in ("samples", "metric_values"):
        different = database.number(f"SELECT count() FROM (SELECT {contents} FROM default.{table} EXCEPT SELECT {contents} FROM {table})")
        checks.append((f"rows of {table} that differ", 0, different))
    receive(folder)
    database.run("CREATE DATABASE otel")
    database.run("USE otel")
    database.run(
        "CREATE TABLE otel_logs (Timestamp DateTime64(9), SeverityText LowCardinality(String), EventName String, LogAttributes Map(LowCardinality(String), String)) "
        "ENGINE = MergeTree ORDER BY Timestamp"
    )
    for _ in range(2):
        database.run(
            f"INSERT INTO otel_logs SELECT fromUnixTimestamp64Nano(Timestamp, 'UTC'), SeverityText, EventName, LogAttributes FROM file('{folder}/logs.json', "
            "'JSONEachRow', 'Timestamp Int64, SeverityText String, EventName String, LogAttributes Map(String, String)')"
        )
    for statement in statements((ROOT / "sql/clickhouse/fleet/otlp.sql").read_text(encoding="utf-8")):
        database.run(statement)
    sessions = "SELECT uniqExact((sender, playback)) FROM default.samples WHERE type = 'event' AND playback != ''"
    checks.append(("sessions by OTLP", database.number(sessions), database.number("SELECT count() FROM otlp_sessions")))
    starts = "SELECT sender, playback, toInt64(value) FROM default.session_metrics WHERE name = 'StartTime'"
    found = "SELECT sender, playback, toInt64(start_time) FROM otlp_sessions WHERE start_time IS NOT NULL"
    checks.append(("start times", database.number(f"SELECT count() FROM ({starts})"), database.number(f"SELECT count() FROM ({found})")))
    checks.append(("start times that differ", 0, database.number(f"SELECT count() FROM ({starts} EXCEPT {found})")))
    for name, wanted, number in checks:
        print(f"{'equal' if wanted == number else 'DIFFERENT':9}  {name}: {number:,}" + ("" if wanted == number else f" (expected {wanted:,})"))
    return 0 if all(wanted == number for _, wanted, number in checks) else 1


def receive(folder):
    """Writes the rows of the log records that the program sends to folder/logs.json."""

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/logs":
                with open(folder + "/requests", "ab") as file:
                    file.write(len(body).to_bytes(4, "big") + body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = os.path.join(options.programs, "player-monitor")
    subprocess.run([program, "replay", "--quiet", "--backend", f"otlp:http://127.0.0.1:{server.server_port}", options.recording], check=True, stdout=subprocess.DEVNULL)
    server.shutdown()
    with open(folder + "/requests", "rb") as requests, open(folder + "/logs.json", "w", encoding="utf-8") as rows:
        subprocess.run([SERVERS + "/otlp/bin/python", "-c", DECODER], stdin=requests, stdout=rows, check=True)


if __name__ == "__main__":
    for path, remedy in ((SQL, "scripts/install-sql-engines.sh"), (SERVERS + "/otlp", "scripts/install-servers.sh")):
        if not os.path.exists(path):
            print(f"SKIPPED: the collectors, because {path} is missing; run {remedy}", file=sys.stderr)
            sys.exit(3)
    if not sys.prefix.endswith("sql") and os.path.realpath(sys.prefix) != os.path.realpath(SQL):
        os.execv(SQL + "/bin/python", [SQL + "/bin/python", *sys.argv])
    sys.exit(main())
