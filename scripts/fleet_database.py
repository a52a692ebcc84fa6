"""ClickHouse of run-fleet.py (chDB): reads a topic and a stream into sql/clickhouse/fleet/tables.sql, and compares.

Usage: fleet_database.py read FOLDER BROKERS TOPIC PARTITIONS NATS-PORT
       fleet_database.py compare FOLDER SHARDS

`read` prints a line of JSON after each turn. With the line `die` it kills itself after its next insert, before it commits; with another, or at the
end of its standard input, it ends. It reads the topic as a consumer of librdkafka that commits
after the insert, and the stream as a pull consumer that acknowledges after the insert: chDB has no threads that read a topic in the background,
and no engine for NATS. What was inserted and not committed when the process was killed comes again.

`compare` reads SHARDS/*/reference.ndjson, `unsure.ndjson` (samples of a call that a kill has interrupted, which may be there or not) and
SHARDS/broken.json, and prints the figures and differences as JSON. (Needs chdb from PyPI: scripts/install-sql-engines.sh)
"""
import base64, ctypes, glob, json, os, pathlib, select, signal, socket, sys, time

from chdb import session

import fleet_brokers
from sql_statements import statements

SQL = pathlib.Path(__file__).resolve().parent.parent / "sql/clickhouse"
# Messages of one insert, and of one request to the stream.
BATCH, PULL = 20_000, 5_000

# The senders of the messages that fleet_hostility.py makes.
GUESTS = "sender LIKE 'hostile%'"


class Database:
    def __init__(self, folder):
        self.session = session.Session(folder)
        self.batch = folder + "-batch"
        # Whether the process kills itself after its next insert.
        self.is_doomed = False

    def run(self, text):
        return str(self.session.query(text, "CSV")).strip()

    def number(self, text):
        return int(self.run(text) or 0)

    def rows(self, text):
        answer = str(self.session.query(text + " SETTINGS output_format_json_quote_64bit_integers = 0", "JSON"))
        return json.loads(answer)["data"]

    def make_tables(self):
        for statement in statements((SQL / "fleet/tables.sql").read_text(encoding="utf-8")):
            self.run(statement)

    def insert(self, values):
        """Inserts messages, whatever their bytes are."""
        if not values:
            return
        with open(self.batch, "wb") as file:
            for value in values:
                size = len(value)
                while size > 127:
                    file.write(bytes([size & 127 | 128]))
                    size >>= 7
                file.write(bytes([size]))
                file.write(value)
        quoted = self.batch.replace("'", "\\'")
        self.run(f"INSERT INTO sample_lines SELECT line FROM file('{quoted}', 'RowBinary', 'line String')")
        if self.is_doomed:
            os.kill(os.getpid(), signal.SIGKILL)

    def insert_file(self, path, format="LineAsString"):
        quoted = path.replace("\\", "\\\\").replace("'", "\\'")
        self.run(f"INSERT INTO sample_lines SELECT line FROM file('{quoted}', '{format}', 'line String')")


class Message(ctypes.Structure):
    """The beginning of rd_kafka_message_t."""

    _fields_ = [
        ("error", ctypes.c_int), ("topic", ctypes.c_void_p), ("partition", ctypes.c_int32), ("payload", ctypes.c_void_p), ("size", ctypes.c_size_t),
        ("key", ctypes.c_void_p), ("key_size", ctypes.c_size_t), ("offset", ctypes.c_int64),
    ]


class Topic:
    """A consumer of all partitions that commits its offsets after the insert, as ClickHouse's engine does on a server.

    The engine of chDB commits nothing, and joins its group again with each query. Tests/Backends/Kafka/ClickHouseTests.swift reads with it.
    """

    STORED, CONSUMER = -1000, 1

    def __init__(self, database, brokers, topic, partitions):
        self.database, self.topic = database, topic.encode()
        self.library = library = fleet_brokers.load()
        settings = {
            "bootstrap.servers": brokers, "group.id": "clickhouse", "enable.auto.commit": "false", "enable.auto.offset.store": "false",
            "auto.offset.reset": "earliest", "fetch.wait.max.ms": "100", "queued.max.messages.kbytes": "65536",
            "reconnect.backoff.max.ms": "1000",
        }
        self.client = fleet_brokers.new(library, settings.items(), self.CONSUMER)
        partitions_to_read = library.rd_kafka_topic_partition_list_new(partitions)
        for partition in range(partitions):
            library.rd_kafka_topic_partition_list_add(partitions_to_read, self.topic, partition)
            library.rd_kafka_topic_partition_list_set_offset(partitions_to_read, self.topic, partition, self.STORED)
        if library.rd_kafka_assign(self.client, partitions_to_read):
            raise SystemExit("librdkafka assigns no partitions")
        library.rd_kafka_topic_partition_list_destroy(partitions_to_read)
        self.queue = library.rd_kafka_queue_get_consumer(self.client)
        self.messages = (ctypes.POINTER(Message) * BATCH)()

    def read(self):
        """Inserts what comes within 200 ms, and then commits its offsets. Returns the number of messages."""
        count = self.library.rd_kafka_consume_batch_queue(self.queue, 200, self.messages, BATCH)
        values, offsets = [], {}
        for place in range(max(0, count)):
            message = self.messages[place].contents
            if not message.error:
                values.append(ctypes.string_at(message.payload, message.size))
                offsets[message.partition] = message.offset + 1
            self.library.rd_kafka_message_destroy(self.messages[place])
        self.database.insert(values)
        self.commit(offsets)
        return len(values)

    def commit(self, offsets):
        library = self.library
        positions = library.rd_kafka_topic_partition_list_new(len(offsets))
        for partition, offset in offsets.items():
            library.rd_kafka_topic_partition_list_add(positions, self.topic, partition)
            library.rd_kafka_topic_partition_list_set_offset(positions, self.topic, partition, offset)
        # Without waiting for the answer of a broker that may be stopped: the next batch commits what this one could not.
        if offsets:
            library.rd_kafka_commit(self.client, positions, 1)
        library.rd_kafka_topic_partition_list_destroy(positions)


class Stream:
    """A pull consumer of JetStream over a plain socket (docs.nats.io, 'NATS Protocol' and 'JetStream wire API reference')."""

    def __init__(self, database, port):
        self.database, self.port = database, int(port)
        # Answers come to the subject of this process alone.
        self.inbox = f"inbox.{os.getpid()}".encode()
        self.socket, self.bytes, self.place, self.mark = None, bytearray(), 0, 0

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=1)
        self.bytes, self.place, self.mark = bytearray(), 0, 0
        self.line()
        self.write(b'CONNECT {"verbose":false,"headers":true}\r\nSUB %s 1\r\nPING\r\n' % self.inbox)
        while self.line() != b"PONG":
            pass
        wanted = {"stream_name": "SAMPLES", "config": {"durable_name": "clickhouse", "ack_policy": "explicit", "max_ack_pending": 2 * BATCH, "ack_wait": 10_000_000_000}}
        self.request(b"$JS.API.CONSUMER.DURABLE.CREATE.SAMPLES.clickhouse", json.dumps(wanted).encode())
        self.message()

    def write(self, data):
        self.socket.sendall(data)

    def request(self, subject, payload):
        self.write(b"PUB %s %s %d\r\n%s\r\n" % (subject, self.inbox, len(payload), payload))

    def fill(self):
        """Receives more; what is before the message that is being read leaves the buffer."""
        del self.bytes[: self.mark]
        self.place, self.mark = self.place - self.mark, 0
        part = self.socket.recv(1 << 20)
        if not part:
            raise ConnectionError("the server closed the connection")
        self.bytes += part

    def line(self):
        while (end := self.bytes.find(b"\r\n", self.place)) < 0:
            self.fill()
        line, self.place = bytes(self.bytes[self.place : end]), end + 2
        return line

    def take(self, count):
        while len(self.bytes) - self.place < count + 2:
            self.fill()
        data, self.place = bytes(self.bytes[self.place : self.place + count]), self.place + count + 2
        return data

    def message(self):
        """The reply subject, the header block and the payload of the next message."""
        while True:
            self.mark = self.place
            words = self.line().split()
            if words[:1] == [b"PING"]:
                self.write(b"PONG\r\n")
            elif words[:1] == [b"MSG"]:
                return (words[3] if len(words) == 5 else b""), b"", self.take(int(words[-1]))
            elif words[:1] == [b"HMSG"]:
                data, size = self.take(int(words[-1])), int(words[-2])
                return (words[3] if len(words) == 6 else b""), data[:size], data[size:]

    def read(self):
        """Inserts a batch, and then acknowledges it. Returns the number of messages; zero while the server is stopped."""
        try:
            return self.read_batch()
        except (OSError, ValueError):
            self.socket = None
            return 0

    def read_batch(self):
        if not self.socket:
            self.connect()
        self.request(b"$JS.API.CONSUMER.MSG.NEXT.SAMPLES.clickhouse", json.dumps({"batch": PULL, "no_wait": True}).encode())
        replies, values = [], []
        while len(values) < PULL:
            try:
                reply, headers, payload = self.message()
            except TimeoutError:
                # What comes later belongs to the next batch.
                self.place = self.mark
                break
            # 404, 408 and 409 end a request. Another answer is late: that of a connection that was given up. Messages have a subject for replies.
            if not reply:
                if headers.startswith(b"NATS/1.0 4"):
                    break
                continue
            replies.append(reply)
            values.append(payload)
        self.database.insert(values)
        self.write(b"".join(b"PUB %s 0\r\n\r\n" % reply for reply in replies))
        return len(values)


def read(folder, brokers, topic, partitions, port):
    database = Database(folder + "/database")
    database.make_tables()
    sources = [Topic(database, brokers, topic, int(partitions)), Stream(database, port)]
    is_counted = True
    while True:
        if select.select([sys.stdin], [], [], 0)[0]:
            if sys.stdin.readline() != "die\n":
                break
            database.is_doomed = True
        end, messages = time.monotonic() + 2, 0
        while time.monotonic() < end:
            count = sum(source.read() for source in sources)
            messages += count
            if not count:
                break
        # While samples come, an estimate is enough.
        if messages or not is_counted:
            count = "uniqCombined64(18)" if messages else "uniqExact"
            samples = database.number(f"SELECT {count}(id) FROM samples WHERE NOT {GUESTS}")
            print(json.dumps({"isExact": not messages, "samples": samples}), flush=True)
            is_counted = not messages


# What a sample says, without the identifier and the number that its queue gave it.
CONTENT = (
    "cityHash64(sender) AS half, sipHash128(type, action, name, kind, unit, value, tracker, time, instant, service, sender, playback, attributes) AS hash"
)
PARTS = 8
VIEWS = "metrics_by_hour", "metrics_by_stream"


def run_queries(database):
    """Runs the queries of sql/clickhouse over the tables. Returns their number."""
    names = [path for path in sorted(SQL.rglob("*.sql")) if path.parent.name not in ("fleet", "recording") and path.name != "schema.sql"]
    for path in names:
        for statement in statements(path.read_text(encoding="utf-8")):
            database.rows(statement)
    return len(names)


def compare(folder, shards):
    database = Database(folder + "/database")
    database.make_tables()
    database.run("DROP DATABASE IF EXISTS reference")
    database.run("CREATE DATABASE reference")
    database.run("USE reference")
    database.make_tables()
    report = {}
    for path in sorted(glob.glob(shards + "/*/reference.ndjson")):
        database.insert_file(path)
    # A call that a kill has interrupted has stored all of its samples or none.
    for path in sorted(glob.glob(shards + "/*/unsure.ndjson")):
        for line in open(path, encoding="utf-8"):
            sample = json.loads(line)
            where = f"sender = '{sample['attributes']['senderId']}' AND instant = {sample['instant']} AND time = {sample['time']}"
            found = database.number(f"SELECT count() FROM default.samples FINAL WHERE {where} AND action = '{sample.get('action', '')}' AND name = '{sample.get('name', '')}'")
            report["unsure"] = report.get("unsure", 0) + 1
            if found:
                report["unsureFound"] = report.get("unsureFound", 0) + 1
                escaped = line.strip().replace("\\", "\\\\").replace("'", "\\'")
                database.run(f"INSERT INTO sample_lines VALUES ('{escaped}')")
    database.run("USE default")
    report["expected"] = database.number("SELECT count() FROM reference.samples")
    report["arrived"] = database.number(f"SELECT count() FROM samples FINAL WHERE NOT {GUESTS}")
    report["rowsBeforeMerging"] = database.number("SELECT sum(rows) FROM system.parts WHERE active AND database = 'default' AND table = 'samples'")
    report["identifiers"] = database.number(f"SELECT uniqExact(id) FROM samples WHERE NOT {GUESTS}")
    report["guests"] = database.number(f"SELECT count() FROM samples FINAL WHERE {GUESTS}")
    session_key = "uniqExact((sender, playback)) FROM"
    report["expectedSessions"] = database.number(f"SELECT {session_key} reference.samples WHERE playback != ''")
    report["sessions"] = database.number(f"SELECT {session_key} samples WHERE playback != '' AND NOT {GUESTS}")
    # Of each content as many samples as in the reference.
    missing = excess = 0
    for part in range(PARTS):
        found = database.rows(
            f"SELECT sum(greatest(wanted, 0)) AS missing, sum(greatest(-wanted, 0)) AS excess FROM (SELECT hash, sum(sign) AS wanted FROM ("
            f"SELECT {CONTENT}, 1 AS sign FROM reference.samples WHERE half % {PARTS} = {part} UNION ALL "
            f"SELECT {CONTENT}, -1 AS sign FROM samples FINAL WHERE half % {PARTS} = {part} AND NOT {GUESTS}) GROUP BY hash)"
        )[0]
        missing, excess = missing + int(found["missing"]), excess + int(found["excess"])
    report["missing"], report["excess"] = missing, excess
    # The figures of sessions, as a report reads them.
    columns = "name, sender, playback, label, value, weight, first_time"
    report["sessionMetrics"] = database.number("SELECT count() FROM reference.session_metrics")
    report["differentSessionMetrics"] = database.number(
        f"SELECT count() FROM ((SELECT {columns} FROM reference.session_metrics EXCEPT SELECT {columns} FROM session_metrics) UNION ALL "
        f"(SELECT {columns} FROM session_metrics WHERE NOT {GUESTS} EXCEPT SELECT {columns} FROM reference.session_metrics))"
    )
    report["views"] = {view: len(database.rows(f"SELECT * FROM {view} ORDER BY ALL LIMIT 1000000")) for view in VIEWS}
    # No query fails on wild samples. Over a small fleet, because some read every event.
    report["queries"] = run_queries(database) if report["arrived"] < 200_000 else 0
    broken = [base64.b64decode(text) for text in json.loads(pathlib.Path(shards, "broken.json").read_text(encoding="ascii"))]
    kept = {base64.b64decode(row["line"]) for row in database.rows("SELECT DISTINCT base64Encode(line) AS line FROM broken_lines")}
    report["broken"], report["brokenKept"] = len(set(broken)), len(set(broken) & kept)
    report["brokenOthers"] = [line[:200].decode(errors="replace") for line in sorted(kept - set(broken))[:1000]]
    database.run("OPTIMIZE TABLE samples FINAL")
    database.run("OPTIMIZE TABLE metric_values FINAL")
    report["diskBytes"] = database.number("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'default' AND table IN ('samples', 'metric_values')")
    report["lineBytes"] = sum(pathlib.Path(path).stat().st_size for path in glob.glob(shards + "/*/reference.ndjson"))
    # One value for each session, metric and label, for the comparison with `player-monitor replay`.
    quoted = (shards + "/sessions.ndjson").replace("'", "\\'")
    database.run(
        f"INSERT INTO FUNCTION file('{quoted}', 'JSONEachRow') "
        f"SELECT name, sender, playback, label, value FROM session_metrics WHERE NOT {GUESTS} UNION ALL "
        # Sessions that no kill has cut.
        f"SELECT '' AS name, sender, playback, '' AS label, 0 AS value FROM events WHERE NOT {GUESTS} "
        f"AND (action IN ('End', 'Stop') OR action = 'Error' AND JSONExtractBool(attributes, 'isFatal')) "
        f"SETTINGS output_format_json_quote_64bit_integers = 0, engine_file_truncate_on_insert = 1"
    )
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    {"read": read, "compare": compare}[sys.argv[1]](*sys.argv[2:])
