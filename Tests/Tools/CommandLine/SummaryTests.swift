import Instrument
import InstrumentTerminal
import Testing

@testable import InstrumentCommandLine

@Suite("Summaries of playbacks")
struct SummaryTests {
    private let first = TrackerID(1)
    private let second = TrackerID(2)

    private func metric(_ name: MetricName, _ value: Int, _ tracker: TrackerID) -> Sample {
        .metric(Metric(name, .int(value), tracker: tracker, time: Self.time, attributes: Attributes()))
    }

    private static let time = Timestamp(
        instant: MonotonicInstant(nanoseconds: 0),
        wallTime: WallTime(milliseconds: 1_795_248_000_000)
    )

    @Test("A summary adds up each tracker's samples separately")
    func perTracker() async {
        var start = Event(.start, tracker: first, time: Self.time)
        (start[.resolutionWidth], start[.resolutionHeight]) = (640, 360)
        var fall = Event(.qualityChangeDown, tracker: first, time: Self.time)
        fall[.bitrate] = 300_000
        let samples: [Sample] = [
            .event(start), metric(.startTime, 120, first), metric(.playTime, 1_000, first),
            metric(.playTime, 2_345, first),
            metric(.numRebuffers, 1, first), metric(.rebufferTime, 400, first), .event(fall),
            .event(Event(.qualityChangeUp, tracker: second, time: Self.time)), metric(.playTime, 7, second),
        ]
        let summary = Summary()
        let outcome = await summary.deliver(
            Batch(
                records: samples.enumerated().map { number, sample in
                    let sequence = UInt64(number)
                    return SampleRecord(id: SampleID(log: 5, sequence: sequence), sequence: sequence, sample: sample)
                }
            )
        )
        #expect(outcome == .acknowledged)
        var expected = PlaybackRecord()
        (expected.startTime, expected.playTime, expected.stalls, expected.stallTime) = (120, 3_345, 1, 400)
        (expected.falls, expected.samples, expected.quality) = (1, 7, "300 kbit/s")
        #expect(summary.record(of: first) == expected)
        #expect(summary.record(of: second).rises == 1 && summary.record(of: second).playTime == 7)
        #expect(summary.record(of: TrackerID(3)) == PlaybackRecord())
    }

    @Test("The lines of a record show the ads that its tracker of ads has reported, also without an ad")
    func ads() async {
        let summary = Summary()
        let actions: [Action] = [.adBreakBegin, .adBegin, .adError, .adBegin, .adFinish]
        let records = actions.enumerated().map { number, action in
            var event = Event(action, tracker: second, time: Self.time)
            if action == .adError { event[.errorDescription] = "no ad" }
            return SampleRecord(
                id: SampleID(log: 5, sequence: UInt64(number)),
                sequence: UInt64(number),
                sample: .event(event)
            )
        }
        _ = await summary.deliver(Batch(records: records))
        var record = PlaybackRecord()
        (record.startTime, record.samples) = (0, 3)
        record.add(adsOf: summary.record(of: second))
        #expect(
            record.lines(headline: "x").map(\.string).suffix(2) == [
                "  ads              2 in 1 break, 1 error: no ad", "  samples          8",
            ]
        )
        record.add(adsOf: summary.record(of: first))
        #expect(record.lines(headline: "x").map(\.string).contains("  ads              none"))
        var failed = PlaybackRecord()
        failed.add(adsOf: PlaybackRecord())
        #expect(failed.lines(headline: "x").map(\.string) == ["x", "  ads              none"])
    }

    @Test("The lines of a record show every figure")
    func lines() {
        var record = PlaybackRecord()
        (record.startTime, record.playTime, record.stalls, record.stallTime) = (120, 61_005, 2, 1_500)
        (record.rises, record.falls, record.samples) = (3, 1, 40)
        #expect(
            record.lines(headline: "film: stopped").map(\.string) == [
                "film: stopped", "  start time       120 ms", "  played           61.005 s",
                "  stalls           2, 1.500 s",
                "  quality changes  3 up, 1 down", "  samples          40",
            ]
        )
        record.subtitles = PlaybackRecord.Subtitles()
        #expect(record.lines(headline: "").map(\.string).contains("  subtitles        none"))
        var late = Event(Action("StreamWarning"), tracker: first, time: Self.time)
        late[.subtitles] = "en"
        late[AttributeKey<Int>("countSubtitleCues")] = 12
        late[AttributeKey<String>("warningCode")] = "lateSubtitles"
        record.count(.event(late))
        #expect(record.lines(headline: "").map(\.string).contains("  subtitles        en, 12 cues, 1 warning"))
        record.startTime = nil
        #expect(record.lines(headline: "").map(\.string).contains("  start time       unknown"))
        #expect(PlaybackRecord().lines(headline: "film: not played").map(\.string) == ["film: not played"])
    }

    private func row(_ source: String, stalls: Int = 0, start: Int? = 100, _ ending: PlaybackEnding = .ended)
        -> FleetTable.Row
    {
        var record = PlaybackRecord()
        (record.startTime, record.playTime, record.stalls, record.stallTime) = (start, 1_000, stalls, stalls * 250)
        return FleetTable.Row(source: source, record: record, ending: ending)
    }

    @Test("A table of playbacks has aligned columns, failures and totals, and escapes sources")
    func table() {
        let rows = [
            row("a\u{1B}[2J"), row("b", stalls: 2, start: 300, .stopped),
            row("c", start: nil, .failed(code: "notFound", message: "no such file")), row("d", start: nil, .notPlayed),
        ]
        #expect(
            FleetTable(rows).lines.map(\.string) == [
                "#   start  stalls  stalled   played  quality  outcome           source",
                "1  100 ms       0  0.000 s  1.000 s  -        ended             a\\u{1b}[2J",
                "2  300 ms       2  0.500 s  1.000 s  -        stopped           b",
                "3       -       0  0.000 s  1.000 s  -        failed: notFound  c",
                "4       -       0  0.000 s  1.000 s  -        not played        d", "#3: no such file",
                "4 streams: 1 ended, 1 stopped, 1 failed, 1 not played",
                "  start time       median 100 ms, 95 % within 300 ms, at most 300 ms", "  played           4.000 s",
                "  stalls           2, 0.500 s, in 1 of 4 streams",
            ]
        )
    }

    @Test("A table with many playbacks only shows those with problems, and counts the others")
    func longTable() {
        let smooth = (0..<60).map { row("s\($0)") }
        let lines = FleetTable(smooth + [row("bad", stalls: 1)]).lines.map(\.string)
        #expect(lines[1].hasPrefix("61  ") && lines[1].hasSuffix("bad"))
        #expect(lines[2] == "… 60 more streams without problems")
        let many = (0..<55).map { row("b\($0)", stalls: 1) }
        let cut = FleetTable(smooth + many).lines.map(\.string)
        #expect(cut[51] == "… 60 more streams without problems, 5 more with problems")
        #expect(FleetTable(smooth).lines.first?.string == "… 60 more streams without problems")
    }

    @Test("The progress of many playbacks counts them by phase")
    func fleetProgress() {
        let phases: [PlaybackPhase] = [.playing, .failed, .playing, .waiting]
        #expect(FleetProgress(phases).text.string == "1 waiting  2 playing  1 failed  of 4")
    }

    @Test(
        "A clock shows hours only from one hour on",
        arguments: [
            (Duration.milliseconds(-5), "0:00.0"), (.milliseconds(59_950), "0:59.9"), (.seconds(61), "1:01.0"),
            (.seconds(3_600), "1:00:00.0"), (.seconds(36_065), "10:01:05.0"),
        ]
    )
    func clock(duration: Duration, text: String) { #expect(ProgressLine.clock(duration) == text) }

    @Test("A progress bar never exceeds its width, and is empty for an unknown duration")
    func bar() {
        let bar = { (position: Int, buffered: Int) in
            ProgressLine.bar(position: .seconds(position), buffered: .seconds(buffered), duration: .seconds(24))
        }
        #expect(bar(6, 6) == "[━━━━━━──────            ]  ")
        #expect(bar(0, 0) == "[                        ]  ")
        #expect(bar(30, 100) == "[━━━━━━━━━━━━━━━━━━━━━━━━]  ")
        #expect(ProgressLine.bar(position: .seconds(1), buffered: .zero, duration: nil).isEmpty)
    }
}
