internal import Instrument
internal import InstrumentHTTP
internal import InstrumentTestKit
internal import TestTraits
import Testing

@testable internal import InstrumentManifests

@Suite struct LiveMergingTests {
    private func start(_ text: String, at time: Double = 0) throws -> (RenditionTimeline, TimelineAxis) {
        var axis = TimelineAxis()
        let timeline = RenditionTimeline(try mediaPlaylist(text), on: &axis, now: instant(time))
        return (timeline, axis)
    }

    @Test func aReloadAddsAtTheEndAndRemovesAtTheStart() throws {
        var (timeline, axis) = try start(window(10...14))
        #expect(timeline.index.map(\.start) == [0, 6, 12, 18, 24].map { $0 * second })
        #expect(timeline.update(with: try mediaPlaylist(window(12...16)), on: &axis, now: instant(6)))
        #expect(timeline.index.map(\.sequence) == [12, 13, 14, 15, 16])
        #expect(timeline.index.map(\.start) == [12, 18, 24, 30, 36].map { $0 * second })
        #expect(timeline.index.hasExpired(11) && timeline.index.segment(after: 10)?.sequence == 12)
        #expect(
            timeline.index.segment(after: 16) == nil && timeline.index.segment(containing: 20 * second)?.sequence == 13
        )
    }

    @Test func videoIsNotPlacedByTheNumbersOfAudioThatCameFirst() throws {
        var axis = TimelineAxis()
        let audio = try mediaPlaylist(window(12...16, dated: false))
        _ = RenditionTimeline(audio, on: &axis, isNumberedAlike: false, now: instant(0))
        let video = RenditionTimeline(try mediaPlaylist(window(14...18, dated: false)), on: &axis, now: instant(0))
        #expect(video.index.first?.start == 0)
        // Another variant is placed by its numbers, and audio at the start of what is known.
        let other = RenditionTimeline(try mediaPlaylist(window(15...19, dated: false)), on: &axis, now: instant(0))
        #expect(other.index.first?.start == 6 * second)
    }

    @Test func theNextReloadComesAfterATargetDurationOrHalfOfIt() throws {
        var (timeline, axis) = try start(window(0...4))
        #expect(timeline.nextReload == instant(6))
        timeline.update(with: try mediaPlaylist(window(0...4)), on: &axis, now: instant(6))
        #expect(timeline.nextReload == instant(9))
        timeline.update(with: try mediaPlaylist(window(1...5)), on: &axis, now: instant(9))
        #expect(timeline.nextReload == instant(15) && timeline.lastChange == instant(9))
        timeline.update(with: try mediaPlaylist(window(1...6, ended: true)), on: &axis, now: instant(15))
        #expect(timeline.nextReload == nil && timeline.index.isComplete && timeline.kind == .onDemand)
    }

    @Test func anOlderLoadChangesNothing() throws {
        var (timeline, axis) = try start(window(10...14))
        let known = timeline.index
        #expect(!timeline.update(with: try mediaPlaylist(window(8...12)), on: &axis, now: instant(6)))
        #expect(timeline.index == known)
        #expect(!timeline.update(with: try mediaPlaylist(window(1...5, dated: false)), on: &axis, now: instant(9)))
        #expect(timeline.index == known)
    }

    @Test func aServerThatBeganAnewIsFollowed() throws {
        var (timeline, axis) = try start(window(100...104))
        let renamed: (Int64) -> String = { "new\($0).ts" }
        timeline.update(with: try mediaPlaylist(window(0...2, name: renamed)), on: &axis, now: instant(6))
        timeline.update(with: try mediaPlaylist(window(0...3, name: renamed)), on: &axis, now: instant(9))
        #expect(timeline.index.map(\.sequence) == [105, 106, 107, 108])
        #expect(timeline.index.first?.start == 30 * second && timeline.index.first?.discontinuity == 1)
        timeline.update(with: try mediaPlaylist(window(1...4, name: renamed)), on: &axis, now: instant(12))
        #expect(timeline.index.map(\.sequence) == [106, 107, 108, 109] && timeline.index.end == 60 * second)
        #expect(timeline.notices.contains { $0.message.contains("restarted") })
    }

    @Test func renumberedSegmentsAreRecognisedByTheirAddresses() throws {
        var (timeline, axis) = try start(window(100...104))
        let shifted: (Int64) -> String = { "s\($0 + 90).ts" }
        timeline.update(with: try mediaPlaylist(window(12...16, name: shifted)), on: &axis, now: instant(6))
        #expect(
            timeline.index.map(\.sequence) == [102, 103, 104, 105, 106] && timeline.index.first?.start == 12 * second
        )
    }

    @Test func newTokensInAddressesAreTaken() throws {
        var (timeline, axis) = try start(window(0...2, name: { "s\($0).ts?t=1" }))
        timeline.update(with: try mediaPlaylist(window(0...3, name: { "s\($0).ts?t=2" })), on: &axis, now: instant(6))
        #expect(timeline.index.map(\.text).allSatisfy { $0.hasSuffix("t=2") } && timeline.index.count == 4)
    }

    @Test func aWindowThatMovedPastAllIsPlacedByItsDates() throws {
        var (timeline, axis) = try start(window(0...4, dated: true))
        timeline.update(with: try mediaPlaylist(window(50...54, dated: true)), on: &axis, now: instant(300))
        #expect(timeline.index.first?.start == 300 * second && timeline.index.first?.sequence == 50)
        var (undated, other) = try start(window(0...4))
        undated.update(with: try mediaPlaylist(window(7...9)), on: &other, now: instant(30))
        #expect(undated.index.first?.start == 42 * second)
    }

    @Test func aVariantThatWasNotPlayedForAWhileIsPlacedByTheNumbersOfTheOthers() throws {
        // Segments of 4 s below a target duration of 6 s.
        func short(_ numbers: ClosedRange<Int64>) throws -> HLSMediaPlaylist {
            try mediaPlaylist(window(numbers).replacing("#EXTINF:6", with: "#EXTINF:4"))
        }
        var axis = TimelineAxis()
        var played = RenditionTimeline(try short(0...2), on: &axis, now: instant(0))
        let left = RenditionTimeline(try short(0...2), on: &axis, now: instant(0))
        played.update(with: try short(3...5), on: &axis, now: instant(12))
        played.update(with: try short(6...8), on: &axis, now: instant(24))
        // The same segments, some of them, those behind, and unknown ones, which a notice reports.
        for (numbers, start) in [(6...8, 24), (7...9, 28), (5...7, 20), (9...11, 36), (12...14, 66)]
            as [(ClosedRange<Int64>, Int64)]
        {
            var (again, axis) = (left, axis)
            again.update(with: try short(numbers), on: &axis, now: instant(25))
            #expect(again.index.first?.start == start * second, "\(numbers)")
            #expect(again.notices.contains { $0.message.contains("gap") } == (numbers == 12...14), "\(again.notices)")
        }
    }

    @Test func aVariantIsPlacedByDatesElseByNumbersElseAtTheStart() throws {
        var (_, axis) = try start(window(10...14, dated: true))
        let dated = RenditionTimeline(try mediaPlaylist(window(12...15, dated: true)), on: &axis, now: instant(1))
        #expect(dated.index.first?.start == 12 * second)
        var (_, plain) = try start(window(10...14))
        let numbered = RenditionTimeline(try mediaPlaylist(window(13...15)), on: &plain, now: instant(1))
        #expect(numbered.index.first?.start == 18 * second)
        let audio = RenditionTimeline(
            try mediaPlaylist(window(700...705)),
            on: &plain,
            isNumberedAlike: false,
            now: instant(1)
        )
        #expect(audio.index.first?.start == 18 * second, "at the start of the newest known playlist")
    }

    @Test func aVariantLoadedAfterAnOutageFollowsTheKnownSegments() throws {
        var (_, axis) = try start(window(0...4, dated: true))
        let dated = RenditionTimeline(try mediaPlaylist(window(50...54, dated: true)), on: &axis, now: instant(300))
        #expect(dated.index.first?.start == 300 * second && dated.notices.isEmpty)
        var (_, plain) = try start(window(0...4))
        let numbered = RenditionTimeline(try mediaPlaylist(window(7...9)), on: &plain, now: instant(30))
        #expect(numbered.index.first?.start == 42 * second)
        // More than can have been produced: the variants are numbered differently.
        var (_, other) = try start(window(0...4))
        let strange = RenditionTimeline(try mediaPlaylist(window(50...54)), on: &other, now: instant(30))
        #expect(strange.index.first?.start == 0)
    }

    @Test func aVariantFirstLoadedAtTheEndOfALiveStreamIsPlacedByNumbers() throws {
        var (timeline, axis) = try start(window(0...4))
        timeline.update(with: try mediaPlaylist(window(3...7)), on: &axis, now: instant(18))
        let ended = RenditionTimeline(try mediaPlaylist(window(4...8, ended: true)), on: &axis, now: instant(24))
        #expect(ended.index.first?.start == 24 * second)
        // Of a complete stream, the variants begin together, whatever their numbers.
        var (_, complete) = try start(window(0...4, ended: true))
        let same = RenditionTimeline(try mediaPlaylist(window(1...5, ended: true)), on: &complete, now: instant(1))
        #expect(same.index.first?.start == 0)
    }

    /// Segments of six seconds; from segment 5 on, the dates are 30 s later.
    private func jumping(_ range: ClosedRange<Int64>) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(range.lowerBound)\n"
        for number in range {
            if number == 5 { text += "#EXT-X-DISCONTINUITY\n" }
            text += "#EXT-X-PROGRAM-DATE-TIME:\(date(number * 6_000 + (number >= 5 ? 30_000 : 0)))\n"
            text += "#EXTINF:6.0,\ns\(number).ts\n"
        }
        return text
    }

    @Test(arguments: [2...6, 5...8, 4...7, 7...9] as [ClosedRange<Int64>])
    func aVariantIsPlacedByTheDatesAfterAJumpOfTheDates(window: ClosedRange<Int64>) throws {
        var (timeline, axis) = try start(jumping(0...4))
        timeline.update(with: try mediaPlaylist(jumping(2...6)), on: &axis, now: instant(12))
        #expect(timeline.index.map(\.start) == (2...6).map { $0 * 6 * second })
        let other = RenditionTimeline(try mediaPlaylist(jumping(window)), on: &axis, now: instant(13))
        #expect(other.index.map(\.start) == window.map { $0 * 6 * second })
        // The known playlist may have the segments before the jump no longer.
        timeline.update(with: try mediaPlaylist(jumping(6...10)), on: &axis, now: instant(36))
        let later = RenditionTimeline(try mediaPlaylist(jumping(window)), on: &axis, now: instant(37))
        #expect(later.index.map(\.start) == window.map { $0 * 6 * second })
    }

    @Test(arguments: [
        "SAMPLE-AES,URI=\"k\",KEYFORMAT=\"com.example.drm\"", "SAMPLE-AES-CTR,URI=\"k\"", "AES-128,URI=\"k\"",
    ])
    func aSectionBehindAKeyIsTheSameInEveryLoad(key: String) throws {
        let tags = "#EXT-X-KEY:METHOD=\(key)\n#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF"
        func text(_ range: ClosedRange<Int64>) -> String {
            window(range).replacing("#EXTINF", with: tags, maxReplacements: 1)
        }
        var (timeline, axis) = try start(text(0...4))
        let section = try #require(timeline.index.first?.initialization)
        timeline.update(with: try mediaPlaylist(text(1...5)), on: &axis, now: instant(6))
        #expect(timeline.index.count == 5 && timeline.index.allSatisfy { $0.initialization == section })
        #expect((section.encryption == nil) == key.hasPrefix("SAMPLE"))
    }

    @Test func datesThatDoNotFitAreNotUsed() throws {
        var (_, axis) = try start(window(0...4, dated: true))
        let far = RenditionTimeline(
            try mediaPlaylist(window(100_000...100_004, dated: true)),
            on: &axis,
            now: instant(1)
        )
        #expect(far.index.first?.start == 0 && far.notices.contains { $0.message.contains("dates") })
    }

    @Test func latencyWindowAndStartFollowTheHoldBack() throws {
        let (timeline, _) = try start(window(0...9, dated: true))
        #expect(timeline.targetLatency == 18 * second)
        #expect(timeline.seekableRange(at: now) == 0...42 * second)
        #expect(timeline.startPosition(at: now) == 42 * second)
        #expect(
            timeline.startPosition(at: now, offset: StartOffset(offset: -30 * second, isPrecise: false)) == 30 * second
        )
        #expect(
            timeline.latency(at: 42 * second, now: WallTime(milliseconds: now.milliseconds + 70_000)) == 28 * second
        )
        let text = window(0...9).replacing(
            "#EXTINF",
            with: "#EXT-X-SERVER-CONTROL:HOLD-BACK=20\n#EXTINF",
            maxReplacements: 1
        )
        #expect(try start(text).0.targetLatency == 20 * second)
    }

    @Test(arguments: Rounds.seeds(8))
    func timesStayOverHoursOfASlidingWindow(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let isDated = seed % 2 == 0
        // Hours of segments with uneven lengths, as an encoder cuts them, written with rounded durations.
        var ends: [Int64] = [0]
        for _ in 0..<2_400 { ends.append((ends.last ?? 0) + Int64.random(in: 5_000...6_400, using: &generator)) }
        func text(_ range: Range<Int>) -> String {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(range.lowerBound)\n"
            for number in range {
                if isDated { text += "#EXT-X-PROGRAM-DATE-TIME:\(date(ends[number]))\n" }
                // Rounded down to tenths: 50 ms lost on average, two minutes in 2,400 segments.
                text += "#EXTINF:\(Double((ends[number + 1] - ends[number]) / 100) / 10),\ns\(number).ts\n"
            }
            return text
        }
        var axis = TimelineAxis()
        var timeline = RenditionTimeline(try mediaPlaylist(text(0..<6)), on: &axis, now: instant(0))
        var (first, last) = (0, 6)
        var known = Dictionary(uniqueKeysWithValues: timeline.index.map { ($0.sequence, $0.start) })
        while last < 2_400 {
            last = min(2_400, last + Int.random(in: 0...3, using: &generator))
            first = max(first, last - Int.random(in: 5...8, using: &generator))
            timeline.update(with: try mediaPlaylist(text(first..<last)), on: &axis, now: instant(Double(last)))
            #expect(timeline.index.first?.sequence == Int64(first) && timeline.index.last?.sequence == Int64(last - 1))
            for (segment, next) in zip(timeline.index, timeline.index.dropFirst()) {
                #expect(segment.start < next.start)
            }
            for segment in timeline.index {
                #expect(known[segment.sequence, default: segment.start] == segment.start)
                known[segment.sequence] = segment.start
                guard isDated else { continue }
                let drift = segment.start - ends[Int(segment.sequence)] * 1_000_000
                #expect(abs(drift) <= 200_000_000, "the sum of rounded durations is held to the dates")
            }
        }
        #expect(known.count == 2_400)
    }

    @Test func alignmentIsSeen() throws {
        let (left, _) = try start(window(0...5, ended: true))
        let (right, _) = try start(window(0...5, ended: true))
        let (cut, _) = try start(window(0...5, ended: true).replacing("EXTINF:6.0", with: "EXTINF:5.8"))
        #expect(left.index.isAligned(with: right.index) && !left.index.isAligned(with: cut.index))
    }
}

@Suite struct MergingIdentityTests {
    @Test func namesThatAreUsedAgainWithOtherDatesAreNotTakenForTheSame() throws {
        var axis = TimelineAxis()
        var timeline = RenditionTimeline(try mediaPlaylist(window(3...7, dated: true)), on: &axis, now: instant(0))
        let restarted = window(0...4, dated: true).replacing("2026-11-21T10:", with: "2026-11-21T11:")
        timeline.update(with: try mediaPlaylist(restarted), on: &axis, now: instant(6))
        #expect(timeline.index.first?.sequence == 8 && timeline.index.first?.discontinuity == 1)
    }

    @Test func definitionsAndTemplatesGiveNoSecretsAway() throws {
        let text =
            "#EXTM3U\n#EXT-X-DEFINE:NAME=\"token\",VALUE=\"hidden\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8?t={$token}\n"
        let template = "<SegmentTemplate duration=\"5\" media=\"$Number$?t=hidden\" initialization=\"i?t=hidden\"/>"
        let set =
            "<AdaptationSet mimeType=\"video/mp4\">\(template)<Representation id=\"v\" bandwidth=\"1\"/></AdaptationSet>"
        for manifest in [text, mpd("<Period>\(set)</Period>")] {
            let show = try presentation(manifest)
            var dumped = "\(show)"
            dump(show, to: &dumped)
            #expect(!dumped.contains("hidden"))
        }
    }
}
