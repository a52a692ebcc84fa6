import InstrumentRules
import Testing

@Suite("Rules on low-latency playlists")
struct LowLatencyPlaylistTests {
    private func found(_ rule: Rule, _ lines: String) throws -> [String] {
        let head = """
            #EXTM3U
            #EXT-X-VERSION:9
            #EXT-X-TARGETDURATION:2
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3
            #EXT-X-PART-INF:PART-TARGET=1

            """
        var run = RuleRun(rules: [rule])
        run.observe(try fetched(head + lines, 0), as: .root)
        return run.findings.map { "\($0.problem.line ?? 0): \($0.problem.found)" }
    }

    @Test("Parts without EXT-X-SERVER-CONTROL are one finding")
    func control() throws {
        let head = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n"
        func found(_ tag: String) throws -> [String] {
            var run = RuleRun(rules: [.holdBackTooShort, .blockingReloadMissing])
            let text = "\(head)\(tag)#EXT-X-PART-INF:PART-TARGET=1\n\(segment(0, [1, 1]))"
            run.observe(try fetched(text, 0), as: .root)
            return run.findings.map { "\($0.rule) \($0.problem.line ?? 0): \($0.problem.found)" }
        }
        #expect(try found("") == ["hold-back-too-short 4: parts without EXT-X-SERVER-CONTROL"])
        let words = [
            "hold-back-too-short 4: no PART-HOLD-BACK", "blocking-reload-missing 4: parts without CAN-BLOCK-RELOAD=YES",
        ]
        #expect(try found("#EXT-X-SERVER-CONTROL:HOLD-BACK=6\n") == words)
        #expect(try found("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3\n").isEmpty)
    }

    /// A segment with parts of these durations.
    private func segment(_ number: Int, _ parts: [Double], _ duration: Double = 2) -> String {
        let lines = parts.enumerated().map { "#EXT-X-PART:DURATION=\($1),URI=\"\(number).\($0).mp4\"\n" }
        return lines.joined() + "#EXTINF:\(duration),\n\(number).mp4\n"
    }

    @Test(
        "Parts that do not have the duration of their segment are found",
        arguments: [
            ([1, 1], [1, 1], nil), ([1, 1.001], [0.999, 1], nil), ([1, 1], [1], "12: 1 parts of 1 s in segment 1"),
            ([1, 1], [1, 1, 1], "14: 3 parts of 3 s in segment 1"), ([1, 1], [], nil),
            // The first parts of the oldest segment may be removed already.
            ([1], [1, 1], nil), ([1, 1, 1], [1, 1], "10: 3 parts of 3 s in segment 0"),
        ] as [([Double], [Double], String?)]
    )
    func durations(first: [Double], second: [Double], words: String?) throws {
        let text = segment(0, first) + segment(1, second) + "#EXT-X-PART:DURATION=1,URI=\"2.0.mp4\"\n"
        #expect(try found(.partDurationsDiffer, text) == [words].compactMap(\.self))
    }

    @Test(
        "The durations of parts are rounded by at most a millisecond each",
        arguments: [
            // Two parts and their segment of 2 s are three numbers.
            ([1.0015, 1.0015], false), ([1.0015, 1.0016], true), ([0.9985, 0.9985], false), ([0.9985, 0.9984], true),
        ] as [([Double], Bool)]
    )
    func roundedSum(parts: [Double], isWrong: Bool) throws {
        // Parts that are missing at the beginning may have been removed.
        let found = try found(.partDurationsDiffer, segment(0, [1, 1]) + segment(1, parts))
        #expect(found.count == (isWrong ? 1 : 0) && found.allSatisfy { $0.contains("2 parts of ") }, "\(found)")
    }

    @Test(
        "A part is as long as PART-TARGET, or shorter by 15 %, within a millisecond",
        arguments: [
            ([1, 1.001], false, false), ([1, 1.0011], true, false), ([0.849, 1], false, false),
            ([0.8489, 1], false, true), ([1, 0.1], false, false),
        ] as [([Double], Bool, Bool)]
    )
    func roundedParts(parts: [Double], isTooLong: Bool, isTooShort: Bool) throws {
        let text = segment(0, parts)
        for (rule, isBroken) in [(Rule.partTargetExceeded, isTooLong), (.partTooShort, isTooShort)] {
            let found = try found(rule, text)
            #expect(
                found.count == (isBroken ? 1 : 0) && found.allSatisfy { $0.hasSuffix("in 1 of 2 parts") },
                "\(found)"
            )
        }
    }

    @Test("Parts more than three target durations before the end of the playlist are found", arguments: 1...6)
    func oldParts(count: Int) throws {
        let text = (0..<count).map { segment($0, [1, 1]) }.joined()
        // The end of segment n is 2(n + 1) s, that of the playlist 2 * count s.
        let old = max(0, count - 4)
        let words = ["9: \(2 * old) parts that end up to \(2 * count - 2) s before the end of the playlist"]
        #expect(try found(.partsKeptTooLong, text) == (old > 0 ? words : []))
        let open = try found(.partsKeptTooLong, text + "#EXT-X-PART:DURATION=1,URI=\"x.mp4\"\n")
        #expect(open.count == (count > 3 ? 1 : 0))
        #expect(try found(.partsKeptTooLong, text + "#EXT-X-ENDLIST\n").isEmpty, "nobody reloads the playlist")
        let bare = (0..<count).map { segment($0, []) }.joined()
        #expect(try found(.partsKeptTooLong, bare).isEmpty)
    }

    @Test(
        "A rendition report has an address that is relative to the playlist",
        arguments: [
            ("URI=\"../b/v.m3u8\"", nil), ("URI=\"/b/v.m3u8?a=http://x/\"", nil),
            ("URI=\"https://user:secret@example.org/b.m3u8\"", "an absolute URI"),
            ("LAST-MSN=3", "a rendition report without URI"),
        ] as [(String, String?)]
    )
    func reports(attributes: String, words: String?) throws {
        let text = segment(0, []) + "#EXT-X-RENDITION-REPORT:\(attributes)\n"
        #expect(try found(.renditionReportWrong, text) == [words.map { "8: \($0)" }].compactMap(\.self))
    }
}
