import Foundation
import Instrument
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Preload hints", .ownThread)
struct PreloadHintTests {
    /// A low-latency stream of twelve seconds: segments of four seconds, each of two parts. The first segment is
    /// complete at the beginning; a part comes every two seconds.
    private struct Stream: Sendable {
        /// The hinted address in front of a part; nil for that of the part.
        var hint: @Sendable (Int) -> String? = { _ in nil }
        /// Further attributes of the hints.
        var attributes = ""
        /// The initialization section of each part.
        var section: @Sendable (Int) -> String = { _ in "init.mp4" }
        /// The section that is hinted at, in front of a part.
        var sectionHint: @Sendable (Int) -> String? = { _ in nil }

        static func availability(ofPart part: Int) -> Int64 { max(0, Int64(part - 1) * 2_000_000_000) }

        /// The stream adds nothing before this instant.
        var frozenUntil: Int64 = 0

        func playlist(at instant: Int64) -> String {
            let instant = instant < frozenUntil ? 0 : instant
            let count = (0..<6).count { Self.availability(ofPart: $0) <= instant }
            var lines = [
                "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:4", "#EXT-X-PART-INF:PART-TARGET=2",
                "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=4", "#EXT-X-MEDIA-SEQUENCE:0",
            ]
            for part in 0..<count {
                if part == 0 || section(part) != section(part - 1) {
                    lines.append("#EXT-X-MAP:URI=\"\(section(part))\"")
                }
                lines.append("#EXT-X-PART:DURATION=2,URI=\"media\(part).m4s\",INDEPENDENT=YES")
                if part % 2 == 1 { lines += ["#EXTINF:4,", "segment\(part / 2).m4s"] }
            }
            guard count < 6 else { return (lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n") }
            lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(hint(count) ?? "media\(count).m4s")\"\(attributes)")
            if let section = sectionHint(count) { lines.append("#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"\(section)\"") }
            return lines.joined(separator: "\n")
        }

        func resource(_ path: String, _ folder: String, at instant: Int64) -> [UInt8]? {
            let name = path.dropFirst()
            if name == "live.m3u8" { return Array(playlist(at: instant).utf8) }
            func file(_ name: some StringProtocol) -> [UInt8]? {
                (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
            }
            if name == "other.m4s" { return Array("not media".utf8) }
            if name.hasPrefix("init") { return file("init.mp4") }
            guard name.hasPrefix("segment"), let number = name.dropFirst(7).first?.wholeNumberValue else {
                return file(name)
            }
            return (0..<2).compactMap { file("media\(2 * number + $0).m4s") }.reduce([], +)
        }
    }

    /// - Parameter delay: the nanoseconds by which a part arrives later than a playlist lists it.
    private func play(
        _ stream: Stream = Stream(),
        hints: Set<LivePolicy.HintedResource> = [.part, .initialization],
        use: PlayerProfile.SegmentUse = .complete,
        delay: Int64 = 0,
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil },
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> (played: Played, requests: [SimulatedNetwork.Request]) {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock()
        let network = SimulatedNetwork(
            clock: clock,
            bandwidth: [(0, 80_000_000)],
            latency: 1_000_000,
            fault: { path, count in
                if let fault = fault(path, count) { return fault }
                guard path.hasPrefix("/media"), let part = path.dropFirst(6).first?.wholeNumberValue else { return nil }
                let wait = Stream.availability(ofPart: part) + delay - clock.now.nanoseconds
                return wait > 0 ? .late(wait) : nil
            },
            resource: { stream.resource($0, folder, at: clock.now.nanoseconds) }
        )
        let live = LivePolicy(targetLatency: .targetDurations(1), usesParts: true, preloadedHints: hints)
        let configuration = ProbeConfiguration(profile: .plain(use: use, live: live))
        let played = await playStream(
            "/live.m3u8",
            over: network,
            clock,
            configuration,
            until: .seconds(60),
            script: script
        )
        return (played, network.requests)
    }

    private func warnings(_ played: Played) -> [String] {
        played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
    }

    private func media(_ requests: [SimulatedNetwork.Request]) -> [String] {
        requests.map(\.path).filter { !$0.hasSuffix("m3u8") }
    }

    private static let usual = [
        "/init.mp4", "/segment0.m4s", "/media2.m4s", "/media3.m4s", "/media4.m4s", "/media5.m4s",
    ]

    @Test(
        "A hinted part is requested before a playlist lists it, and once",
        arguments: [Int64(0), 500_000_000],
        [PlayerProfile.SegmentUse.complete, .progressive]
    )
    func comesTrue(delay: Int64, use: PlayerProfile.SegmentUse) async throws {
        let (played, requests) = try await play(use: use, delay: delay)
        #expect(played.outcome == .ended && warnings(played) == [], "\(played.story)")
        #expect(media(requests) == Self.usual)
        for part in 2..<6 {
            let request = try #require(requests.first { $0.path == "/media\(part).m4s" })
            #expect(request.instant < Stream.availability(ofPart: part), "\(part)")
        }
        #expect(played.all(.bufferBegin).count == 1 && played.all(.error).isEmpty)
    }

    @Test("Without the profile's wish, a part is requested once a playlist lists it")
    func unused() async throws {
        let (played, requests) = try await play(hints: [])
        #expect(played.outcome == .ended && media(requests) == Self.usual)
        for part in 2..<6 {
            let request = try #require(requests.first { $0.path == "/media\(part).m4s" })
            #expect(request.instant >= Stream.availability(ofPart: part), "\(part)")
        }
    }

    @Test("A hinted part is media from the instant at which a playlist lists it")
    func notBefore() async throws {
        // The hinted part is there long before it should exist; nobody knows whether it will be played.
        let (early, _) = try await play { path, _ in path == "/media2.m4s" ? .late(1) : nil }
        let (usual, _) = try await play()
        #expect(early.outcome == .ended && early.time(.end) == usual.time(.end))
        // From 4 s on, playback waits for a playlist that lists the part.
        let (late, requests) = try await play { path, count in
            path == "/live.m3u8" && count == 2 ? .late(5_000_000_000) : nil
        }
        #expect(media(requests).filter { $0 == "/media2.m4s" }.count == 1)
        let stall = try #require(late.all(.bufferFinish).last)
        #expect(late.outcome == .ended && stall.time.instant.milliseconds >= 7_000, "\(late.story)")
    }

    @Test("A hint that is withdrawn is cancelled, and playback continues with what the playlist lists")
    func withdrawn() async throws {
        let records = Lock([RequestRecord]())
        var stream = Stream()
        stream.hint = { $0 == 3 ? "other.m4s" : nil }
        let (played, requests) = try await play(
            stream,
            fault: { path, _ in path == "/other.m4s" ? .hangAfter(0) : nil },
            script: { _, probe in probe.report(requestsTo: { record in records.withLock { $0.append(record) } }) }
        )
        #expect(played.outcome == .ended && warnings(played) == [], "\(played.story)")
        #expect(played.all(.bufferBegin).count == 1)
        #expect(media(requests).filter { $0 != "/other.m4s" } == Self.usual)
        #expect(media(requests).count { $0 == "/other.m4s" } == 1)
        let dropped = records.withLock { $0.filter { $0.url.hasSuffix("other.m4s") } }
        #expect(dropped.count == 1 && dropped.first?.status == nil && dropped.first?.failure != nil)
    }

    @Test("A hint that is withdrawn after it has arrived is discarded")
    func withdrawnLate() async throws {
        var stream = Stream()
        stream.hint = { $0 == 3 ? "other.m4s" : nil }
        let (played, requests) = try await play(stream)
        #expect(played.outcome == .ended && warnings(played) == [], "\(played.story)")
        #expect(media(requests).filter { $0 != "/other.m4s" } == Self.usual)
    }

    @Test("A hint that fails is a warning, and the part is requested again once it is listed", arguments: [404, 500])
    func refused(status: Int) async throws {
        let (played, requests) = try await play { path, count in
            path == "/media3.m4s" && count == 1 ? .status(status) : nil
        }
        #expect(played.outcome == .ended && warnings(played) == ["preloadHint"], "\(played.story)")
        #expect(played.all(.error).isEmpty && played.all(.bufferBegin).count == 1)
        #expect(media(requests).count { $0 == "/media3.m4s" } == 2)
        #expect(Set(media(requests)) == Set(Self.usual))
    }

    @Test("A hint without an answer ends with its timeout, and playback continues")
    func timeout() async throws {
        var stream = Stream()
        stream.frozenUntil = 5_900_000_000
        let (played, requests) = try await play(stream) { path, count in
            path == "/media2.m4s" && count == 1 ? .hangAfter(0) : nil
        }
        #expect(played.outcome == .ended && warnings(played) == ["preloadHint"], "\(played.story)")
        let asked = try #require(requests.first { $0.path == "/media2.m4s" })
        #expect(played.time(.streamWarning) == (asked.instant + 5_000_000_000) / 1_000_000)
        // The segment is complete by now.
        #expect(media(requests).count { $0 == "/media2.m4s" } == 1 && media(requests).contains("/segment1.m4s"))
    }

    @Test("A hint that was withdrawn is not requested again")
    func repeated() async throws {
        var stream = Stream()
        // The same hint in three playlists, of which the last one is complete.
        stream.hint = { $0 >= 4 ? "other.m4s" : nil }
        let (played, requests) = try await play(stream) { path, _ in path == "/other.m4s" ? .hangAfter(0) : nil }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(media(requests).count { $0 == "/other.m4s" } == 1)
    }

    @Test("A hint of bytes without an end is not requested")
    func openEnded() async throws {
        var stream = Stream()
        stream.attributes = ",BYTERANGE-START=0"
        let (played, requests) = try await play(stream)
        #expect(played.outcome == .ended && media(requests) == Self.usual)
        for part in 2..<6 {
            let request = try #require(requests.first { $0.path == "/media\(part).m4s" })
            #expect(request.instant >= Stream.availability(ofPart: part), "\(part)")
        }
    }

    @Test("A hinted initialization section is requested before the part that needs it, and once")
    func section() async throws {
        var stream = Stream()
        stream.section = { $0 < 4 ? "init.mp4" : "init2.mp4" }
        stream.sectionHint = { $0 == 4 ? "init2.mp4" : nil }
        let (played, requests) = try await play(stream)
        #expect(played.outcome == .ended && warnings(played) == [], "\(played.story)")
        #expect(media(requests).sorted() == (Self.usual + ["/init2.mp4"]).sorted())
        let hinted = try #require(requests.first { $0.path == "/init2.mp4" })
        #expect(hinted.instant < Stream.availability(ofPart: 4))
        let (plain, late) = try await play(stream, hints: [.part])
        #expect(plain.outcome == .ended)
        #expect(try #require(late.first { $0.path == "/init2.mp4" }).instant >= Stream.availability(ofPart: 4))
    }

    @Test("A stop and a seek drop the hint")
    func stopped() async throws {
        let (sought, requests) = try await play(script: { clock, probe in clock.at(1000) { probe.seek(to: .zero) } })
        #expect(sought.outcome == .ended && sought.all(.error).isEmpty, "\(sought.story)")
        #expect(Set(media(requests)) == Set(Self.usual))
        let (stopped, _) = try await play(script: { clock, probe in clock.at(1000) { probe.stop() } })
        #expect(stopped.outcome == .stopped)
    }

    @Test("A profile requests the hints that its player requests")
    func profiles() {
        func hints(_ profile: PlayerProfile) -> Set<LivePolicy.HintedResource> { profile.live.preloadedHints }
        #expect(hints(.standard) == [.part, .initialization] && hints(.avPlayer) == [.part, .initialization])
        #expect(hints(.exoPlayer) == [.part] && hints(.shaka) == [.part])
        #expect([PlayerProfile.hlsJS, .dashJS, .mpv].allSatisfy { hints($0).isEmpty })
    }
}
