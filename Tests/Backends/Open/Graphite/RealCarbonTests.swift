import Foundation
import Instrument
import InstrumentGraphite
import LoopbackServers
import TestTraits
import Testing

/// Carbon's cache with an empty store, which writes every value at once.
private struct RealCarbon {
    static let isInstalled = RealServer.program("carbon-cache.py") != nil && RealServer.program("python") != nil

    let server: RealServer
    let port: UInt16

    init() async throws {
        guard let python = RealServer.program("python"), let carbon = RealServer.program("carbon-cache.py") else {
            throw NoServer(why: "not installed")
        }
        let ports = try (0..<4).map { _ in try TestServer.closedPort() }
        let port = ports[0]
        server = try await RealServer(python, environment: ["GRAPHITE_ROOT": "/nonexistent"]) { scratch in
            let settings = """
                [cache]
                STORAGE_DIR = \(scratch)
                LOCAL_DATA_DIR = \(scratch)/whisper/
                CONF_DIR = \(scratch)/conf/
                LOG_DIR = \(scratch)/log/
                PID_DIR = \(scratch)/
                MAX_CREATES_PER_MINUTE = inf
                MAX_UPDATES_PER_SECOND = inf
                LINE_RECEIVER_INTERFACE = 127.0.0.1
                LINE_RECEIVER_PORT = \(port)
                PICKLE_RECEIVER_INTERFACE = 127.0.0.1
                PICKLE_RECEIVER_PORT = \(ports[1])
                CACHE_QUERY_INTERFACE = 127.0.0.1
                CACHE_QUERY_PORT = \(ports[2])
                ENABLE_TAGS = False
                ENABLE_LOGROTATION = False

                """
            try FileManager.default.createDirectory(atPath: scratch + "/conf", withIntermediateDirectories: true)
            try settings.write(toFile: scratch + "/conf/carbon.conf", atomically: true, encoding: .utf8)
            let schema = "[all]\npattern = .*\nretentions = 1s:2h\n"
            try schema.write(toFile: scratch + "/conf/storage-schemas.conf", atomically: true, encoding: .utf8)
            return [carbon, "--nodaemon", "--config=\(scratch)/conf/carbon.conf", "--pidfile=\(scratch)/pid", "start"]
        } isReady: {
            Self.answers(port)
        }
        self.port = port
    }

    private static func answers(_ port: UInt16) -> Bool {
        guard let probe = try? LineProbe(port: port) else { return false }
        return probe.isConnected
    }

    /// The values of a path by second, read back from its whisper file; waits until there are `count`.
    func values(_ path: String, count: Int) async throws -> [Int: Double] {
        guard let python = RealServer.program("python") else { throw NoServer(why: "not installed") }
        let file = server.scratch + "/whisper/" + path.split(separator: ".").joined(separator: "/") + ".wsp"
        let script = """
            import os, sys, time, whisper
            file, count = sys.argv[1], int(sys.argv[2])
            end = time.time() + 240
            found = {}
            while time.time() < end and len(found) < count:
                if os.path.exists(file):
                    (start, stop, step), values = whisper.fetch(file, time.time() - 7000)
                    found = {start + step * i: v for i, v in enumerate(values) if v is not None}
                time.sleep(0.1)
            for second, value in sorted(found.items()):
                print(second, repr(value))
            """
        let result = try await command(["timeout", "280", python, "-c", script, file, String(count)])
        var values: [Int: Double] = [:]
        for line in result.output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let second = Int(words[0]), let value = Double(words[1]) { values[second] = value }
        }
        return values
    }
}

/// Whether a server accepts connections on a port of the loopback address.
private struct LineProbe {
    let isConnected: Bool

    init(port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

@Suite(
    "Graphite backend with a real carbon",
    .ownThread,
    .serialized,
    .enabled(
        if: RealCarbon.isInstalled,
        "SKIPPED: there is no carbon to test with; scripts/install-servers.sh installs one"
    )
)
struct RealCarbonTests {
    @Test("Readings, counts and hostile names are read back from whisper files")
    func roundTrip() async throws {
        let carbon = try await RealCarbon()
        let backend = GraphiteBackend(GraphiteAddress(host: "127.0.0.1", port: carbon.port))
        // Whisper keeps no future and, here, two hours of the past.
        let now = SystemClock().timestamp.wallTime.milliseconds / 1000 * 1000 - 60_000
        var samples = (0..<20).map { Samples.metric(.startTime, .int(100 + $0), at: now + Int64($0) * 1000) }
        samples += (0..<30).map { Samples.metric(.numPlays, 2, at: now + Int64($0 / 10) * 1000) }
        samples.append(Samples.metric(.playTime, 1.5, at: now, ["trackerTarget": "../../etc pass\u{0}wd; é😀"]))
        let records = Samples.records(samples)
        // In two batches, so that a second's count continues in the second one.
        #expect(await backend.deliver(Batch(records: Array(records[..<35]))) == .acknowledged)
        #expect(await backend.deliver(Batch(records: Array(records[35...]))) == .acknowledged)
        let start = Int(now / 1000)
        let readings = try await carbon.values("instrument.unknown.metrics.StartTime", count: 20)
        #expect(readings == Dictionary(uniqueKeysWithValues: (0..<20).map { (start + $0, Double(100 + $0)) }))
        let counts = try await carbon.values("instrument.unknown.metrics.NumPlays", count: 3)
        #expect(counts == [start: 20, start + 1: 20, start + 2: 20])
        let odd = try await carbon.values("instrument.______etc_pass_wd__é😀.metrics.PlayTime", count: 1)
        #expect(odd == [start: 1.5])
        #expect(backend.alterations == [.replacedCharacters: 1])
        await backend.end()
    }

    @Test("Streams of a monitor are separate files, also those whose names Graphite writes alike")
    func streams() async throws {
        let carbon = try await RealCarbon()
        let now = SystemClock().timestamp.wallTime.milliseconds / 1000 * 1000 - 60_000
        var mapping = GraphiteMapping()
        mapping.omitted = ["monitorLabels", "monitorLocation"]
        let backend = GraphiteBackend(
            GraphiteAddress(host: "127.0.0.1", port: carbon.port),
            configuration: GraphiteConfiguration { [mapping] in mapping($0) }
        )
        let samples = [("a", 1), ("a_b", 2), ("a b", 3)].map { name, value in
            Samples.metric(.numPlays, .int(value), at: now, Samples.stream(name))
        }
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        let start = Int(now / 1000)
        for (node, value) in [("a", 1.0), ("a_b", 2), ("a_b-c8687a08", 3)] {
            let values = try await carbon.values("instrument.\(node).metrics.NumPlays", count: 1)
            #expect(values == [start: value], "\(node)")
        }
        await backend.end()
    }
}
