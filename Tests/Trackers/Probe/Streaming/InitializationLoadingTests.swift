import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentOrigin
@testable import InstrumentProbe

/// A segment and its initialization section that are requested at once, in any order of arrival.
@Suite("Initialization sections with their segments", .ownThread)
struct InitializationLoadingTests {
    private static let segments = (0..<6).map { "media\($0).m4s" }

    private func play(
        _ loading: PlayerProfile.InitializationLoading = .withSegment,
        use: PlayerProfile.SegmentUse = .complete,
        retries: Int = 0,
        after: [FailureResponse] = [],
        latency: Int64 = 0,
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil },
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> (Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let folder = try Fixtures.hlsMP4.get()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)], latency: latency, fault: fault) {
            path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        var profile = PlayerProfile.plain(use: use, retries: retries, after: after)
        profile.initializationLoading = loading
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream(
            "/media.m3u8",
            over: network,
            clock,
            configuration,
            until: .seconds(600),
            script: script
        )
        return (played, network)
    }

    private func instants(_ network: SimulatedNetwork, _ name: String) -> [Int64] {
        network.requests.filter { $0.path.hasSuffix(name) }.map { $0.instant / 1_000_000 }
    }

    @Test("Both are requested at the same instant, and playback starts a round trip earlier")
    func atOnce() async throws {
        let (before, first) = try await play(.beforeSegment, latency: 100_000_000)
        let (with, second) = try await play(.withSegment, latency: 100_000_000)
        #expect(second.names == ["media.m3u8", "init.mp4"] + Self.segments && second.names == first.names)
        #expect(instants(second, "init.mp4") == instants(second, "media0.m4s"))
        #expect(try #require(before.time(.start)) - #require(with.time(.start)) == 100)
        #expect(with.outcome == .ended && !with.actions.contains(.streamWarning))
    }

    @Test(
        "A segment that arrives first plays when its section has come",
        arguments: [PlayerProfile.SegmentUse.complete, .progressive]
    )
    func lateSection(use: PlayerProfile.SegmentUse) async throws {
        let (played, network) = try await play(use: use) { path, _ in
            path.hasSuffix("init.mp4") ? .late(3_000_000_000) : nil
        }
        let begun = try #require(instants(network, "init.mp4").first)
        let start = try #require(played.time(.start))
        // The section itself takes a millisecond of the link.
        #expect((begun + 3000...begun + 3010).contains(start), "\(start - begun)")
        #expect(network.names == ["media.m3u8", "init.mp4"] + Self.segments)
        #expect(played.outcome == .ended)
    }

    /// AES-CBC with padding by PKCS #7.
    private static func encrypted(_ plain: [UInt8], _ cipher: BlockCipher, _ vector: [UInt8]) -> [UInt8] {
        let padding = 16 - plain.count % 16
        var (bytes, block) = (plain + [UInt8](repeating: UInt8(padding), count: padding), vector)
        for start in stride(from: 0, to: bytes.count, by: 16) { cipher.chain(&bytes, at: start, to: &block) }
        return bytes
    }

    @Test(
        "Sections and segments that are encrypted as a whole are played with their keys",
        arguments: [PlayerProfile.InitializationLoading.beforeSegment, .withSegment]
    )
    func encrypted(loading: PlayerProfile.InitializationLoading) async throws {
        let folder = try Fixtures.hlsMP4.get()
        let (key, vector) = ([UInt8](0..<16), [UInt8](16..<32))
        let cipher = try #require(BlockCipher(key: key))
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)], latency: 100_000_000) { path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            if name == "key" { return key }
            guard let plain = (try? Fixtures.data(folder + "/" + name)).map({ [UInt8]($0) }) else { return nil }
            guard name.hasSuffix(".m3u8") else { return Self.encrypted(plain, cipher, vector) }
            let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x101112131415161718191a1b1c1d1e1f\n#EXT-X-MAP"
            return Array(String(decoding: plain, as: UTF8.self).replacing("#EXT-X-MAP", with: tag).utf8)
        }
        var profile = PlayerProfile.plain()
        profile.initializationLoading = loading
        let played = await playStream("/media.m3u8", over: network, clock, ProbeConfiguration(profile: profile))
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(network.names == ["media.m3u8", "key", "init.mp4"] + Self.segments)
        #expect(!played.actions.contains(.streamWarning))
        #expect(try #require(played.first(.start)).attributes[.resolutionHeight] != nil)
    }

    @Test("A section that fails is requested again while its segment waits; the segment is not")
    func sectionFails() async throws {
        let (played, network) = try await play(retries: 3) { path, count in
            path.hasSuffix("init.mp4") && count < 3 ? .status(503) : nil
        }
        #expect(network.names.filter { $0 == "init.mp4" }.count == 3)
        #expect(network.names.filter { $0 != "init.mp4" } == ["media.m3u8"] + Self.segments)
        #expect(played.outcome == .ended)
    }

    @Test("A segment that fails is requested again; its section is not")
    func segmentFails() async throws {
        let (played, network) = try await play(retries: 3) { path, count in
            path.hasSuffix("media0.m4s") && count < 3 ? .status(503) : nil
        }
        #expect(network.names.filter { $0 == "media0.m4s" }.count == 3)
        #expect(network.names.filter { $0 == "init.mp4" }.count == 1)
        #expect(played.outcome == .ended)
    }

    @Test("A section that never comes ends the playback, or leaves out its segments, whatever has arrived")
    func sectionMissing() async throws {
        let (failed, first) = try await play(retries: 1) { path, _ in path.hasSuffix("init.mp4") ? .status(404) : nil }
        guard case .failed(let error) = failed.outcome else {
            Issue.record("\(failed.story)")
            return
        }
        #expect(error.phase == .initialization && error.code == .notFound)
        #expect(first.names.filter { $0 == "media0.m4s" }.count == 1)
        let (skipped, second) = try await play(after: [.skipSegment]) { path, _ in
            path.hasSuffix("init.mp4") ? .late(100_000_000) : path.hasSuffix("media1.m4s") ? .status(404) : nil
        }
        #expect(skipped.outcome == .ended && second.names.filter { $0 == "init.mp4" }.count == 1)
    }

    @Test("Content that is no media, in front of a late section, is an error of the segment")
    func wrongContent() async throws {
        let (played, _) = try await play { path, _ in
            path.hasSuffix("init.mp4") ? .late(1_000_000_000) : path.hasSuffix("media0.m4s") ? .bytes([1, 2, 3]) : nil
        }
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.phase == .segment && error.code == .wrongContent)
    }

    @Test(
        "Whatever fails and whatever is late, all media plays in order and nothing is requested twice",
        arguments: 0..<60
    )
    func random(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var plan: [String: (failures: Int, late: Int64)] = [:]
        for name in ["init.mp4"] + Self.segments {
            plan[name] = (
                Int.random(in: 0..<6, using: &generator) == 0 ? Int.random(in: 1...2, using: &generator) : 0,
                Int64.random(in: 0...2_000_000_000, using: &generator)
            )
        }
        let seek = Bool.random(using: &generator) ? Int64.random(in: 0...8_000, using: &generator) : nil
        let use: PlayerProfile.SegmentUse = Bool.random(using: &generator) ? .complete : .progressive
        let faults = plan
        let (played, network) = try await play(use: use, retries: 3) { path, count in
            guard let one = faults[path.split(separator: "/").last.map(String.init) ?? ""] else { return nil }
            return count <= one.failures ? .status(503) : .late(one.late)
        } script: { clock, probe in
            guard let seek else { return }
            let instant = MonotonicInstant(nanoseconds: seek * 400_000)
            _ = clock.schedule(at: instant) { [weak probe] in probe?.seek(to: .milliseconds(seek)) }
        }
        #expect(played.outcome == .ended, "\(played.story)")
        guard seek == nil else { return }
        for (name, one) in plan {
            #expect(network.names.filter { $0 == name }.count == one.failures + 1, "\(name) of \(network.names)")
        }
    }
}
