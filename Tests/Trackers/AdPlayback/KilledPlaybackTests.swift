import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

/// Kills `player-monitor play --ads` while ads play and beacons are under way.
///
/// A short form runs with every test; `TORTURE_KILLS` selects the long form, with a tenth of its kills.
@Suite("Killed playbacks with ads", .ownThread, .serialized, .timeLimit(.minutes(180)))
struct KilledPlaybackTests {
    private static let events = ["impression", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete"]
    private static let ads = 3

    private static var kills: Int {
        ProcessInfo.processInfo.environment["TORTURE_KILLS"].flatMap { Int($0) }.map { max(1, $0 / 10) } ?? 6
    }

    @Test("Each beacon of killed playbacks is recorded once per identifier, in the order of its ad, without a gap")
    func kills() async throws {
        let origin = try await Stage.origin()
        let server = try RecordingAdServer(media: origin.url("vod/fmp4/v0"), events: Self.events, ads: Self.ads)
        let scratch = try Scratch()
        for run in 0..<Self.kills {
            let process = try start(run, server, origin, scratch)
            // At any moment of a run: before the document, in an ad, in a delivery.
            let isOver = wait(for: process, atMost: .milliseconds(Int.random(in: 60...1_500)))
            if !isOver { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
        }
        server.recover()
        let last = try start(Self.kills, server, origin, scratch)
        last.waitUntilExit()
        #expect(last.terminationStatus == 0)
        check(server.records, lastRun: Self.kills)
    }

    private func start(
        _ run: Int,
        _ server: RecordingAdServer,
        _ origin: Origin,
        _ scratch: Scratch
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: siblingProgram("player-monitor"))
        process.arguments = [
            "play", "--speed", "max", "--quiet", "--ads", server.url("/doc.xml"), "--ad-macro", "CONTENTID=\(run)",
            "--queue", scratch.file("queue"), "--backend", "file:" + scratch.file("samples.ndjson"),
            origin.url("vod/ts/v0.m3u8"),
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.start()
        return process
    }

    /// Whether the process ends within a time.
    private func wait(for process: Process, atMost time: DispatchTimeInterval) -> Bool {
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        return ended.wait(timeout: .now() + time) == .success
    }

    private func check(_ records: [RecordingAdServer.Record], lastRun: Int) {
        var eventsOfID: [String: Set<String>] = [:]
        var courses: [String: [String]] = [:]
        var seen: Set<String> = []
        for record in records {
            eventsOfID[record.id, default: []].insert(record.key + "/" + record.event)
            guard seen.insert(record.id).inserted else { continue }
            courses[record.key, default: []].append(record.event)
        }
        #expect(eventsOfID.values.allSatisfy { $0.count == 1 }, "one identifier for two beacons")
        for (key, course) in courses {
            #expect(course == Array(Self.events.prefix(course.count)), "\(key): \(course)")
        }
        for run in 0...lastRun {
            for ad in 1..<Self.ads where courses["\(run)/\(ad + 1)"] != nil {
                // An ad begins when the one before it is over.
                #expect(courses["\(run)/\(ad)"]?.count == Self.events.count, "run \(run), ad \(ad)")
            }
        }
        for ad in 1...Self.ads { #expect(courses["\(lastRun)/\(ad)"]?.count == Self.events.count) }
    }
}

/// An ad server that records beacons with their identifiers, and answers slowly or fails until it recovers.
private final class RecordingAdServer: Sendable {
    struct Record: Sendable {
        var id: String
        /// The run and the ad.
        var key: String
        var event: String
    }

    private struct State {
        var records: [Record] = []
        var count = 0
        var isMoody = true
    }

    private let state = Lock(State())
    private let server: TestServer

    init(media: String, events: [String], ads: Int) throws {
        let state = state
        server = try TestServer { request in
            let target = request.target
            if target.hasPrefix("/doc.xml") {
                let base = "http://" + (request.header("Host") ?? "")
                return [.respond("200 OK", Array(Self.document(base, events, ads).utf8))]
            }
            if target.hasPrefix("/ad.m3u8") {
                let text = Playlist.text(1).replacing("/vod/fmp4/v0", with: media)
                return [.respond("200 OK", Array(text.utf8))]
            }
            return state.withLock { Self.record(request, &$0) }
        }
    }

    func url(_ path: String) -> String { server.url(path) }
    func recover() { state.withLock { $0.isMoody = false } }
    var records: [Record] { state.withLock { $0.records } }

    private static func record(_ request: TestServer.Received, _ state: inout State) -> [TestServer.Step] {
        state.count += 1
        let parts = request.target.split(separator: "/").map(String.init)
        guard parts.count == 4, parts[0] == "b", let id = request.header("X-Beacon-ID") else {
            return [.respond("404 Not Found")]
        }
        if state.isMoody, state.count % 11 == 0 { return [.respond("503 Busy")] }
        state.records.append(Record(id: id, key: parts[1] + "/" + parts[2], event: parts[3]))
        // Recorded, and the client does not hear of it.
        if state.isMoody, state.count % 7 == 0 { return [.reset] }
        return [.wait(.milliseconds(state.isMoody ? 5 : 0)), .respond("204 No Content")]
    }

    private static func document(_ base: String, _ events: [String], _ ads: Int) -> String {
        let all = (1...ads).map { number in
            let tracking = events.dropFirst().map {
                "<Tracking event=\"\($0)\">\(base)/b/[CONTENTID]/\(number)/\($0)</Tracking>"
            }
            return "<Ad id=\"\(number)\" sequence=\"\(number)\"><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
                + "<Impression>\(base)/b/[CONTENTID]/\(number)/impression</Impression><Creatives><Creative><Linear>"
                + "<Duration>00:00:02</Duration><TrackingEvents>\(tracking.joined())</TrackingEvents><MediaFiles>"
                + "<MediaFile delivery=\"streaming\" type=\"application/x-mpegurl\" width=\"1\" height=\"1\">"
                + "\(base)/ad.m3u8</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad>"
        }
        return "<VAST version=\"3.0\">\(all.joined())</VAST>"
    }
}
