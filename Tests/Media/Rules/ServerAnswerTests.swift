import Foundation
import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import TestTraits
import Testing

@Suite("Rules on steering servers and patches", .ownThread, .timeLimit(.minutes(30)))
struct ServerAnswerTests {
    private func findings(
        _ manifest: String,
        _ path: String,
        _ purpose: ServerAnswer.Purpose,
        _ response: ServerAnswer.Response
    ) throws -> [String] {
        var run = RuleRun(rules: [.steeringWrong, .patchWrong])
        run.observe(try fetched(manifest, 0, path), as: .root)
        let url = try HTTPURL("http://example.org/answer")
        run.observe(ServerAnswer(purpose, url: url, response: response, fetched: try fetched("", 1).fetched))
        return run.findings.map { "\($0.problem.found); \($0.problem.expected)" }
    }

    private let playlist = """
        #EXTM3U
        #EXT-X-CONTENT-STEERING:SERVER-URI="steering.json",PATHWAY-ID="a"
        #EXT-X-STREAM-INF:BANDWIDTH=100,PATHWAY-ID="a"
        v.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=100,PATHWAY-ID="b"
        w.m3u8
        """

    @Test(
        "An answer of a steering server that does not steer is named",
        arguments: [
            (#"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["b","a"]}"#, nil),
            // A server that the manifest does not have is skipped.
            (#"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["z","a"]}"#, nil),
            (
                #"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["c"],"PATHWAY-CLONES":[{"BASE-ID":"a","ID":"c"}]}"#, nil
            ),
            (
                #"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["z"]}"#,
                "`z` in PATHWAY-PRIORITY; a server of the manifest: `a`, `b`"
            ),
            (#"{"VERSION":1,"PATHWAY-PRIORITY":["a"]}"#, "no TTL; a TTL in seconds"),
            (#"{"VERSION":1,"TTL":"60","PATHWAY-PRIORITY":["a"]}"#, "a TTL of \"60\"; a TTL above 0 seconds"),
            (#"{"VERSION":1,"TTL":60}"#, "no PATHWAY-PRIORITY; a list of the names of servers in PATHWAY-PRIORITY"),
            (
                #"{"VERSION":1,"TTL":60,"PATHWAY-PRIORITY":[]}"#,
                "a PATHWAY-PRIORITY without names; a list of the names of servers in PATHWAY-PRIORITY"
            ),
            (#"{"VERSION":1,"TTL":60,"PATHWAY-PRIORITY":[1]}"#, "1 in PATHWAY-PRIORITY; names in quotes"),
            (
                #"{"VERSION":1,"TTL":60,"PATHWAY-PRIORITY":["a","a"]}"#,
                "`a` twice in PATHWAY-PRIORITY; each server once"
            ),
            (
                #"{"VERSION":2,"TTL":60,"PATHWAY-PRIORITY":["a"]}"#,
                "the steering manifest must have the VERSION 1 (found 2); a JSON object with VERSION, TTL and PATHWAY-PRIORITY"
            ),
            ("<html/>", "an HTML page; a JSON object with VERSION, TTL and PATHWAY-PRIORITY"),
            ("", "an empty body; a JSON object with VERSION, TTL and PATHWAY-PRIORITY"),
        ] as [(String, String?)]
    )
    func steering(answer: String, finding: String?) throws {
        let found = try findings(playlist, "a.m3u8", .steering, .body(Array(answer.utf8)))
        #expect(found == (finding.map { [$0] } ?? []))
    }

    @Test("A steering server that does not answer, and a first server that does not exist, are found")
    func noSteering() throws {
        let missing = try findings(playlist, "a.m3u8", .steering, .failure("status 404", status: 404))
        #expect(missing == ["status 404; a steering manifest with status 200"])
        let other = playlist.replacing("json\",PATHWAY-ID=\"a\"", with: "json\",PATHWAY-ID=\"z\"")
        let answer = Array(#"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["a"]}"#.utf8)
        let first = try findings(other, "a.m3u8", .steering, .body(answer))
        #expect(first == ["`z` in PATHWAY-ID; a server of the manifest: `a`, `b`"])
    }

    @Test("The text of a steering manifest in a `data:` address is judged like an answer, and asks no server")
    func writtenSteering() async throws {
        let texts: [(String, String?)] = [
            (#"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["a"]}"#, nil),
            (#"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["z"]}"#, "`z` in PATHWAY-PRIORITY"), ("hello", "other text"),
        ]
        for (text, finding) in texts {
            let address = "data:application/json;base64," + Data(text.utf8).base64EncodedString()
            let report = try await RuleTableTests.check("vod/ts/master.m3u8") { response in
                guard response.url.path.hasSuffix("master.m3u8") else { return }
                let body = String(decoding: response.body, as: UTF8.self)
                    .replacing("#EXT-X-STREAM-INF:", with: "#EXT-X-STREAM-INF:PATHWAY-ID=\"a\",")
                let tag = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"\(address)\",PATHWAY-ID=\"a\""
                response.body = Array(body.replacing("#EXTM3U", with: "#EXTM3U\n\(tag)").utf8)
            }
            let found = report.findings.map { "\($0.rule) \($0.problem.found)" }
            #expect(found == (finding.map { ["steering-wrong \($0)"] } ?? []), "\(found)")
        }
    }

    private func manifest(
        _ attributes: String = "id=\"m\" publishTime=\"2026-01-01T00:00:00Z\"",
        location: String = "<PatchLocation ttl=\"60\">p.mpp</PatchLocation>"
    ) -> String {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" \
        availabilityStartTime="2026-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" minBufferTime="PT2S" \(attributes)>\
        <ContentSteering defaultServiceLocation="two">s.json</ContentSteering>\(location)\
        <BaseURL serviceLocation="one">http://one.example/</BaseURL><Period start="PT0S">\
        <BaseURL serviceLocation="two">two/</BaseURL><AdaptationSet mimeType="video/mp4">\
        <SegmentTemplate media="$Number$" timescale="1" duration="2"/>\
        <Representation id="v" bandwidth="8000000"/></AdaptationSet></Period></MPD>
        """
    }

    private func patch(id: String = "m", original: String = "2026-01-01T00:00:00Z") -> String {
        "<Patch xmlns=\"urn:mpeg:dash:schema:mpd-patch:2020\" mpdId=\"\(id)\" originalPublishTime=\"\(original)\" "
            + "publishTime=\"2026-01-01T00:00:02Z\"/>"
    }

    @Test("A patch that fits is right, and so is an answer without one while nothing has changed")
    func patches() throws {
        #expect(try findings(manifest(), "a.mpd", .patch, .body(Array(patch().utf8))).isEmpty)
        #expect(try findings(manifest(), "a.mpd", .patch, .body([])).isEmpty)
        #expect(try findings(manifest(), "a.mpd", .patch, .failure("status 425", status: 425)).isEmpty)
    }

    @Test("A patch that cannot be used is named")
    func wrongPatches() throws {
        func found(_ body: String) throws -> String? {
            try self.findings(manifest(), "a.mpd", .patch, .body(Array(body.utf8))).first?.split(separator: ";").first
                .map(
                    String.init
                )
        }
        #expect(try found(patch(id: "x")) == "`mpdId` of the patch is not `id` of the MPD")
        let earlier = patch(original: "2025-12-31T00:00:00Z")
        #expect(try found(earlier) == "`originalPublishTime` of the patch is not `publishTime` of the MPD")
        #expect(try found("<html/>") == "an HTML page")
        #expect(try found("<MPD/>") == "the root element of an MPD patch must be `Patch`")
        let gone = try self.findings(manifest(), "a.mpd", .patch, .failure("status 404", status: 404))
        #expect(gone == ["status 404; a patch, or status 204 while the MPD has not changed"])
    }

    @Test(
        "A PatchLocation that no player can use is named",
        arguments: [
            ("publishTime=\"2026-01-01T00:00:00Z\"", "p.mpp", "PatchLocation in an MPD without `id`"),
            ("id=\"m\"", "p.mpp", "PatchLocation in an MPD without `publishTime`"),
            (
                "id=\"m\" publishTime=\"2026-01-01T00:00:00Z\"", "ftp://example.org/p",
                "a PatchLocation whose address or `ttl` cannot be used"
            ),
        ]
    )
    func locations(attributes: String, address: String, finding: String) throws {
        let text = manifest(attributes, location: "<PatchLocation ttl=\"60\">\(address)</PatchLocation>")
        let found = try findings(text, "a.mpd", .patch, .body([]))
        #expect(found.count == 1 && found.first?.hasPrefix(finding) == true, "\(found)")
    }

    @Test("A check asks the steering server of a stream, and finds names that the MPD does not have")
    func asked() async throws {
        let sound = try await RuleTableTests.check("vod/ts/steering.m3u8")
        #expect(sound.findings.map(\.rule) == [])
        let report = try await RuleTableTests.check("vod/dash/steering.mpd") { response in
            guard response.url.path.hasSuffix("priority.json") else { return }
            response.body = Array(#"{"VERSION":1,"TTL":300,"PATHWAY-PRIORITY":["z"]}"#.utf8)
        }
        #expect(report.findings.map(\.rule) == ["steering-wrong"])
        #expect(report.findings.first?.resource.hasSuffix("priority.json") == true)
        #expect(report.findings.first?.problem.found == "`z` in PATHWAY-PRIORITY")
    }

    @Test("A check reads the pictures for fast forward of an MPD as keyframes", arguments: [true, false])
    func trickMode(isMissing: Bool) async throws {
        let report = try await RuleTableTests.check("vod/dash/number.mpd") { response in
            if isMissing, response.url.path.contains("/fast/") { response.status = 404 }
            guard response.url.path.hasSuffix(".mpd") else { return }
            var lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init)
            guard let start = lines.firstIndex(where: { $0.contains("<AdaptationSet") }),
                let end = lines.firstIndex(where: { $0.contains("</AdaptationSet") })
            else { return }
            var set = lines[start...end].map { $0.replacing(" id=\"", with: " id=\"fast-") }
            if isMissing { set = set.map { $0.replacing("media=\"", with: "media=\"fast/") } }
            set.insert(
                "<EssentialProperty schemeIdUri=\"http://dashif.org/guidelines/trickmode\" value=\"1\"/>",
                at: 1
            )
            lines.insert(contentsOf: set, at: end + 1)
            lines[start] = lines[start].replacing("<AdaptationSet", with: "<AdaptationSet id=\"1\"")
            response.body = Array(lines.joined(separator: "\n").utf8)
        }
        let plain = try await RuleTableTests.check("vod/dash/number.mpd")
        #expect(report.keyframeRenditionCount > plain.keyframeRenditionCount)
        #expect(Set(report.findings.map(\.rule)) == (isMissing ? ["segment-unavailable"] : []))
        // The segments are those of the pictures, fetched again: each counts once.
        #expect(isMissing || report.segmentBytes > plain.segmentBytes)
        #expect(isMissing || report.readSegmentCount == plain.readSegmentCount)
    }
}
