internal import Instrument
internal import InstrumentHTTP
internal import InstrumentTestKit
internal import Testing

@testable internal import InstrumentManifests

@Suite struct ManifestPropertyTests {
    @Test(arguments: 0..<300)
    func aPlaylistThatIsWrittenIsReadBack(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var playlist = HLSMediaPlaylist(url: try address("https://media.test/show/low.m3u8"))
        playlist.targetDuration = 10 * second
        playlist.mediaSequence = Int64.random(in: 0...1 << 40, using: &generator)
        playlist.discontinuitySequence = Int64.random(in: 0...99, using: &generator)
        playlist.hasEnded = Bool.random(using: &generator)
        playlist.kind = playlist.hasEnded ? .onDemand : .live
        var (start, discontinuity) = (Int64(0), playlist.discontinuitySequence)
        for number in 0..<Int.random(in: 1...40, using: &generator) {
            if number > 0, Int.random(in: 0..<5, using: &generator) == 0 { discontinuity += 1 }
            let duration = Int64.random(in: 0...10_000_000, using: &generator) * 1_000
            let url = try playlist.url.resolving("s\(number).ts?q=\(UInt16.random(in: 0...9, using: &generator))")
            let sequence = playlist.mediaSequence + Int64(number)
            var segment = MediaSegment(
                sequence: sequence,
                discontinuity: discontinuity,
                start: start,
                duration: duration,
                url: url
            )
            segment.isGap = Int.random(in: 0..<8, using: &generator) == 0
            if Bool.random(using: &generator) {
                let offset = Int64.random(in: 0...1 << 33, using: &generator)
                segment.byteRange = ByteRange(offset: offset, length: Int64.random(in: 1...1 << 30, using: &generator))
            }
            playlist.segments.append(segment)
            start += duration
        }
        #expect(try mediaPlaylist(written(playlist, &generator)) == playlist)
    }

    @Test("The times of a segment are those of the segment with its address", arguments: 0..<50 as Range<UInt64>)
    func timesWithoutAddresses(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let base = try address("https://media.test/show/a.mpd")
        var row = TemplateRow(
            template: try SegmentTemplate("s$Number$-$Time$.m4s", base: base, representation: "a", bandwidth: 1),
            timescale: [1, 1_000, 90_000].randomElement(using: &generator) ?? 1,
            timeOffset: Int64.random(in: -5...5, using: &generator),
            periodStart: Int64.random(in: 0...10 * second, using: &generator),
            pattern: MediaSegment(sequence: 0, start: 0, duration: 0, url: base)
        )
        if Bool.random(using: &generator) { row.periodEnd = row.periodStart + 60 * second }
        if Bool.random(using: &generator) { row.calendarOrigin = WallTime(milliseconds: 1_800_000_000_000) }
        row.isAvailableInChunks = Bool.random(using: &generator)
        row.availabilityOffset = Bool.random(using: &generator) ? nil : Int64.random(in: 0...second, using: &generator)
        row.sequence = Int64.random(in: 0...1 << 40, using: &generator)
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            var run = TemplateRow.Run(
                time: Int64.random(in: 0...100_000, using: &generator),
                ticks: Int64.random(in: 1...5_000, using: &generator),
                number: Int64.random(in: 0...9, using: &generator),
                count: Int.random(in: 1...9, using: &generator)
            )
            run.isExpected = Bool.random(using: &generator)
            run.isGap = Bool.random(using: &generator)
            row.append(run)
        }
        let index = SegmentIndex(rows: [.template(row)], isComplete: false, targetDuration: 0)
        #expect(index.count == row.count && index.firstTimes == index.first?.times)
        #expect(index.lastTimes == index.last?.times)
        for (position, segment) in index.enumerated() {
            #expect(index.storage.times(at: position) == segment.times)
            #expect(index.times(after: segment.sequence) == index.segment(after: segment.sequence)?.times)
        }
        #expect(index.times(after: row.sequence - 1) == index.first?.times)
    }

    private func written(_ playlist: HLSMediaPlaylist, _ generator: inout SeededGenerator) -> String {
        let ending = Bool.random(using: &generator) ? "\r\n" : "\n"
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:10", "#EXT-X-MEDIA-SEQUENCE:\(playlist.mediaSequence)"]
        lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(playlist.discontinuitySequence)")
        var discontinuity = playlist.discontinuitySequence
        for segment in playlist.segments {
            if Int.random(in: 0..<4, using: &generator) == 0 { lines += ["", "# words", "#EXT-X-NEW-TAG:A=\"1\""] }
            if segment.discontinuity > discontinuity { lines.append("#EXT-X-DISCONTINUITY") }
            discontinuity = segment.discontinuity
            if segment.isGap { lines.append("#EXT-X-GAP") }
            if let range = segment.byteRange { lines.append("#EXT-X-BYTERANGE:\(range.length ?? 0)@\(range.offset)") }
            let micros = String(segment.duration / 1_000 % 1_000_000)
            let fraction = String(repeating: "0", count: 6 - micros.count) + micros
            lines.append("#EXTINF:\(segment.duration / second).\(fraction),title")
            lines.append(
                Bool.random(using: &generator)
                    ? segment.text : String(segment.text.dropFirst("https://media.test/show/".count))
            )
        }
        if playlist.hasEnded { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: ending)
    }

    /// A second, plain reading of a timeline: one segment after another in whole ticks.
    private struct Entry {
        var time: Int64?
        var ticks: Int64
        var repeats: Int64
    }

    @Test(arguments: 0..<300)
    func aTimelineIsWhatAPlainExpansionGives(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let scale = [1, 10, 600, 44_100, 90_000].randomElement(using: &generator) ?? 1
        let offset = Int64.random(in: 0...1_000_000, using: &generator)
        var (entries, time) = ([Entry](), offset)
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            let isJump = Int.random(in: 0..<4, using: &generator) == 0
            if isJump { time += Int64.random(in: 0...Int64(scale) * 5, using: &generator) }
            let ticks = Int64.random(in: 1...Int64(scale) * 8, using: &generator)
            let repeats = Int64.random(in: -1...4, using: &generator)
            entries.append(
                Entry(time: isJump || entries.isEmpty || repeats < 0 ? time : nil, ticks: ticks, repeats: repeats)
            )
            time += ticks * (max(repeats, 0) + 1)
        }
        // A negative repeat extends to the next entry's time, which must be present.
        for place in entries.indices.dropLast() where entries[place].repeats < 0 {
            var reach = entries[place].time ?? 0
            reach += entries[place].ticks
            entries[place + 1].time = entries[place + 1].time ?? reach
        }
        let length = Int64(scale) * 400
        let text = entries.map { entry in
            "<S " + (entry.time.map { "t=\"\($0)\" " } ?? "") + "d=\"\(entry.ticks)\" r=\"\(entry.repeats)\"/>"
        }.joined()
        let template =
            "<SegmentTemplate timescale=\"\(scale)\" presentationTimeOffset=\"\(offset)\" media=\"$Number$-$Time$\">"
            + "<SegmentTimeline>\(text)</SegmentTimeline></SegmentTemplate>"
        let set =
            "<AdaptationSet mimeType=\"video/mp4\">\(template)<Representation id=\"v\" bandwidth=\"1\"/></AdaptationSet>"
        let index = try presentation(
            mpd("<Period>\(set)</Period>", "type=\"static\" mediaPresentationDuration=\"PT400S\"")
        ).segments()
        let expected = plain(entries, end: offset + length)
        #expect(index.filter { !$0.isGap }.map { $0.url.path } == expected.enumerated().map { "/show/\($0 + 1)-\($1)" })
        let natural = expected.map { ($0 - offset).nanoseconds(timescale: Int64(scale)) }
        #expect(index.filter { !$0.isGap }.map(\.start) == natural)
        for segment in index.prefix(50) where segment.duration > 0 && !segment.isGap {
            #expect(index.segment(containing: segment.start)?.start == segment.start)
        }
    }

    private func plain(_ entries: [Entry], end: Int64) -> [Int64] {
        var (times, time) = ([Int64](), Int64(0))
        for (place, entry) in entries.enumerated() {
            time = entry.time ?? time
            let limit = entries.indices.contains(place + 1) ? entries[place + 1].time ?? end : end
            var count = entry.repeats + 1
            while entry.repeats < 0 ? time < limit : count > 0 {
                if time < end { times.append(time) }
                time += entry.ticks
                count -= 1
            }
        }
        return times
    }

    @Test func scalingIsExactAndSaturates() {
        #expect(Int64(7).scaled(by: 1_000_000_000, over: 3) == 2_333_333_333 && Int64(-7).scaled(by: 1, over: 2) == -4)
        #expect(Int64.max.scaled(by: .max, over: 1) == .max && Int64.min.scaled(by: .max, over: 1) == .min)
        #expect(Int64.min.scaled(by: 1, over: 1) == .min && Int64(5).scaled(by: 1, over: 0) == 0)
        #expect(Int64.max.scaled(by: 1_000_000_000, over: 1_000_000_000) == .max)
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59.999+00:30", 951_866_999_999 as Int64),
        ("1969-12-31T23:59:59.5Z", -500), ("2026-11-21T10:00:00", 1_795_255_200_000),
        ("2026-11-21T12:00:00+0200", 1_795_255_200_000),
    ])
    func datesAreRead(text: String, milliseconds: Int64) {
        #expect(CalendarText.wallTime(text)?.milliseconds == milliseconds)
    }

    @Test func durationsAreReadAndNonsenseIsNot() {
        #expect(CalendarText.nanoseconds(duration: "P1DT2H3M4.5S") == 93_784_500_000_000)
        #expect(
            CalendarText.nanoseconds(duration: "PT0.001S") == 1_000_000
                && CalendarText.nanoseconds(duration: "P1Y") == 31_536_000 * second
        )
        for text in ["", "P", "1S", "PT5", "PTS", "PT1S1", "-PT1S", "PT1e3S", "P1S"] {
            #expect(CalendarText.nanoseconds(duration: text) == nil || text == "P", "\(text)")
        }
        for text in ["", "2026-13-01T00:00:00Z", "2026-11-21", "2026-11-21T10:00:00+99:99", "20é6-11-21T10:00:00Z"] {
            #expect(CalendarText.wallTime(text) == nil, "\(text)")
        }
    }
}
