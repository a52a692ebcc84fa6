import Foundation
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentOrigin

/// Measures time over real sockets: no byte comes before its instant, and on a machine that is not busy none comes
/// late.
@Suite("The origin, in real time", .ownThread, .timeLimit(.minutes(30)), .serialized)
struct OriginAloneTests {
    /// The largest delay of a byte: the duration of a piece, and the delay by a busy machine.
    private static let tolerance = 0.050

    private func origin(_ schedule: String, faults: [String] = [], sharing: LinkSharing = .fair) async throws -> Origin
    {
        var configuration = OriginConfiguration()
        configuration.sharing = sharing
        return try await Origin.start(
            media: [.fixtures(try await SharedFixtures.get())],
            schedule: DeliverySchedule(schedule),
            faults: faults.map { try FaultRule($0) },
            configuration: configuration
        )
    }

    /// Checks that a time is not too early, and on a machine that is not busy not too late either.
    private func check(
        _ time: Double?,
        _ expected: Double,
        early: Double = 0.01,
        late: Double = tolerance,
        _ machine: MachineLoad,
        _ subject: String
    ) throws {
        let time = try #require(time)
        #expect(time > expected - early, "\(subject)")
        if machine.allowsJudging(subject) { #expect(time < expected + late, "\(subject)") }
    }

    /// No byte before its instant, and on a machine that is not busy none later than allowed; times count from the
    /// request's.
    private func check(
        _ answer: RawClient.Response,
        _ schedule: DeliverySchedule,
        latency: Double = 0,
        _ machine: MachineLoad
    ) throws {
        for (time, bytes) in answer.arrivals {
            let instant = try #require(schedule.instant(ofByte: bytes, startingAt: .seconds(latency)))
            // The client's clock starts just before the server sees the request, and so do its readings.
            #expect(time > instant.seconds - 0.001, "byte \(bytes)")
        }
        guard machine.allowsJudging("the instants of the last bytes of a response") else { return }
        for count in stride(from: 1, through: answer.body.count, by: 10_000) {
            let time = try #require(answer.time(ofByte: count))
            let instant = try #require(schedule.instant(ofByte: count, startingAt: .seconds(latency)))
            #expect(time < instant.seconds + Self.tolerance, "byte \(count)")
        }
    }

    @Test("The origin sends a dip from 4000 to 600 and back to 4000 kbit/s by its schedule")
    func dip() async throws {
        let text = "4000k for 1s, 600k for 2s, 4000k"
        let origin = try await origin(text)
        let machine = MachineLoad()
        let answer = try await fetch(origin.port, "/vod/movie.ts", limit: 1_000_000)
        #expect(answer.body.count == 1_000_000)
        try check(answer, DeliverySchedule(text), machine)
        // 500 kB in the first second, 150 kB in the next two, the rest in 0.7 s.
        try check(answer.arrivals.last?.time, 3.7, machine, "the dip")
        await origin.stop()
    }

    @Test("An outage delays a response until the next step, and latencies apply")
    func stall() async throws {
        let text = "800k latency 200ms for 1s, 0 for 500ms, 800k"
        let origin = try await origin(text)
        let machine = MachineLoad()
        let answer = try await fetch(origin.port, "/vod/ts/v0/0.ts")
        try check(answer.headTime, 0.2, early: 0.001, machine, "the latency")
        try check(answer, DeliverySchedule(text), latency: 0.2, machine)
        await origin.stop()
    }

    @Test("Two concurrent responses share the link by its rule", arguments: LinkSharing.allCases)
    func sharing(sharing: LinkSharing) async throws {
        let origin = try await origin("1600k", sharing: sharing)
        // 100,016 bytes each: half a second alone.
        let machine = MachineLoad()
        async let first = fetch(origin.port, "/vod/ts/v0/0.ts")
        try await until { origin.requests.count == 1 }
        let second = try await fetch(origin.port, "/vod/ts/v0/1.ts")
        let ends = try await (first.arrivals.last?.time, second.arrivals.last?.time)
        let expected = sharing == .fair ? 1.0 : 0.5
        if machine.allowsJudging("how two responses share the link") {
            #expect(abs(try #require(ends.0) - expected) < Self.tolerance)
            #expect(abs(try #require(ends.1) - 1.0) < Self.tolerance)
        }
        // Both together have to pass the link; the client's clock starts at the later request's beginning.
        #expect(try #require(ends.0) > 0.49)
        await origin.stop()
    }

    @Test("Sessions have separate links and separate time zeros")
    func sessions() async throws {
        let origin = try await origin("1600k for 500ms, 160k")
        let machine = MachineLoad()
        async let first = fetch(origin.port, "/s/a/vod/ts/v0/0.ts")
        async let second = fetch(origin.port, "/s/b/vod/ts/v0/0.ts")
        for answer in try await [first, second] {
            try check(answer.arrivals.last?.time, 0.5, machine, "a session")
        }
        let third = try await fetch(origin.port, "/s/c/vod/ts/v0/0.ts")
        try check(third.arrivals.last?.time, 0.5, machine, "a later session")
        await origin.stop()
    }

    @Test("curl measures the download time of the bandwidth")
    func curl() async throws {
        let origin = try await origin("800k latency 100ms")
        let machine = MachineLoad()
        let format = "%{http_code} %{size_download} %{time_starttransfer} %{time_total}"
        let result = try await command(["curl", "-s", "-o", "/dev/null", "-w", format, origin.url("vod/ts/v0/0.ts")])
        let numbers = result.output.split(separator: " ").compactMap { Double($0) }
        try #require(numbers.count == 4)
        #expect(numbers[0] == 200 && numbers[1] == 100_016)
        try check(numbers[2], 0.1, early: 0.001, machine, "the first byte by curl")
        try check(numbers[3], 1.10016, machine, "the whole by curl")
        await origin.stop()
    }

    @Test("A slow first byte, and a byte at a time")
    func slow() async throws {
        let origin = try await origin("unlimited", faults: ["slow 300ms nth 1", "trickle 1 every 10ms nth 2"])
        let machine = MachineLoad()
        let late = try await fetch(origin.port, "/vod/ts/v0/0.ts")
        try check(late.headTime, 0.3, early: 0.001, machine, "a slow first byte")
        let trickle = try await fetch(origin.port, "/vod/aes/key")
        #expect(trickle.body.count == 16)
        try check(trickle.arrivals.last?.time, 0.15, machine, "a byte at a time")
        if machine.allowsJudging("the pieces of a trickle") { #expect(trickle.arrivals.count >= 8) }
        await origin.stop()
    }

    @Test("Bytes that a client does not read in time are delayed, and the schedule continues")
    func slowReader() async throws {
        let origin = try await origin("8000k")
        let port = origin.port
        let machine = MachineLoad()
        let times = try await blocking {
            let client = try RawClient(port: port)
            let start = DispatchTime.now().uptimeNanoseconds
            client.send("GET /vod/movie.ts HTTP/1.1\r\nHost: test\r\n\r\n")
            Thread.sleep(forTimeInterval: 1.5)
            let answer = client.receive(limit: 1_400_000)
            return (answer.body.count, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9)
        }
        #expect(times.0 == 1_400_000)
        try check(times.1, 1.5, early: 0.2, late: 0.2, machine, "what a slow reader gets")
        await origin.stop()
    }

    @Test("ffmpeg plays live streams over the seam of the loop", arguments: ["live/fmp4/v0.m3u8", "live/ts/v0.m3u8"])
    func livePlayback(path: String) async throws {
        // The stream has been on for a minute; at 72 s the loop restarts.
        let clock = VirtualClock()
        var configuration = OriginConfiguration()
        configuration.clock = clock
        let origin = try await Origin.start(
            media: [.fixtures(try await SharedFixtures.get())],
            configuration: configuration
        )
        clock.advance(by: .seconds(18))
        let result = try await command(
            ["timeout", "1800", "ffmpeg", "-nostdin", "-v", "error", "-live_start_index", "0"]
                + ["-i", origin.url(path + "?window=10"), "-t", "15", "-map", "0:v:0", "-f", "framecrc", "-"]
        )
        let times = result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").dropFirst(2).first.flatMap { Int($0.drop { $0 == " " }) } }
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(times == Array(0..<375))
        await origin.stop()
    }

    @Test("Four hundred connections are served at once")
    func many() async throws {
        let origin = try await origin("unlimited")
        let port = origin.port
        let sizes = try await blocking {
            let clients = try (0..<400).map { _ in try RawClient(port: port) }
            for client in clients { client.send("GET /vod/ts/v0/0.ts HTTP/1.1\r\nHost: test\r\n\r\n") }
            return clients.map { $0.receive().body.count }
        }
        #expect(sizes == Array(repeating: 100_016, count: 400))
        #expect(origin.requests.count == 400 && origin.requests.allSatisfy { $0.outcome == .complete })
        await origin.stop()
    }

    @Test("Two hundred idle connections cost little memory, and are counted")
    func idle() async throws {
        let origin = try await Origin.start()
        let port = origin.port
        let before = Self.residentBytes
        let clients = try await blocking { try UncheckedClients((0..<200).map { _ in try RawClient(port: port) }) }
        try await until { origin.connectionCount == 200 }
        if let before, let after = Self.residentBytes, MachineLoad.allowsJudgingMemory(of: "idle connections") {
            #expect(after - before < 200 * 50_000)
        }
        #expect(try await fetch(port, "/favicon.ico").status == 200)
        clients.close()
        try await until { origin.connectionCount == 0 }
        await origin.stop()
    }

    /// From `/proc/self/statm` (proc(5)), in pages; nil where the file is absent.
    private static var residentBytes: Int? {
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 }
    }
}

/// Unchecked: made by one thread, closed by another after it.
private final class UncheckedClients: @unchecked Sendable {
    private var clients: [RawClient]
    init(_ clients: [RawClient]) { self.clients = clients }
    func close() { clients = [] }
}
