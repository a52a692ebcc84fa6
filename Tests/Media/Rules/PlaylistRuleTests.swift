import CostMeasurement
import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import TestTraits
import Testing

/// Rules on texts, one text or a few at a time.
@Suite("Rules on playlists and manifests")
struct PlaylistRuleTests {
    @Test("A playlist that slides by one segment keeps all rules")
    func sliding() throws {
        #expect(try broken((10..<20).map { live($0) }) == [])
    }

    @Test("A new token in the query of each segment is no change of the segment")
    func tokens() throws {
        #expect(try broken((10..<14).map { round in live(round) { "#EXTINF:6,\n\($0).ts?token=\(round)" } }) == [])
    }

    @Test("A restarted packager that begins again at 0 breaks one rule")
    func restart() throws {
        #expect(try broken([live(10), live(11), live(0), live(1)]) == ["media-sequence-backwards"])
    }

    @Test("Numbers that rise faster than segments can be made are a jump, also with new addresses")
    func fastNumbers() throws {
        let jumped = live(500) { "#EXTINF:6,\nnew-\($0).ts" }
        #expect(try broken([live(10), live(11), jumped]) == ["media-sequence-jump"])
    }

    @Test("A pause of the checker is no jump")
    func pause() throws {
        #expect(try broken([live(10), live(110)], every: 600) == [])
    }

    @Test("A playlist is stale after one and a half target durations, and not before")
    func staleness() throws {
        #expect(try broken([live(10), live(10)], every: 9) == [])
        #expect(try broken([live(10), live(10)], every: 10) == ["stale"])
        #expect(try broken([live(10) + "#EXT-X-ENDLIST\n", live(10) + "#EXT-X-ENDLIST\n"], every: 100) == [])
    }

    @Test("A short playlist at the start of a stream is no short window")
    func startOfStream() throws {
        #expect(try broken([live(0, count: 1)]) == [])
        let texts = [live(1_767_225_600, count: 1), live(1_767_225_600, count: 2)]
        #expect(try broken(texts) == [])
        #expect(try broken([live(1, count: 2), live(2, count: 2)]) == ["window-too-short"])
        // Nothing of the playlist before is left when players reload.
        let fast = [10, 15].map { live($0, count: 3) { "#EXTINF:1,\n\($0).ts" } }
        #expect(try broken(fast) == ["window-too-short"])
        var run = RuleRun()
        for (place, text) in fast.enumerated() { run.observe(try fetched(text, place * 6), as: .root) }
        #expect(
            run.findings.first?.problem.advice.contains("the longest segment, 1 s, into EXT-X-TARGETDURATION") == true
        )
    }

    @Test(
        "A duration is compared with the target duration after rounding",
        arguments: [("6.499", [String]()), ("6.5", ["target-duration-exceeded"])]
    )
    func rounding(duration: String, rules: [String]) throws {
        #expect(try broken([live(10) { "#EXTINF:\(duration),\n\($0).ts" }]) == rules)
    }

    @Test(
        "A tag needs its version",
        arguments: [
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x000102030405060708090a0b0c0d0e0f\n", 2),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"identity\"\n", 5),
            ("#EXT-X-BYTERANGE:10@0\n", 4), ("#EXT-X-MAP:URI=\"i.mp4\"\n", 6),
            ("#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n", 8),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n", 5),
        ]
    )
    func versions(tag: String, needed: Int) throws {
        for version in 1...12 {
            let text =
                "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-TARGETDURATION:6\n\(tag)#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
            #expect(try broken([text]) == (version < needed ? ["version-too-low"] : []), "\(version)")
        }
    }

    @Test(
        "A key that contradicts itself is found",
        arguments: [
            "METHOD=NONE,IV=0x00", "METHOD=SAMPLE-AES,KEYFORMAT=\"com.apple.streamingkeydelivery\"",
            "METHOD=AES-256,URI=\"k\"", "METHOD=SAMPLE-AES-CTR,URI=\"k\",IV=0x00000000000000000000000000000001",
            "METHOD=AES-128,URI=\"k\",IV=0x01",
        ]
    )
    func keys(attributes: String) throws {
        #expect(try broken([live(10, head: "#EXT-X-KEY:\(attributes)\n")]) == ["key-inconsistent"])
    }

    @Test(
        "A date range that contradicts itself or another one is found",
        arguments: [
            "START-DATE=\"2026-01-01T00:00:00Z\",DURATION=-1",
            "START-DATE=\"2026-01-01T00:00:00Z\",END-DATE=\"2026-01-01T00:00:10Z\",DURATION=20",
            "START-DATE=\"2026-01-01T00:00:00Z\",END-ON-NEXT=YES", "START-DATE=\"yesterday\"",
            "START-DATE=\"2026-01-01T00:00:00Z\",CLASS=\"a\"\n#EXT-X-DATERANGE:ID=\"x\",CLASS=\"b\"",
        ]
    )
    func dateRanges(attributes: String) throws {
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
        let found = try broken([live(10, head: "\(date)#EXT-X-DATERANGE:ID=\"x\",\(attributes)\n")])
        #expect(found == ["daterange-contradiction"])
    }

    @Test("Dates of whole milliseconds beside durations with a fraction are neither a jump nor a drift")
    func roundedDates() throws {
        let texts = (10..<40).map { first in
            live(first) { number in
                let second = Double(number) * 6.006
                let whole =
                    "2026-01-01T00:\(pad(Int(second) / 60)):\(pad(Int(second) % 60)).\(pad(Int(second * 1_000) % 1_000, 3))Z"
                return "#EXT-X-PROGRAM-DATE-TIME:\(whole)\n#EXTINF:6.006,\n\(number).ts"
            }
        }
        #expect(try broken(texts) == [])
    }

    private func pad(_ number: Int, _ width: Int = 2) -> String {
        String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
    }

    @Test("A finding names the line, the found and the expected value, and what to do")
    func message() throws {
        var run = RuleRun()
        run.observe(try fetched(live(10) { "#EXTINF:\($0 == 12 ? 9 : 6),\n\($0).ts?secret=1" }, 0), as: .root)
        let finding = try #require(run.findings.first)
        #expect(finding.problem.line == 10)
        #expect(finding.resource == "http://example.org/live.m3u8")
        let message =
            "Expected segments of at most 6 s after rounding to whole seconds; found 9 s in 1 of 4 segments. "
            + "Raise EXT-X-TARGETDURATION, or cut shorter segments."
        #expect(finding.message == message)
    }

    @Test("A rule of an app is applied beside the others")
    func ownRule() throws {
        let rule = Rule(
            "house-rule",
            .warning,
            "Segments are too short",
            explanation: "Short segments cost requests.",
            source: "house rules",
            checks: [
                .media { playlist, _ in
                    playlist.segments.filter { $0.segment.duration < 10_000_000_000 }.prefix(1).map {
                        Problem(found: "a short one", expected: "10 s", advice: "Cut longer ones.", line: $0.line)
                    }
                }
            ]
        )
        var run = RuleRun(rules: Rule.all + [rule])
        run.observe(try fetched(live(10), 0), as: .root)
        run.observe(try fetched(live(11), 6), as: .root)
        #expect(run.findings.map(\.rule) == ["house-rule"])
        #expect(run.findings.first?.count == 2)
        #expect(run.findings.first?.severity == .warning)
    }

    @Test("The memory of a run does not grow with the number of reloads")
    func bounded() throws {
        var run = RuleRun()
        for round in 0..<2_000 {
            let head =
                "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXT-X-DATERANGE:ID=\"\(round)\",START-DATE=\"x\"\n"
            run.observe(try fetched(live(round, head: head) { "#EXTINF:9,\n\($0).ts" }, round * 6), as: .root)
        }
        let rendition = try #require(run.history.renditions.first)
        #expect(rendition.dateRanges.count <= 1_000)
        #expect(run.findings.count <= 5)
    }

    @Test(
        "The cost of a rule grows with the number of its tags, and not with its square",
        arguments: [
            CostShape(name: "encrypted EXT-X-MAP", size: 60) { count in
                (0..<count).map {
                    "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(String(repeating: "1", count: 32))\n"
                        + "#EXT-X-MAP:URI=\"\($0).mp4\"\n#EXTINF:6,\n\($0).m4s\n"
                }.joined()
            },
            CostShape(name: "continued EXT-X-DATERANGE", size: 60) { count in
                "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF:6,\n0.ts\n"
                    + (0..<count).map {
                        "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",X-\($0)=1\n"
                    }.joined()
            },
        ]
    )
    func linearTags(shape: CostShape) throws {
        let growth = try CostGrowth.measure(
            from: shape.size,
            making: { try fetched("#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:6\n" + shape.text($0), 0) },
            { text in
                var run = RuleRun()
                run.observe(text, as: .root)
            }
        )
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("A response with the body of the one before is the same playlist at a later time, and another body is not")
    func repeated() throws {
        var run = RuleRun()
        run.observe(try fetched(live(0), 0), as: .root)
        let first = try #require(run.history.rendition("main")?.current)
        run.observe(try fetched(live(0), 6), as: .root)
        let second = try #require(run.history.rendition("main")?.current)
        #expect(second.playlist == first.playlist && second.entries.elementsEqual(first.entries))
        #expect(first.fetched.instant.duration(to: second.fetched.instant) == .seconds(6))
        // The playlist is not parsed again.
        let places = [first, second].map { $0.playlist.segments.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(places[0] == places[1])
        run.observe(try fetched(live(1), 12), as: .root)
        #expect(run.history.rendition("main")?.current?.playlist.mediaSequence == 1)
        // The same body at another address has other segments.
        run.observe(try fetched(live(1), 18, "other/live.m3u8"), as: .root)
        let moved = run.history.rendition("main")?.current?.playlist.segments.first?.url
        #expect(moved?.description == "http://example.org/other/1.ts")
    }

    @Test("The cost of all rules grows with the length of a playlist, and not with its square")
    func linear() throws {
        let growth = try CostGrowth.measure(
            from: 200,
            making: { size in
                try [live(10, count: size), live(11, count: size)].enumerated().map { try fetched($1, $0 * 6) }
            }
        ) { texts in
            var run = RuleRun()
            for text in texts { run.observe(text, as: .root) }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("An MPD whose publishTime and availabilityStartTime change backwards breaks both rules")
    func manifests() throws {
        func manifest(_ publish: Int, _ start: Int) -> String {
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" profiles="p" minBufferTime="PT2S" \
            availabilityStartTime="2026-01-01T00:00:0\(start)Z" publishTime="2026-01-01T00:00:\(publish)Z" \
            minimumUpdatePeriod="PT6S"><Period id="0" start="PT0S"><AdaptationSet mimeType="video/mp4">\
            <SegmentTemplate media="$Number$.m4s" duration="2" startNumber="0"/>\
            <Representation id="a" bandwidth="1000" codecs="avc1.4D400C"/></AdaptationSet></Period></MPD>
            """
        }
        let path = "live.mpd"
        #expect(try broken([manifest(10, 0), manifest(16, 0)], at: path) == [])
        #expect(try broken([manifest(16, 0), manifest(10, 0)], at: path) == ["publish-time-backwards"])
        #expect(try broken([manifest(10, 1), manifest(16, 0)], at: path) == ["availability-start-changed"])
    }
}
