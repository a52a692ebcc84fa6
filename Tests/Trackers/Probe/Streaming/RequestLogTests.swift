import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// The origin's log contains exactly the required requests: none repeated, none missing. As fast as the network
/// allows.
@Suite("The origin's request log", .ownThread, .timeLimit(.minutes(30)))
struct RequestLogTests {
    private func log(
        _ path: String,
        _ profile: PlayerProfile = .plain(),
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> [String] {
        let fixtures = try await InstrumentOrigin.Fixtures.make(in: MediaCache.origin)
        let origin = try await Origin.start(media: [.fixtures(fixtures)])
        let clock = VirtualClock(wallTime: SystemClock().wallTime)
        let configuration = ProbeConfiguration(profile: profile)
        let probe = Probe(MediaSource(origin.url(path)), configuration: configuration, clock: clock)
        script(clock, probe)
        let outcome = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: probe.playThrough(advancing: clock)) }.start()
        }
        #expect(outcome == .ended)
        let folder = path.split(separator: "/").dropLast().joined(separator: "/") + "/"
        let paths = origin.requests.map { record in
            record.path.replacingOccurrences(of: "/" + folder, with: "").replacingOccurrences(of: folder, with: "")
                + (record.range.map { " " + $0 } ?? "")
        }
        await origin.stop()
        return paths
    }

    private func segments(_ folder: String, _ numbers: any Sequence<Int>, _ ending: String) -> [String] {
        numbers.map { "\(folder)/\($0).\(ending)" }
    }

    @Test("A transport stream requests the playlists, and each segment once, in order")
    func transportStream() async throws {
        #expect(try await log("vod/ts/master.m3u8") == ["master.m3u8", "v0.m3u8"] + segments("v0", 0..<12, "ts"))
    }

    // A lock wrapped the observer with each access: calls grew deeper with each request, until the stack overflowed.
    @Test("The observer of requests is called as directly at the end of a session as at its start")
    func directCalls() async throws {
        let depths = Lock([Int]())
        _ = try await log("vod/ts/master.m3u8", .plain(maximum: .seconds(4))) { _, probe in
            probe.report(requestsTo: { _ in depths.withLock { $0.append(Thread.callStackReturnAddresses.count) } })
        }
        let media = depths.withLock { $0 }.dropFirst(4)
        #expect(media.count == 10)
        #expect(Set(media.suffix(4)) == Set(media.prefix(4)), "\(depths.withLock { $0 })")
    }

    @Test("Seeks fetch missing segments, and never fetch buffered segments again")
    func jumps() async throws {
        // The buffer has four seconds. Seeks at 1 s within the buffer, at 3 s beyond it, at 5 s back.
        let asked = try await log("vod/ts/master.m3u8", .plain(maximum: .seconds(4))) { clock, probe in
            clock.at(1000) { probe.seek(to: .milliseconds(2500)) }
            clock.at(3000) { probe.seek(to: .seconds(15)) }
            clock.at(5000) { probe.seek(to: .seconds(9)) }
            clock.at(7000) { probe.seek(to: .seconds(100)) }
        }
        let numbers = asked.dropFirst(2).compactMap { Int($0.dropFirst(3).dropLast(3)) }
        // 15 s are in the eighth segment, 9 s in the fifth; after each, four seconds are fetched.
        #expect(Array(numbers.prefix(3)) == [0, 1, 2], "\(numbers)")
        let ahead = try #require(numbers.firstIndex(of: 7))
        #expect(Array(numbers[..<ahead]) == Array(0..<ahead))
        let back = try #require(numbers[ahead...].firstIndex(of: 4))
        #expect(Array(numbers[ahead..<back]) == Array(7..<(7 + back - ahead)), "\(numbers)")
        #expect(Array(numbers[back...]) == Array(4..<(4 + numbers.count - back)), "\(numbers)")
        #expect(asked.filter { $0.hasSuffix("m3u8") }.count == 2)
    }

    @Test("Switches fetch each playlist once, and no segment at two rungs")
    func switches() async throws {
        let script = [0, 0, 1, 1, 2, 2, 1, 1, 0, 0, 2, 2]
        let asked = try await log("vod/ts/master.m3u8", .plain(rule: RungScript(script: script)))
        var expected = ["master.m3u8"]
        for (number, rung) in script.enumerated() {
            if !expected.contains("v\(rung).m3u8") { expected.append("v\(rung).m3u8") }
            expected.append("v\(rung)/\(number).ts")
        }
        #expect(asked == expected)
    }

    @Test(
        "Separate audio and video are requested in order, with one initialization section each",
        arguments: ["vod/fmp4/master.m3u8", "vod/dash/number.mpd"]
    )
    func separateSound(path: String) async throws {
        let asked = try await log(path)
        #expect(Set(asked).count == asked.count, "\(asked)")
        let media = asked.filter { $0.hasSuffix("m4s") }
        for folder in Set(media.map { String($0.prefix { $0 != "/" }) }) {
            let numbers = media.filter { $0.hasPrefix(folder + "/") }.compactMap {
                Int($0.dropFirst(folder.count + 1).dropLast(4))
            }
            let first = try #require(numbers.first)
            #expect(numbers == Array(first..<(first + 12)), "\(folder): \(numbers)")
        }
        #expect(Set(media.map { $0.prefix { $0 != "/" } }).count == 2, "\(asked)")
        #expect(asked.filter { $0.contains("init") }.count == 2, "\(asked)")
    }

    @Test("Byte ranges are consecutive without a gap")
    func ranges() async throws {
        let asked = try await log("vod/range/master.m3u8")
        var ends: [String: Int] = [:]
        for entry in asked {
            let parts = entry.split(separator: " ").map(String.init)
            guard parts.count == 2 else { continue }
            let numbers = parts[1].dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
            try #require(numbers.count == 2, "\(entry)")
            #expect(numbers[0] == (ends[parts[0]] ?? -1) + 1, "\(asked)")
            ends[parts[0]] = numbers[1]
        }
        #expect(ends.count == 2 || ends.count == 1, "\(asked)")
    }
}
