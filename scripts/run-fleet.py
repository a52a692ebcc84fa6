#!/usr/bin/env python3
"""A fleet in earnest: a day of virtual players through the library, Kafka and NATS into ClickHouse, while everything is killed once.

The players (Benchmarks/Sources/FleetSimulation, whose model names the source of each distribution) emit in virtual time through instrument, core
hub, quality metrics and the durable queue of each shard. Half of the shards send to librdkafka's mock brokers, half to a nats-server with
JetStream. ClickHouse (chDB) reads both into sql/clickhouse/fleet/tables.sql. Meanwhile each shard is killed (SIGKILL) and started again with its
queue, brokers and nats-server stop and start again, the reader is killed, players are offline for the whole day or have wrong clocks, and
somebody sends damaged, future-dated and hostile messages and copies.

Then the same players emit once more into files, without brokers and kills. Each sample that a killed process had accepted must be in
ClickHouse once and with the same content, no other may be there, each figure of each session must be equal to that of `player-monitor replay`
over these files, and each broken message must be among the broken lines. Exits with 1 otherwise.

Usage: scripts/run-fleet.py [--players 100000] [--seed 1] [--shards 4] [--bin .build/release] [--programs .build/programs]

The programs: swift build -c release --package-path Benchmarks --scratch-path .build --product FleetSimulation, and make programs. Needs chDB
(scripts/install-sql-engines.sh), nats-server (scripts/install-servers.sh) and librdkafka; exits with 3 where one is missing.
"""
import argparse, atexit, base64, ctypes.util, json, os, pathlib, random, shutil, signal, socket, struct, subprocess, sys, tempfile, time
import fleet_hostility
from local_servers import free_port

ROOT = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--players", type=int, default=100_000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--shards", type=int, default=4)
parser.add_argument("--bin", default=".build/release")
parser.add_argument("--programs", default=".build/programs")
parser.add_argument("--keep", action="store_true", help="keep the folder with the queues, the database and the files")
options = parser.parse_args()
chance = random.Random(options.seed)
PYTHON = os.path.join(os.environ.get("SQL_DIRECTORY", str(ROOT / ".build/sql")), "bin/python")
SERVERS = os.environ.get("SERVERS_DIRECTORY", str(ROOT / ".build/servers"))
SIMULATION, MONITOR = os.path.join(options.bin, "FleetSimulation"), os.path.join(options.programs, "player-monitor")
NATS = next((path for path in (SERVERS + "/debian/usr/sbin/nats-server", "/usr/sbin/nats-server") if os.access(path, os.X_OK)), None)
for path, remedy in [(PYTHON, "run scripts/install-sql-engines.sh"), (NATS, "run scripts/install-servers.sh"), (ctypes.util.find_library("rdkafka"), "install librdkafka")]:
    if not path or (os.sep in path and not os.path.exists(path)):
        print(f"SKIPPED: the fleet, because {path or 'a part'} is missing; {remedy}", file=sys.stderr)
        sys.exit(3)
TOPIC, PARTITIONS = "samples", 24
# Samples between two checkpoints, and how far ClickHouse may be behind: the mock brokers keep 5 MiB of each partition.
SLICE, LAG = 120_000, 240_000
SAMPLES_PER_PLAYER = 240
checkpoints = max(16, options.players * SAMPLES_PER_PLAYER // SLICE)
folder = tempfile.mkdtemp(prefix="fleet-")
begun = time.monotonic()
processor = {}
children = []


def say(text):
    print(f"{time.monotonic() - begun:6.0f} s  {text}", flush=True)


class Child:
    """A process whose lines are read as they come, and whose processor time counts for a part of the fleet."""

    def __init__(self, part, command):
        self.part, self.bytes, self.status = part, b"", None
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        os.set_blocking(self.process.stdout.fileno(), False)
        children.append(self)

    def lines(self):
        try:
            self.bytes += os.read(self.process.stdout.fileno(), 1 << 20)
        except BlockingIOError:
            pass
        *lines, self.bytes = self.bytes.split(b"\n")
        return [line.decode() for line in lines]

    def write(self, text):
        try:
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def answer(self, text, seconds=900):
        self.write(text)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if lines := self.lines():
                return lines[-1]
            time.sleep(0.01)
        raise SystemExit(f"{self.part} does not answer '{text.strip()}' within {seconds} s")

    def ended(self):
        if self.status is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                self.process.returncode = self.status
                processor[self.part] = processor.get(self.part, 0) + usage.ru_utime + usage.ru_stime
        return self.status is not None

    def end(self, number=None, seconds=60):
        """Waits for the end, after a signal if there is one."""
        if number and not self.ended():
            self.process.send_signal(number)
        end = time.monotonic() + seconds
        while not self.ended() and time.monotonic() < end:
            time.sleep(0.01)
        if not self.ended():
            self.process.kill()
            while not self.ended():
                time.sleep(0.01)


def clean():
    for child in children:
        child.end(signal.SIGKILL)
    if options.keep:
        print(f"the files are in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


atexit.register(clean)


class Server:
    """nats-server with JetStream on a loopback port, with its files."""

    def __init__(self):
        self.port = free_port()
        self.configuration = os.path.join(folder, "nats.conf")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(f'listen: "127.0.0.1:{self.port}"\nlog_file: "{folder}/nats.log"\njetstream {{ store_dir: "{folder}/nats" }}\n')
        self.start()
        self.request("$JS.API.STREAM.CREATE.SAMPLES", {"name": "SAMPLES", "subjects": [TOPIC], "storage": "file", "duplicate_window": 600_000_000_000})

    def start(self):
        self.child = Child("nats-server", [NATS, "-c", self.configuration])
        for _ in range(600):
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
        raise SystemExit("nats-server does not accept connections within 30 s")

    def talk(self, commands, answers):
        """Sends commands, and returns the payloads of the expected number of answers."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection, connection.makefile("rb") as lines:
            lines.readline()
            connection.sendall(b'CONNECT {"verbose":false,"headers":true}\r\nSUB inbox.asker 1\r\n' + commands + b"PING\r\n")
            payloads, is_done = [], False
            while len(payloads) < answers or not is_done:
                line = lines.readline()
                if not line or line.startswith(b"-ERR"):
                    raise SystemExit(f"nats-server ends the connection: {line.decode(errors='replace').strip()}")
                is_done = is_done or line.startswith(b"PONG")
                if line.startswith(b"MSG"):
                    payloads.append(lines.read(int(line.split()[-1]) + 2)[:-2])
            return payloads

    def request(self, subject, value):
        payload = json.dumps(value).encode()
        answer = json.loads(self.talk(b"PUB %s inbox.asker %d\r\n%s\r\n" % (subject.encode(), len(payload), payload), 1)[0])
        if "error" in answer:
            raise SystemExit(f"nats-server refuses {subject}: {answer['error']}")
        return answer

    def publish(self, values):
        self.talk(b"".join(b"PUB %s %d\r\n%s\r\n" % (TOPIC.encode(), len(value), value) for value in values), 0)

    def stored(self, numbers):
        messages = (self.request("$JS.API.STREAM.MSG.GET.SAMPLES", {"seq": number})["message"] for number in numbers)
        return [base64.b64decode(message["data"]) for message in messages]


class Shard:
    FIELDS = 3

    def __init__(self, number):
        self.number, self.run, self.reached, self.left, self.result = number, 0, 0, 0, None
        self.directory = os.path.join(folder, f"shard-{number}")
        os.mkdir(self.directory)
        self.target = f"kafka:{brokers_address}/{TOPIC}" if number % 2 == 0 else f"nats:127.0.0.1:{nats.port}/{TOPIC}"
        self.common = ["--players", str(options.players), "--seed", str(options.seed), "--shard", f"{number}/{options.shards}", "--directory", self.directory]
        self.start()

    def start(self):
        command = [SIMULATION, "produce", "--to", self.target, "--run", str(self.run), "--checkpoints", str(checkpoints)]
        self.child = Child("producers", command + self.common)

    def kill(self):
        self.look()
        if self.result:
            return False
        self.child.end(signal.SIGKILL)
        self.run, self.reached = self.run + 1, 0
        self.start()
        return True

    def look(self):
        for line in self.child.lines():
            if line.startswith("checkpoint "):
                self.reached = int(line.split()[1])
                # A process that was killed before it took its leave waits there again.
                if self.reached <= self.left:
                    self.child.write("\n")
            elif line.startswith("{"):
                self.result = json.loads(line)
        if self.child.ended() and not self.result:
            raise SystemExit(f"shard {self.number} ended with {self.child.status} and without a result")

    def emitted(self):
        """The samples of players with a network, by all runs."""
        with open(os.path.join(self.directory, "notes"), "rb") as file:
            notes = file.read()
        return sum(struct.unpack_from("<Q", notes, (run * self.FIELDS + 2) * 8)[0] for run in range(self.run + 1)) if notes else 0


class Reader:
    def __init__(self):
        self.samples, self.is_exact = 0, False
        self.start()

    def start(self):
        script = str(ROOT / "scripts/fleet_database.py")
        self.child = Child("ClickHouse", [PYTHON, script, "read", folder, brokers_address, TOPIC, str(PARTITIONS), str(nats.port)])

    def kill(self):
        """Between an insert and its commit, if something comes within three seconds."""
        self.child.write("die\n")
        end = time.monotonic() + 3
        while not self.child.ended() and time.monotonic() < end:
            time.sleep(0.01)
        between = self.child.ended()
        self.child.end(signal.SIGKILL)
        self.start()
        return between

    def look(self):
        for line in self.child.lines():
            answer = json.loads(line)
            self.samples, self.is_exact = answer["samples"], answer["isExact"]
        if self.child.ended():
            raise SystemExit(f"the reader of ClickHouse ended with {self.child.status}")


def watch(is_done, seconds=3600):
    """Waits for a condition, while all children are read."""
    end, latest = time.monotonic() + seconds, time.monotonic()
    while not is_done():
        for part in shards + [reader]:
            part.look()
        if time.monotonic() > end:
            return False
        if time.monotonic() > latest + 15:
            latest = time.monotonic()
            say(f"{sum(shard.emitted() for shard in shards):,} samples emitted, about {reader.samples:,} in ClickHouse")
        time.sleep(0.02)
    return True


brokers = Child("brokers", [sys.executable, str(ROOT / "scripts/fleet_brokers.py"), "3", TOPIC, str(PARTITIONS)])
brokers_address = brokers.answer("")
nats = Server()
broken, guests = fleet_hostility.messages(options.seed)


def send_to_topic(values):
    path = os.path.join(folder, "messages.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump([base64.b64encode(value).decode() for value in values], file)
    if brokers.answer(f"send {path}\n") != "ok":
        raise SystemExit("the brokers took no messages")


def be_hostile():
    """Half of the messages each way, and copies of samples that others have sent, the other way."""
    values = broken + guests
    nats.publish(values[::2])
    last = nats.request("$JS.API.STREAM.INFO.SAMPLES", {})["state"]["last_seq"]
    copies = nats.stored(chance.sample(range(1, last + 1), min(last, 200)))
    send_to_topic(values[1::2] + copies)
    nats.publish(copies)
    say(f"{len(broken)} broken and {len(guests)} wild messages, and {len(copies)} copies twice")


def set_brokers(numbers, command):
    for number in numbers:
        brokers.answer(f"{command} {number}\n")
    say(f"brokers {', '.join(map(str, numbers))}: {command}")


def stop_nats(number):
    nats.child.end(number)
    say(f"nats-server: {signal.Signals(number).name}")


def start_nats():
    nats.start()
    say("nats-server started again")


def kill_reader():
    between = reader.kill()
    say("the reader of ClickHouse killed " + ("between insert and commit, " if between else "") + "and started again")


def plan():
    """What happens at which checkpoint, and what ends there: the same for the same seed."""
    at = lambda share: max(1, min(checkpoints - 2, round(share * checkpoints)))
    begins, ends, kills = {}, {}, {}
    for share in (0.1, 0.8):
        begins.setdefault(at(share), []).append(be_hostile)
    for share in (0.25, 0.6):
        begins.setdefault(at(share), []).append(kill_reader)
    for share, number in ((0.35, signal.SIGKILL), (0.65, signal.SIGTERM)):
        begins.setdefault(at(share), []).append(lambda number=number: stop_nats(number))
        ends.setdefault(at(share) + 1, []).append(start_nats)
    for share, numbers in ((0.15, [1]), (0.45, [1, 2, 3])):
        begins.setdefault(at(share), []).append(lambda numbers=numbers: set_brokers(numbers, "down"))
        ends.setdefault(at(share) + 1, []).append(lambda numbers=numbers: set_brokers(numbers, "up"))
    for shard in range(options.shards):
        for _ in range(2):
            kills.setdefault(chance.randrange(1, checkpoints - 1), set()).add(shard)
    return begins, ends, kills


begins, ends, kills = plan()
shards, reader = [], None
reader = Reader()
shards = [Shard(number) for number in range(options.shards)]
say(f"{options.players:,} players in {options.shards} shards, seed {options.seed}; {checkpoints} checkpoints; files in {folder}")
killed, slice_seconds = 0, 0.1
for checkpoint in range(1, checkpoints):
    since = time.monotonic()
    watch(lambda: all(shard.result or shard.reached >= checkpoint for shard in shards))
    slice_seconds = time.monotonic() - since
    for action in ends.get(checkpoint, []):
        action()
    # A server that is about to stop has been read before, so that its samples do not count as behind.
    if not watch(lambda: sum(shard.emitted() for shard in shards) - reader.samples < LAG, 900):
        raise SystemExit("ClickHouse reads nothing more")
    for action in begins.get(checkpoint, []):
        action()
    for shard in shards:
        shard.left = checkpoint
        if not shard.result and shard.reached == checkpoint:
            shard.child.write("\n")
    if victims := kills.get(checkpoint):
        # In the middle of the slice, wherever the process then is.
        watch(lambda end=time.monotonic() + min(1, slice_seconds) * chance.random(): time.monotonic() > end)
        for victim in sorted(victims):
            if shards[victim].kill():
                killed += 1
                say(f"shard {victim} killed and started again")
say("the day is over; players that were offline deliver")
watch(lambda: all(shard.result for shard in shards))
for shard in shards:
    shard.child.end(seconds=30)
produced = {key: sum(shard.result[key] for shard in shards) for key in ("emitted", "acknowledged", "queued", "dead", "dropped")}
say(f"ledgers: {produced}")
if not watch(lambda: reader.is_exact and reader.samples >= produced["emitted"], 300):
    say(f"only {reader.samples:,} samples are in ClickHouse after 300 s")
reader.child.write("end\n")
reader.child.end(seconds=120)
brokers.process.stdin.close()
brokers.end(seconds=30)
nats.child.end(signal.SIGTERM)
say("the same players once more, into files")
references = [Child("reference", [SIMULATION, "reference", "--runs", str(shard.run + 1)] + shard.common) for shard in shards]
for reference in references:
    while not reference.ended():
        time.sleep(0.1)
    if reference.status:
        raise SystemExit(f"the reference ended with {reference.status}")
with open(os.path.join(folder, "broken.json"), "w", encoding="ascii") as file:
    json.dump([base64.b64encode(value).decode() for value in broken], file)
say("ClickHouse compares")
comparison = subprocess.run([PYTHON, str(ROOT / "scripts/fleet_database.py"), "compare", folder, folder], stdout=subprocess.PIPE, cwd=ROOT)
if comparison.returncode:
    raise SystemExit("the comparison failed")
report = json.loads(comparison.stdout)
say("player-monitor replay compares")


def replayed():
    """Figures of `player-monitor replay` beside those of ClickHouse: how many are equal, and the first that differ."""
    rows = {}
    with open(os.path.join(folder, "sessions.ndjson"), encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows.setdefault((row["sender"], row["playback"]), {}).setdefault(row["name"], {})[row["label"]] = row["value"]
    equal, different, ended, others = 0, [], 0, 0
    for shard in shards:
        command = [MONITOR, "replay", "--quiet", "--format", "ndjson", os.path.join(shard.directory, "reference.ndjson")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as replay:
            for line in replay.stdout:
                session = json.loads(line)
                if session["type"] != "session":
                    continue
                found = rows.get((session["sender"], session["playbackId"]), {})
                # Of a session that a kill has cut, ClickHouse knows what was recorded, and the replay counts until the last event.
                if "" not in found:
                    others += 1
                    continue
                ended += 1
                for name, value in session["metrics"]["instrument"].items():
                    wanted = value if isinstance(value, dict) else {"": value}
                    for label, part in wanted.items():
                        # What never happened has no sample.
                        if part == found.get(name, {}).get(label, 0):
                            equal += 1
                        elif len(different) < 10:
                            different.append((session["sender"], name, label, part, found.get(name, {}).get(label)))
        if replay.returncode:
            raise SystemExit(f"player-monitor replay ended with {replay.returncode}")
    return equal, different, ended, others


equal, different, ended, others = replayed()
checks = [
    ("samples", report["expected"], report["arrived"]),
    ("identifiers", report["arrived"], report["identifiers"]),
    ("samples that are missing", 0, report["missing"]),
    ("samples that nobody emitted, or double", 0, report["excess"]),
    ("sessions", report["expectedSessions"], report["sessions"]),
    ("figures of sessions that differ from the reference", 0, report["differentSessionMetrics"]),
    ("figures of sessions that differ from player-monitor replay", 0, len(different)),
    ("broken messages among the broken lines", report["broken"], report["brokenKept"]),
    ("other broken lines", 0, len(report["brokenOthers"])),
    ("ledgers: emitted = acknowledged", produced["emitted"], produced["acknowledged"]),
    ("ledgers: dropped, dead or queued", 0, produced["dropped"] + produced["dead"] + produced["queued"]),
]
print()
for name, wanted, found in checks:
    print(f"{'equal' if wanted == found else 'DIFFERENT':9}  {name}: {found:,}" + ("" if wanted == found else f" (expected {wanted:,})"))
for sender, name, label, wanted, found in different:
    print(f"           {sender} {name} {label}: {found} in ClickHouse, {wanted} in the replay")
for line in report["brokenOthers"][:5]:
    print(f"           {line!r}")
print(f"\n{killed} kills of shards; {report.get('unsure', 0)} samples in the middle of them, of which {report.get('unsureFound', 0)} were stored")
print(f"{equal:,} figures of {ended:,} sessions equal to the replay; {others:,} sessions were cut by kills")
print(f"copies in ClickHouse before merging: {report['rowsBeforeMerging'] - report['arrived'] - report['guests']:,}; wild samples kept: {report['guests']}; rows of views: {report['views']}; queries run: {report['queries']}")
sessions, samples = report["sessions"], report["arrived"]
print(f"\n{sessions:,} sessions, {samples / max(1, sessions):.0f} samples each; for a million of these sessions:")
# The even shards send to Kafka.
topic_share = (options.shards + 1) // 2 / options.shards
for part, share in (("producers", 1), ("brokers", topic_share), ("nats-server", 1 - topic_share), ("ClickHouse", 1)):
    seconds = processor.get(part, 0) / share if share else 0
    print(f"  {part:12} {seconds * 1e6 / max(1, samples):6.1f} µs of processor time a sample, {seconds / max(1, sessions) * 1e6 / 60:8.0f} minutes of one core")
print(f"  lines        {report['lineBytes'] / max(1, samples):6.0f} bytes a sample, {report['lineBytes'] / max(1, sessions) / 1e3:8.1f} GB")
print(f"  ClickHouse   {report['diskBytes'] / max(1, samples):6.0f} bytes a sample, {report['diskBytes'] / max(1, sessions) / 1e3:8.1f} GB on disk")
is_equal = all(wanted == found for _, wanted, found in checks)
say("every figure is equal" if is_equal else "FAILED: a figure differs")
sys.exit(0 if is_equal else 1)
