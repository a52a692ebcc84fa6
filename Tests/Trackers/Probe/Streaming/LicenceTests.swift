import Foundation
import Instrument
import InstrumentHTTP
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Licences for encrypted samples", .ownThread)
struct LicenceTests {
    private static let keyID: [UInt8] = [
        0xA7, 0xE6, 0x1C, 0x37, 0x3E, 0x21, 0x90, 0x33, 0xC2, 0x10, 0x91, 0xFA, 0x60, 0x7B, 0xF3, 0xB8,
    ]

    /// Plays segments with Common Encryption and with a secret in the licence's address.
    private func play(
        isEncrypted: Bool = true,
        retries: Int = 0,
        licence: String? = "http://drm.test/licence?token=secret",
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil }
    ) async throws -> (played: Played, names: [String]) {
        let folder = try Fixtures.hlsProtected.get()
        let text = String(decoding: try Fixtures.data(folder + "/media.m3u8"), as: UTF8.self)
        let range = try #require(text.range(of: "#EXTINF"))
        let key = "#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI=\"skd://key\",KEYFORMAT=\"com.example.drm\"\n#EXTINF"
        let playlist = Array((isEncrypted ? text.replacingCharacters(in: range, with: key) : text).utf8)
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)], fault: fault) { path in
            if path == "/media.m3u8" { return playlist }
            if path == "/licence" { return Array("licence".utf8) }
            return (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(
            profile: .plain(use: .progressive, retries: retries),
            licenceURL: try licence.map { text in try HTTPURL(text) },
            reportsRequests: true
        )
        return (await playStream("/media.m3u8", over: network, clock, configuration), network.names)
    }

    @Test("The licence is asked for once, beside the first encrypted segment, and is counted")
    func asked() async throws {
        let (played, names) = try await play()
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(names.prefix(3) == ["media.m3u8", "init.mp4", "licence"] && names.count { $0 == "licence" } == 1)
        let kinds = played.all(.requestFinish).compactMap { $0.attributes[.requestKind] }
        #expect(kinds.count { $0 == "licence" } == 1)
    }

    @Test("Encrypted media is playable when the licence arrives, and the segment is fetched meanwhile")
    func delay() async throws {
        let (prompt, _) = try await play()
        let (late, names) = try await play { path, _ in path == "/licence" ? .late(3_000_000_000) : nil }
        #expect(late.outcome == .ended, "\(late.story)")
        #expect(names.count { $0 == "media0.m4s" } == 1)
        let times = [prompt.time(.start), late.time(.start)].compactMap(\.self)
        try #require(times.count == 2)
        #expect((2900...3000).contains(times[1] - times[0]), "\(times)")
    }

    @Test("Without an address, and without encrypted samples, no licence is asked for", arguments: [true, false])
    func notAsked(isEncrypted: Bool) async throws {
        let address = isEncrypted ? nil : "http://drm.test/licence"
        let (played, names) = try await play(isEncrypted: isEncrypted, licence: address)
        #expect(played.outcome == .ended && !names.contains("licence"))
    }

    @Test("A licence that fails is retried by the profile and then ends the playback, without showing its query")
    func failure() async throws {
        let (played, names) = try await play(retries: 1) { path, _ in path == "/licence" ? .status(403) : nil }
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .httpStatus && error.phase == .licence && error.status == 403, "\(error)")
        #expect(names.count { $0 == "licence" } == 2)
        #expect(error.url == "http://drm.test/licence" && !"\(played.events)".contains("secret"))
    }

    @Test("A licence that fails once is asked for again, and an empty one is an error")
    func retry() async throws {
        let (played, _) = try await play(retries: 1) { path, count in
            path == "/licence" && count == 1 ? .status(503) : nil
        }
        #expect(played.outcome == .ended, "\(played.story)")
        let (empty, _) = try await play { path, _ in path == "/licence" ? .bytes([]) : nil }
        guard case .failed(let error) = empty.outcome else {
            Issue.record("\(empty.story)")
            return
        }
        #expect(error.code == .wrongContent && error.phase == .licence)
    }

    @Test("The body has the systems' data, else the key identifier, else nothing")
    func body() throws {
        let file = [UInt8](try Fixtures.data(Fixtures.hlsProtected.get() + "/init.mp4"))
        let found = ContentProtection.data(in: file)
        #expect(found == Self.keyID || found[4..<8] == Array("pssh".utf8)[...], "\(found)")
        let systems = [Boxes.box("pssh", [1, 2, 3]), Boxes.box("pssh", [4])]
        let movie = Boxes.box("moov", systems[0] + Boxes.box("mvhd", []) + systems[1])
        #expect(ContentProtection.data(in: movie) == systems[0] + systems[1])
        #expect(ContentProtection.data(in: []).isEmpty && ContentProtection.data(in: [0, 0, 0, 9]).isEmpty)
        // A box inside a box without an end does not exhaust the stack.
        var deep: [UInt8] = []
        for _ in 0..<20_000 { deep += Boxes.word(160_000 - deep.count) + Array("sinf".utf8) }
        let entry = Boxes.box("encv", [UInt8](repeating: 0, count: 78) + deep)
        let table = Boxes.box("stsd", Boxes.word(0) + Boxes.word(1) + entry)
        let track = Boxes.box("trak", Boxes.box("mdia", Boxes.box("minf", Boxes.box("stbl", table))))
        #expect(ContentProtection.data(in: Boxes.box("moov", track)).isEmpty)
    }

    @Test("The licence is a POST request with that body")
    func method() throws {
        var table = FetchTable(ProbeConfiguration())
        let url = try HTTPURL("http://drm.test/licence?token=secret")
        let now = MonotonicInstant(nanoseconds: 0)
        let request = try #require(table.begin(.licence, url, body: Self.keyID, now: now)?.request)
        #expect(request.method == .post && request.body == Self.keyID && request.kind == .licence)
    }
}
