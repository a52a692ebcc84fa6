import Foundation
import Instrument
import InstrumentAds
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// Where the breaks of an ad server's document play, what its requests say, and what its addresses may open.
@Suite("Breaks of an ad server", .ownThread, .timeLimit(.minutes(30)))
struct ServedBreakTests {
    private func play(
        _ document: String,
        _ content: String = Playlist.text(4),
        _ ads: AdConfiguration = AdConfiguration(),
        profile: PlayerProfile = .plain,
        answers: @escaping @Sendable (_ path: String, _ query: String) -> OverlayTransport.Answer? = { _, _ in nil }
    ) async throws -> Staged {
        var ads = ads
        ads.tag = AdURL(try await Stage.origin().url("doc.xml") + (ads.tag?.secretText ?? ""))
        return try await Stage.play("content.m3u8", ads, ProbeConfiguration(profile: profile)) { path, query in
            switch path {
            case "/content.m3u8": .text(content)
            case "/ad2.m3u8": .text(Playlist.text(1))
            case "/doc.xml": .text(document)
            default: answers(path, query)
            }
        }
    }

    private func linear(_ address: String, type: String = "application/x-mpegurl") -> String {
        "<VAST version=\"3.0\"><Ad id=\"x\"><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
            + "<Impression>http://t.example/i</Impression><Creatives><Creative><Linear><Duration>00:00:02</Duration>"
            + "<MediaFiles><MediaFile delivery=\"streaming\" type=\"\(type)\" width=\"1\" height=\"1\">\(address)"
            + "</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>"
    }

    private func adBreak(_ time: String, _ more: String = "", _ response: String) -> String {
        "<vmap:AdBreak timeOffset=\"\(time)\" breakType=\"linear\" \(more)><vmap:AdSource><vmap:VASTAdData>"
            + response + "</vmap:VASTAdData></vmap:AdSource></vmap:AdBreak>"
    }

    private func schedule(_ breaks: [String]) -> String {
        "<vmap:VMAP xmlns:vmap=\"http://www.iab.net/vmap-1.0\" version=\"1.0\">\(breaks.joined())</vmap:VMAP>"
    }

    /// VMAP 1.0, section 2.3.6.
    @Test("Of several breaks at one position, each one ends before the next one begins; those without an ad, too")
    func eachBreak() async throws {
        let origin = try await Stage.origin().url("")
        let breaks = ["a", "b", "c"].map { name in
            let events = ["breakStart", "breakEnd"].map {
                "<vmap:Tracking event=\"\($0)\">http://t.example/\(name)/\($0)</vmap:Tracking>"
            }
            let response = name == "b" ? "<VAST version=\"3.0\"/>" : linear("\(origin)ad2.m3u8")
            return adBreak("00:00:02", "breakId=\"\(name)\"", response).replacing(
                "</vmap:AdBreak>",
                with: "<vmap:TrackingEvents>\(events.joined())</vmap:TrackingEvents></vmap:AdBreak>"
            )
        }
        let played = try await play(schedule(breaks))
        let urls = played.calls.flatMap { $0.beacons.map(\.url.secretText) }
        let ad = ["http://t.example/i"]
        func edges(_ name: String, _ inside: [String]) -> [String] {
            ["http://t.example/\(name)/breakStart"] + inside + ["http://t.example/\(name)/breakEnd"]
        }
        #expect(urls == edges("a", ad) + edges("b", []) + edges("c", ad))
        #expect(played.all(.adBreakBegin).count == 1 && played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("An ad that does not start is replaced by a stand-alone ad of its break, not of another one at the position")
    func fallbackOfBreak() async throws {
        let origin = try await Stage.origin().url("")
        let good = linear("\(origin)ad2.m3u8")
        let bad = linear("\(origin)missing.m3u8")
        let ads = good.replacing("</VAST>", with: good.drop { $0 != ">" }.dropFirst())
        let breaks = [adBreak("00:00:02", "", bad), adBreak("00:00:02", "", ads)]
        let played = try await play(schedule(breaks)) { path, _ in path == "/missing.m3u8" ? .status(404) : nil }
        #expect(played.all(.adError).count == 1 && played.all(.adBegin).count == 1)
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("A break whose number is beyond the marked breaks is reported as missed at the end")
    func unmarkedBreak() async throws {
        let content = Playlist.text(4, tags: [1: ["#EXT-X-CUE-OUT:2"], 2: ["#EXT-X-CUE-IN"]])
        let origin = try await Stage.origin().url("")
        let breaks = ["#1", "#2"].map { adBreak($0, linear("\(origin)ad2.m3u8")) }
        let played = try await play(schedule(breaks), content)
        #expect(played.all(.adBreakMissed).map { $0[.adBreakTime] } == ["#2"])
        #expect(played.all(.adBreakBegin).count == 1)
        #expect(played.outcome == .ended && played.rejected.isEmpty)
        let missed = try #require(played.events.firstIndex { $0.action == .adBreakMissed })
        let end = try #require(played.events.firstIndex { $0.action == .end })
        #expect(missed < end)
    }

    @Test("An ad server opens no file of this machine")
    func localFile() async throws {
        // Real media, which would play if anything opened it.
        let file = try await Fixtures.make(in: MediaCache.origin).directory + "/movie.mp4"
        try #require(FileManager.default.fileExists(atPath: file))
        for address in [file, "file://\(file)", "[CONTENTID]"] {
            var ads = AdConfiguration()
            // A macro must not turn an address into a path either.
            ads.macros["CONTENTID"] = .text(file)
            let played = try await play(linear(address, type: "video/mp4"), ads: ads)
            #expect(played.all(.adBegin).isEmpty, "\(address)")
            #expect(played.all(.adError).map { $0[.adErrorCode] } == [403])
            #expect(played.outcome == .ended && played.all(.end).map { $0[.position]?.milliseconds } == [8000])
        }
    }

    @Test("An ad without linear media in a linear break fails with code 201")
    func linearity() async throws {
        let document =
            "<VAST version=\"3.0\"><Ad><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
            + "<Impression>http://t.example/i</Impression><Creatives><Creative><NonLinearAds><NonLinear width=\"1\" "
            + "height=\"1\"><StaticResource creativeType=\"image/png\">http://t.example/p.png</StaticResource>"
            + "</NonLinear></NonLinearAds></Creative></Creatives></InLine></Ad></VAST>"
        let played = try await play(document)
        #expect(played.all(.adError).map { $0[.adErrorCode] } == [201])
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("A break whose ad server has no ad is a break with a fill rate of 0")
    func unfilled() async throws {
        let empty = "<VAST version=\"3.0\"/>"
        let played = try await play(schedule([adBreak("00:00:04", empty)]))
        #expect(played.all(.adBreakBegin).map { $0[.adsRequested] } == [1])
        #expect(played.all(.adBreakFinish).count == 1 && played.all(.adBegin).isEmpty)
        #expect(played.metrics.filter { $0.name == .adFillRate }.map(\.value) == [.double(0)])
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("A break behind the end of the content neither plays nor calls anybody, and is reported once")
    func behindTheEnd() async throws {
        let origin = try await Stage.origin().url("")
        let response = linear("\(origin)ad2.m3u8")
        let breaks = ["00:10:00", "00:00:02", "00:20:00", "end"].map { adBreak($0, response) }
        let played = try await play(schedule(breaks))
        #expect(played.all(.adBreakBegin).map { $0[.adRoll] } == [.mid, .post])
        #expect(played.all(.adBreakMissed).map { $0[.adBreakTime] } == ["00:10:00.000", "00:20:00.000"])
        #expect(played.beacons.count { $0 == "impression" } == 2)
        #expect(played.all(.adError).isEmpty && played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("An ad whose stream is denied is asked for once, and content plays at once", arguments: [404, 503])
    func deniedStream(status: Int) async throws {
        let origin = try await Stage.origin().url("")
        let profile = PlayerProfile.plain(retries: 3, every: .seconds(2))
        let played = try await play(schedule([adBreak("start", linear("\(origin)missing.m3u8"))]), profile: profile) {
            path,
            _ in
            path == "/missing.m3u8" ? .status(status) : nil
        }
        #expect(played.paths.count { $0 == "/missing.m3u8" } == 1)
        #expect(played.all(.adError).count == 1 && played.all(.adBegin).isEmpty)
        #expect(played.all(.start).map { $0.time.instant.milliseconds } == [0])
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("`#n` counts the breaks that the content marks, each once however many carriers signal it")
    func markedBreaks() async throws {
        let origin = try await Stage.origin().url("")
        let content = Playlist.text(
            8,
            tags: [
                1: ["#EXT-X-CUE-OUT:2", "#EXT-OATCLS-SCTE35:\(Self.section)"], 2: ["#EXT-X-CUE-IN"],
                5: ["#EXT-X-CUE-OUT:2"], 6: ["#EXT-X-CUE-IN"],
            ]
        )
        let played = try await play(schedule([adBreak("#2", linear("\(origin)ad2.m3u8"))]), content)
        #expect(played.all(.adBegin).map { $0[.position]?.milliseconds } == [10_000])
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    /// A splice insert that begins a break.
    private static let section = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="

    @Test("A break repeats after its interval")
    func repeated() async throws {
        let origin = try await Stage.origin().url("")
        let response = linear("\(origin)ad2.m3u8")
        let played = try await play(schedule([adBreak("00:00:02", "repeatAfter=\"00:00:03\"", response)]))
        #expect(played.all(.adBegin).map { $0[.position]?.milliseconds } == [2000, 5000])
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [12_000])
        #expect(played.rejected.isEmpty)
    }

    @Test("Hundreds of breaks that repeat very often are planned in time, and their requests go out a few at a time")
    func crowd() async throws {
        let origin = try await Stage.origin().url("")
        let one =
            "<vmap:AdBreak timeOffset=\"00:00:02\" repeatAfter=\"00:00:00.001\" breakType=\"linear\"><vmap:AdSource>"
            + "<vmap:AdTagURI templateType=\"vast3\">\(origin)none.xml</vmap:AdTagURI></vmap:AdSource></vmap:AdBreak>"
        let played = try await play(schedule(Array(repeating: one, count: 400))) { path, _ in
            path == "/none.xml" ? .later("<VAST version=\"3.0\"/>") : nil
        }
        #expect(played.outcome == .ended)
        #expect((2...8).contains(played.mostUnderWay), "\(played.mostUnderWay)")
        #expect(played.all(.adBreakBegin).count == played.all(.adBreakFinish).count)
        // Each break, and 500 repetitions of all breaks together.
        #expect(played.paths.count { $0.hasPrefix("/none.xml") } == 900)
    }

    @Test("Macros that may identify a person leave only if the rules choose them")
    func personalMacros() async throws {
        let origin = try await Stage.origin().url("")
        let document = linear("\(origin)ad2.m3u8?ifa=[IFA]&amp;c=[CONTENTID]")
        var ads = AdConfiguration(tag: AdURL("?ifa=[IFA]"))
        ads.macros = MacroValues(["IFA": .text("person"), "CONTENTID": .text("film")])
        let withheld = try await play(document, ads: ads)
        #expect(withheld.all(.adBegin).count == 1)
        #expect(!withheld.paths.contains { $0.contains("person") })
        #expect(withheld.paths.contains("/doc.xml?ifa=-2") && withheld.paths.contains("/ad2.m3u8?ifa=-2&c=film"))
        ads.privacy = PrivacyRules(choices: ["adMacroIFA": true])
        let chosen = try await play(document, ads: ads)
        #expect(chosen.paths.contains("/doc.xml?ifa=person") && chosen.paths.contains("/ad2.m3u8?ifa=person&c=film"))
    }
}

extension ServedBreakTests {
    private func adBreak(_ time: String, _ response: String) -> String { adBreak(time, "", response) }

    private func play(_ document: String, ads: AdConfiguration) async throws -> Staged {
        try await play(document, Playlist.text(4), ads)
    }
}
