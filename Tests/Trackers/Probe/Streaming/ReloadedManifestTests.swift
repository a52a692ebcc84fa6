import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Manifests that change", .ownThread)
struct ReloadedManifestTests {
    private static func manifest(_ representations: String..., location: String = "") -> String {
        let rows = representations.enumerated().map { index, name in
            "<Representation id=\"\(name)\" bandwidth=\"\((index + 1) * 100_000)\"/>"
        }
        return """
            <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" \
            timeShiftBufferDepth="PT60S" suggestedPresentationDelay="PT2S">\(location)<Period id="p" start="PT0S">\
            <AdaptationSet id="0" mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
            initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/media$Number$.m4s"/>\
            \(rows.joined())</AdaptationSet></Period></MPD>
            """
    }

    /// The stream of twelve seconds, from its fourth second on.
    private static func patchable(ttl: Int = 60) -> String {
        manifest("a", location: "<PatchLocation ttl=\"\(ttl)\">patch.mpp</PatchLocation>").replacing(
            "<MPD ",
            with: "<MPD id=\"m\" publishTime=\"1970-01-01T00:00:00Z\" "
        )
    }

    private static func patch(_ operations: String = "") -> String {
        "<Patch mpdId=\"m\" originalPublishTime=\"1970-01-01T00:00:00Z\" publishTime=\"1970-01-01T00:00:00Z\">"
            + operations + "</Patch>"
    }

    private func patchWarnings(_ played: Played) -> Int {
        played.all(.streamWarning).count { $0.attributes[.warningCode] == "manifestPatch" }
    }

    @Test("Patches are loaded instead of the manifest, as often")
    func patches() async throws {
        let (played, network) = try await play(until: .seconds(7)) { _, _ in
            Self.patchable()
        } patch: { _ in
            Self.patch()
        }
        #expect(!played.actions.contains(.error) && patchWarnings(played) == 0, "\(played.story)")
        #expect(network.names.count { $0 == "live.mpd" } == 1 && network.names.count { $0 == "patch.mpp" } == 3)
    }

    @Test("A profile without patches loads the manifest", arguments: [true, false])
    func withoutPatches(usesPatches: Bool) async throws {
        // A patch that has expired is not asked for.
        let (_, network) = try await play(until: .seconds(7), usesPatches: usesPatches) { _, _ in
            Self.patchable(ttl: usesPatches ? 1 : 60)
        } patch: { _ in
            Self.patch()
        }
        #expect(network.names.count { $0 == "live.mpd" } == 4 && !network.names.contains("patch.mpp"))
    }

    @Test(
        "After a patch that fails the whole manifest is loaded, without an error",
        arguments: [
            nil, "no patch", patch("<remove sel=\"/MPD/Period[9]\"/>"), patch().replacing("\"m\"", with: "\"other\""),
            "<Patch", patch().replacing("1970", with: "1971"), patch("<remove sel=\"/MPD/Period\"/>"),
        ]
    )
    func failedPatch(text: String?) async throws {
        let (played, network) = try await play(until: .seconds(7)) { _, _ in
            Self.patchable()
        } patch: { _ in
            text
        }
        #expect(!played.actions.contains(.error), "\(played.story)")
        #expect(patchWarnings(played) == 3)
        #expect(network.names.count { $0 == "live.mpd" } == 4 && network.names.count { $0 == "patch.mpp" } == 3)
        let media = network.names.filter { $0.hasSuffix("m4s") }
        #expect(media.count > 2 && Set(media).count == media.count)
    }

    @Test("A representation that a patch removes is replaced")
    func patchedLadder() async throws {
        let (played, network) = try await play(until: .seconds(7)) { _, _ in
            let more = "<Representation id=\"b\" bandwidth=\"200000\"/></AdaptationSet>"
            return Self.patchable().replacing("</AdaptationSet>", with: more)
        } patch: { number in
            number == 1
                ? Self.patch("<remove sel=\"/MPD/Period/AdaptationSet/Representation[@id='a']\"/>") : Self.patch()
        }
        #expect(!played.actions.contains(.error) && patchWarnings(played) == 0, "\(played.story)")
        let media = network.requests.map(\.path).filter { $0.hasSuffix("m4s") }
        #expect(media.first?.hasPrefix("/a/") == true && media.last?.hasPrefix("/b/") == true, "\(media)")
    }

    @Test("The profiles of players with patches use them")
    func profiles() {
        let names = PlayerProfile.named.filter(\.live.usesPatches).map(\.name)
        #expect(names == ["standard", "dashjs", "shaka"])
    }

    private func play(
        until limit: Duration,
        from milliseconds: Int64 = 4000,
        profile: PlayerProfile = .plain(),
        usesPatches: Bool = true,
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil },
        manifest: @escaping @Sendable (String, Int) -> String,
        patch: @escaping @Sendable (Int) -> String? = { _ in nil }
    ) async throws -> (Played, SimulatedNetwork) {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock(wallTime: WallTime(milliseconds: milliseconds))
        let (count, patchCount) = (Lock(0), Lock(0))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)], fault: fault) { path in
            if path.hasSuffix("mpd") {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return Array(manifest(path, number).utf8)
            }
            if path.hasSuffix("mpp") {
                let number = patchCount.withLock { count in
                    count += 1
                    return count
                }
                return patch(number).map { Array($0.utf8) }
            }
            let name = path.split(separator: "/").last ?? ""
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        var configuration = ProbeConfiguration(profile: profile)
        configuration.profile.live.usesPatches = usesPatches
        return (await playStream("/live.mpd", over: network, clock, configuration, until: limit), network)
    }

    @Test("A stream that is opened before its first segment is available starts with it", arguments: [-3000, 0, 1900])
    func beforeTheFirstSegment(milliseconds: Int64) async throws {
        let (played, network) = try await play(until: .seconds(12), from: milliseconds) { _, _ in Self.manifest("a") }
        let media = network.requests.filter { $0.path.hasSuffix("m4s") }
        #expect(media.first?.path == "/a/media0.m4s", "\(network.names)")
        // Two seconds after the stream's beginning; the request may come up to a reload later.
        let first = try #require(media.first?.instant) / 1_000_000 - network.requests[0].instant / 1_000_000
        #expect((2000 - milliseconds)...(4100 - milliseconds) ~= first, "\(first)")
        #expect(played.first(.start) != nil && !played.actions.contains(.error), "\(played.story)")
    }

    @Test("A manifest that lists no new segments is late, and then ends the playback by the profile")
    func silentEncoder() async throws {
        var profile = PlayerProfile.plain()
        profile.live.staleAfter = .targetDurations(3.5)
        let (played, _) = try await play(until: .seconds(60), from: 6000, profile: profile) { _, _ in
            let timeline = "<SegmentTimeline><S t=\"0\" d=\"2\" r=\"2\"/></SegmentTimeline></SegmentTemplate>"
            return Self.manifest("a").replacing(" duration=\"2\"", with: "")
                .replacing("$.m4s\"/>", with: "$.m4s\">\(timeline)")
        }
        let codes = played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
        #expect(codes.contains("latePlaylist"), "\(played.story)")
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .stalePlaylist && error.message.contains("manifest"))
    }

    @Test("After a whole load that failed, patches come no more often than before")
    func failedWholeLoad() async throws {
        let (played, network) = try await play(until: .seconds(9), profile: .plain(retries: 1)) { path, number in
            path.hasSuffix("mpd") && number == 2 ? .status(503) : nil
        } manifest: { _, _ in
            Self.patchable()
        } patch: { number in
            number == 1 ? "no patch" : Self.patch()
        }
        #expect(!played.actions.contains(.error), "\(played.story)")
        #expect(
            2...5 ~= network.names.count { $0 == "patch.mpp" },
            "\(network.names)"
        )
        #expect(network.names.count { $0 == "live.mpd" } <= 4)
    }

    @Test("A representation that disappears is replaced, in order, without an error")
    func representationGone() async throws {
        let (played, network) = try await play(until: .seconds(7)) { _, number in
            number < 3 ? Self.manifest("a", "b") : Self.manifest("b")
        }
        #expect(!played.actions.contains(.error), "\(played.story)")
        let media = network.requests.map(\.path).filter { $0.hasSuffix("m4s") }
        #expect(media.first?.hasPrefix("/a/") == true && media.last?.hasPrefix("/b/") == true, "\(media)")
        let numbers = network.names.compactMap { $0.hasSuffix("m4s") ? Int($0.dropFirst(5).dropLast(4)) : nil }
        // A segment whose representation was removed during its request is fetched from the other one.
        let first = try #require(numbers.first)
        #expect(Set(numbers).sorted() == Array(first...(first + Set(numbers).count - 1)), "\(media)")
        #expect(numbers == numbers.sorted() && numbers.count <= Set(numbers).count + 1, "\(media)")
    }

    @Test("A representation that is added below the current one does not change playback")
    func representationAdded() async throws {
        let (played, network) = try await play(until: .seconds(7)) { _, number in
            number < 3 ? Self.manifest("b") : Self.manifest("b", "c")
        }
        #expect(!played.actions.contains(.error), "\(played.story)")
        #expect(network.requests.allSatisfy { !$0.path.hasPrefix("/c/") })
    }

    @Test("The manifest is reloaded from its Location, and a reload that is not an MPD is a warning")
    func location() async throws {
        let (played, network) = try await play(until: .seconds(7)) { path, number in
            number == 3
                ? "#EXTM3U\n#EXTINF:2,\na.ts\n" : Self.manifest("a", location: "<Location>/other.mpd</Location>")
        }
        #expect(
            network.requests.map(\.path).filter { $0.hasSuffix("mpd") }.prefix(3) == [
                "/live.mpd", "/other.mpd", "/other.mpd",
            ]
        )
        #expect(!played.actions.contains(.error), "\(played.story)")
        #expect(played.actions.contains(.streamWarning))
    }
}
