import InstrumentText

#if os(Linux)
import Foundation
import Glibc
import Instrument
import InstrumentJSON
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentSensors

@Suite("gpsd's lines", .ownThread)
struct GPSDReaderTests {
    private let now = WallTime(milliseconds: 42)

    private func report(_ lines: String...) -> (last: GPSDReport?, malformed: Int) {
        var (reader, last) = (GPSDReader(), GPSDReport?.none)
        for line in lines { last = reader.report(in: Array(line.utf8), now: now) }
        return (last, reader.malformedCount)
    }

    @Test("A fix in three dimensions gives a position with its accuracies")
    func position() throws {
        let line =
            #"{"class":"TPV","mode":3,"time":"2026-11-21T10:00:00.250Z","lat":48.1173,"lon":-11.5,"alt":1,"#
            + #""altMSL":545.4,"eph":4.5,"epx":1,"epy":1,"epv":9,"speed":11.5,"track":84.4,"magvar":-3.1}"#
        var expected = Location()
        // 2026-11-21 is day 20,778 since 1970.
        expected.time = WallTime(milliseconds: (20_778 * 86_400 + 36_000) * 1000 + 250)
        (expected.latitude, expected.longitude, expected.horizontalAccuracy) = (48.1173, -11.5, 4.5)
        (expected.altitude, expected.verticalAccuracy, expected.speed, expected.course) = (545.4, 9, 11.5, 84.4)
        #expect(report(line).last == .location(expected))
    }

    @Test("A fix in two dimensions has no accuracy of the altitude; the axes' errors replace a missing total")
    func twoDimensions() throws {
        let line = #"{"class":"TPV","mode":2,"lat":1,"lon":2,"alt":7,"epx":3,"epy":4,"epv":9,"speed":-1}"#
        guard case .location(let location)? = report(line).last else { throw GPSDTestError() }
        #expect(location.horizontalAccuracy == 5)
        #expect(location.altitude == 7)
        #expect(location.verticalAccuracy == nil)
        #expect(location.speed == nil)
        #expect(location.time == now)
        guard case .location(let bare)? = report(#"{"class":"TPV","mode":2,"lat":1,"lon":2}"#).last else {
            throw GPSDTestError()
        }
        #expect(bare.horizontalAccuracy == nil)
    }

    @Test(
        "A line without a fix gives no position",
        arguments: [
            #"{"class":"TPV","mode":1,"lat":1,"lon":2}"#, #"{"class":"TPV","mode":0}"#, #"{"class":"TPV"}"#,
            #"{"class":"TPV","mode":3,"lat":91,"lon":2}"#, #"{"class":"TPV","mode":3,"lat":"x","lon":2}"#,
        ]
    )
    func noFix(line: String) { #expect(report(line).last == .noFix) }

    @Test("The magnetic heading is the true heading minus the variation, which is positive to the east")
    func heading() {
        let variation = #"{"class":"TPV","mode":1,"magvar":4}"#
        var expected = Heading()
        (expected.time, expected.trueHeading, expected.magneticHeading) = (now, 3, 359)
        #expect(report(variation, #"{"class":"ATT","heading":3}"#).last == .heading(expected))
        expected.magneticHeading = nil
        #expect(report(#"{"class":"ATT","heading":3}"#).last == .heading(expected))
        #expect(report(#"{"class":"ATT","pitch":3}"#).last == nil)
    }

    @Test("Lines that are not JSON are counted and skipped: gpsd writes such attitudes for receivers with GST")
    func malformed() {
        let att = #"{"class":"ATT","device":"tcp://127.0.0.1:2950","time":"2026-11-21T10:00:00.000Z""heading":12.0}"#
        #expect(report(att, "{", "[]", "7", "", "\r", #"{"class":"SKY"}"#).malformed == 4)
        #expect(report(att, #"{"class":"TPV","mode":1}"#).last == .noFix)
    }

    @Test(
        "Valid times are read, and invalid times are nil",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:34:56.7Z", 951_827_696_700),
            ("2026-11-21T10:00:00.1239Z", 1_795_255_200_123),
            ("2026-11-21 10:00:00Z", nil), ("2026-13-01T00:00:00Z", nil), ("2026-11-21T10:00:00", nil), ("", nil),
            ("9", nil),
        ] as [(String, Int64?)]
    )
    func times(text: String, milliseconds: Int64?) {
        #expect(GPSDReader.time(["time": .string(text)])?.milliseconds == milliseconds)
    }

    @Test("The reader does not trap on random lines", arguments: UInt64(1)...200)
    func anything(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = Array(
            #"{"class":"TPV","mode":3,"time":"2026-11-21T10:00:00.250Z","lat":48.1,"lon":1e400,"epv":-9,"magvar":1}"#
                .utf8
        )
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            line[Int.random(in: 0..<line.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        var (reader, splitter) = (GPSDReader(), LineSplitter(maxLength: 50))
        _ = reader.report(in: line, now: now)
        for case .whole(let part) in splitter.append(line + [0x0A]) { #expect(part.count <= 50) }
    }

    @Test(
        "Addresses are read in the common spellings",
        arguments: [
            ("localhost", GPSDAddress(host: "localhost")), ("h:1", GPSDAddress(host: "h", port: 1)),
            ("[::1]:2950", GPSDAddress(host: "::1", port: 2950)), ("", nil), (":1", nil), ("h:0", nil), ("h:x", nil),
            ("::1", nil),
            ("h:65536", nil), ("[::1", nil),
        ] as [(String, GPSDAddress?)]
    )
    func addresses(text: String, address: GPSDAddress?) { #expect(GPSDAddress(text) == address) }
}

struct GPSDTestError: Error {}

// Among those that count threads, one after another.
extension NetworkTests {
    @Suite("A real gpsd", .ownThread)
    struct GPSDTests {
        @Test(
            "Positions of a recorded track arrive, also after gpsd restarts, and without listeners there is no thread"
        )
        func track() async throws {
            guard isInstalled("gpsd", for: "a real gpsd") else { return }
            let feeder = try Feeder()
            defer { feeder.stop() }
            let port = Int(try TestServer.closedPort())
            var daemon = try Self.daemon(port, fed: feeder.port)
            defer { kill(daemon.processIdentifier, SIGKILL) }
            let client = GPSDClient(GPSDAddress(host: "127.0.0.1", port: port))
            let sensors = Sensor(.location, client.location)
            let seen = Collected<SensorUpdate<Location>>()
            let run = sensors.listen { seen.add($0) }
            let isThere = { @Sendable (location: Location?) in
                // $GPRMC 4807.038,N 01131.000,E: 48 + 7.038/60, 11 + 31/60 degrees.
                guard let latitude = location?.latitude, let longitude = location?.longitude else { return false }
                return abs(latitude - 48.1173) < 0.01 && abs(longitude - 11.516667) < 0.01
            }
            #expect(await eventually { seen.values.contains { isThere($0.reading) } })
            #expect(sensorThreadCount() >= 1)
            kill(daemon.processIdentifier, SIGKILL)
            daemon.waitUntilExit()
            #expect(await eventually { seen.values.last?.absence == .missing })
            let count = seen.values.count
            #expect(isThere(client.lastLocation))
            daemon = try Self.daemon(port, fed: feeder.port)
            #expect(await eventually { seen.values.dropFirst(count).contains { isThere($0.reading) } })
            #expect(client.connectionCount >= 2)
            run.stop()
            #expect(await eventually { sensorThreadCount() == 0 })
        }

        @Test(
            "Invalid JSON of gpsd is skipped and counted while positions arrive"
        )
        func errorEstimates() throws {
            guard isInstalled("gpsd", for: "a real gpsd") else { return }
            let feeder = try Feeder(Feeder.errorsAndHeading + Feeder.track)
            defer { feeder.stop() }
            let port = Int(try TestServer.closedPort())
            let daemon = try Self.daemon(port, fed: feeder.port)
            defer { kill(daemon.processIdentifier, SIGKILL) }
            // Recorded for each run, as this daemon writes it.
            let log = try #require(Feeder.record(port, lines: 60))
            var (reader, splitter) = (GPSDReader(), LineSplitter(maxLength: 1 << 16))
            let reports = splitter.append(log).compactMap { line -> GPSDReport? in
                guard case .whole(let text) = line else { return nil }
                return reader.report(in: text, now: WallTime(milliseconds: 0))
            }
            let lines = log.split(separator: 0x0A).map { Data($0) }
            let isValid = { (line: Data) in (try? JSONSerialization.jsonObject(with: line)) != nil }
            #expect(reader.malformedCount == lines.count { !isValid($0) })
            let attitudes = lines.filter { $0.starts(with: Data(#"{"class":"ATT""#.utf8)) }
            #expect(!attitudes.isEmpty)
            #expect(reports.count { if case .location = $0 { true } else { false } } >= 5)
            let headings = reports.count { if case .heading = $0 { true } else { false } }
            #expect(headings == attitudes.count { isValid($0) })
            if attitudes.allSatisfy(isValid) { print("NOTE: this gpsd writes valid JSON beside error estimates") }
        }

        private static func daemon(_ port: Int, fed feed: Int) throws -> Process {
            let daemon = Process()
            daemon.executableURL = URL(fileURLWithPath: "/usr/sbin/gpsd")
            daemon.arguments = ["-N", "-n", "-S", "\(port)", "tcp://127.0.0.1:\(feed)"]
            daemon.standardError = FileHandle.nullDevice
            try daemon.start()
            return daemon
        }
    }
}

/// Serves a recorded track to each client, ten times a second, like a receiver.
private final class Feeder: Sendable {
    /// A fix with course and speed.
    static let track = [
        "GPRMC,TIME,A,4807.038,N,01131.000,E,022.4,084.4,211126,003.1,W",
        "GPGGA,TIME,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,",
        "GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1",
    ]
    /// Errors of a position, and a heading from true north.
    static let errorsAndHeading = [
        "GPGST,TIME,0.006,0.023,0.020,273.6,0.023,0.020,0.031", "GPHDT,123.456,T",
    ]

    let port: Int
    private let socket: Int32
    private let isStopped = Lock(false)

    init(_ sentences: [String] = Feeder.track) throws {
        (socket, port) = try Self.listener()
        let (socket, isStopped) = (socket, isStopped)
        Thread.detachNewThread {
            while !isStopped.withLock({ $0 }) {
                let client = accept(socket, nil, nil)
                if client < 0 { return }
                Thread.detachNewThread { Self.serve(client, sentences, isStopped) }
            }
        }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    /// The given number of lines from the daemon; nil if it does not write them within half an hour.
    static func record(_ port: Int, lines count: Int) -> [UInt8]? {
        let end = Date(timeIntervalSinceNow: 1800)
        while Date() < end {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            var (log, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
            guard connect(socket, to: port) else {
                usleep(10_000)
                continue
            }
            let request = Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8)
            _ = send(socket, request, request.count, Int32(MSG_NOSIGNAL))
            while Date() < end, case let size = recv(socket, &piece, piece.count, 0), size > 0 {
                log += piece.prefix(size)
                if log.count(where: { $0 == 0x0A }) >= count, log.last == 0x0A { return log }
            }
        }
        return nil
    }

    private static func connect(_ socket: Int32, to port: Int) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(clamping: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func serve(_ client: Int32, _ sentences: [String], _ isStopped: Lock<Bool>) {
        defer { close(client) }
        var second = 0
        while !isStopped.withLock({ $0 }) {
            second = (second + 1) % 60
            let time = "1200" + (second < 10 ? "0" : "") + "\(second)"
            for sentence in sentences.map({ $0.replacingOccurrences(of: "TIME", with: time) }) {
                let sum = sentence.utf8.reduce(0, ^)
                let bytes = Array(
                    ("$" + sentence + "*" + (sum < 16 ? "0" : "") + String(sum, radix: 16, uppercase: true) + "\r\n")
                        .utf8
                )
                if send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) <= 0 { return }
            }
            usleep(100_000)
        }
    }

    private static func listener() throws -> (Int32, Int) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && listen(socket, 8) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard isBound else { throw GPSDTestError() }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }
}
#endif
