import Instrument
import InstrumentFrameCode
import Testing
import TruthStage

private func instant(_ seconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: 1_000_000_000_000).advanced(by: .milliseconds((seconds * 1000).rounded()))
}

/// An eye that sees pictures move at 25 Hz in ranges of seconds; the numbers continue.
private func eye(_ motions: [ClosedRange<Double>]) -> PlaybackEye {
    var (eye, number) = (PlaybackEye(), 0)
    for motion in motions {
        for second in stride(from: motion.lowerBound, to: motion.upperBound - 0.001, by: 0.04) {
            eye.saw(number, at: instant(second))
            number += 1
        }
    }
    return eye
}

private func compare(
    _ signals: [(Action, Double)],
    _ motions: [ClosedRange<Double>],
    until end: Double
) -> MotionComparison {
    MotionComparison(
        signals: signals.map { PlayerSignal($0.0, at: instant($0.1)) },
        eye: eye(motions),
        since: instant(0),
        until: instant(end)
    )
}

private func span(_ begin: Double, _ end: Double? = nil) -> MotionComparison.Span {
    .init(begin: .milliseconds(Int(begin * 1000)), end: end.map { .milliseconds(Int($0 * 1000)) })
}

@Suite("The tracker beside the eye")
struct MotionComparisonTests {
    @Test("A start and a stall have their errors at both ends")
    func errors() {
        let comparison = compare(
            [(.streamLoad, 0), (.start, 1.02), (.bufferBegin, 3.9), (.bufferFinish, 6.05)],
            [1...4, 6...8],
            until: 8
        )
        #expect(comparison.startError == .milliseconds(20))
        #expect(comparison.interruptions == [.init(.stall, tracked: span(3.9, 6.05), seen: span(4, 6))])
        #expect(comparison.interruptions.map(\.beginError) == [.milliseconds(-100)])
        #expect(comparison.interruptions.map(\.endError) == [.milliseconds(50)])
    }

    @Test("A stall that one of both misses does not move the following ones to another")
    func missed() {
        let seenAlone = compare([(.start, 0), (.bufferBegin, 6), (.bufferFinish, 7)], [0...2, 3...6, 7...9], until: 9)
        let expected: [MotionComparison.Interruption] = [
            .init(nil, tracked: nil, seen: span(2, 3)), .init(.stall, tracked: span(6, 7), seen: span(6, 7)),
        ]
        #expect(seenAlone.interruptions == expected)
        let reportedAlone = compare(
            [(.start, 0), (.bufferBegin, 2), (.bufferFinish, 3), (.bufferBegin, 6), (.bufferFinish, 7)],
            [0...6, 7...9],
            until: 9
        )
        #expect(reportedAlone.interruptions.map(\.tracked) == [span(2, 3), span(6, 7)])
        #expect(reportedAlone.interruptions.map(\.seen) == [nil, span(6, 7)])
        let beside = compare(
            [(.start, 0), (.bufferBegin, 3), (.bufferFinish, 6)],
            [0...2.6, 2.8...3, 6...9],
            until: 9
        )
        #expect(beside.interruptions.map(\.tracked) == [nil, span(3, 6)])
        #expect(beside.interruptions.map(\.seen) == [span(2.6, 2.8), span(3, 6)])
    }

    @Test("A stall that is too short for the eye is left out")
    func short() {
        let comparison = compare([(.start, 0), (.bufferBegin, 2), (.bufferFinish, 2.12)], [0...4], until: 4)
        #expect(comparison.interruptions.isEmpty)
    }

    @Test("A pause in a stall is one interruption, which a stall began")
    func pauseInStall() {
        let signals: [(Action, Double)] = [
            (.start, 0), (.bufferBegin, 2), (.pauseBegin, 3), (.bufferFinish, 4), (.pauseFinish, 5),
        ]
        #expect(
            compare(signals, [0...2, 5...7], until: 7).interruptions
                == [.init(.stall, tracked: span(2, 5), seen: span(2, 5))]
        )
        let inTurn: [(Action, Double)] = [
            (.start, 0), (.bufferBegin, 2), (.bufferFinish, 4), (.pauseBegin, 4.01), (.pauseFinish, 5),
        ]
        #expect(
            compare(inTurn, [0...2, 5...7], until: 7).interruptions
                == [.init(.stall, tracked: span(2, 5), seen: span(2, 5))]
        )
    }

    @Test(
        "A playback that does not continue has an interruption without an end",
        arguments: [Action.error, .end, .bufferBegin]
    )
    func open(action: Action) {
        let comparison = compare([(.start, 0), (action, 3)], [0...3], until: 5)
        let kind: MotionComparison.Kind = action == .error ? .error : action == .end ? .end : .stall
        #expect(comparison.interruptions == [.init(kind, tracked: span(3), seen: span(3))])
    }
}

@Suite("A row of the table of players")
struct TruthRowTests {
    private func row(_ motion: MotionComparison) -> TruthRow {
        TruthRow(player: "player", schedule: "one outage", packaging: .ts, motion: motion)
    }

    private func motion(start: Double = 1, begin: Double = 4, end: Double = 6) -> MotionComparison {
        MotionComparison(
            trackedStart: .seconds(start),
            seenStart: .seconds(1),
            interruptions: [.init(.stall, tracked: span(begin, end), seen: span(4, 6))]
        )
    }

    private func judged(
        _ motion: MotionComparison,
        _ limits: [TruthRow.Limit] = [],
        _ change: (inout TruthRow) -> Void = { _ in }
    ) -> TruthRow.Verdict {
        var row = row(motion)
        change(&row)
        row.judge(limits)
        return row.verdict
    }

    @Test("A start within 50 ms and ends within 100 ms are within")
    func limits() {
        #expect(judged(motion(start: 1.05, begin: 3.9, end: 6.1)) == .within)
        #expect(judged(motion(start: 0.949)) == .outside(["start"]))
        #expect(judged(motion(begin: 4.101)) == .outside(["begin of a stall"]))
        #expect(judged(motion(end: 5.899)) == .outside(["end of a stall"]))
    }

    @Test("What only one of both has is outside")
    func missing() {
        var missing = motion()
        missing.interruptions = [.init(nil, tracked: nil, seen: span(4, 6))]
        #expect(judged(missing) == .outside(["stall not reported"]))
        missing.interruptions = [.init(.pause, tracked: span(4, 6), seen: nil)]
        #expect(judged(missing) == .outside(["pause not seen"]))
        missing.interruptions = [.init(.error, tracked: span(4), seen: span(4))]
        #expect(judged(missing) == .within)
        missing.interruptions = [.init(.stall, tracked: span(4), seen: span(4, 6))]
        #expect(judged(missing) == .outside(["end of a stall"]))
        missing.trackedStart = nil
        missing.interruptions = []
        #expect(judged(missing) == .outside(["start"]))
    }

    @Test("A pause that is not reported and requests that are not seen are outside")
    func asked() {
        #expect(judged(motion()) { $0.asked = [(.pause, nil)] } == .outside(["report of a pause"]))
        #expect(judged(motion()) { $0.asked = [(.pause, .seconds(4))] } == .outside(["report of a pause"]))
        #expect(judged(motion()) { $0.asked = [(.pause, .milliseconds(100))] } == .within)
        var seen = motion()
        seen.interruptions = [.init(.pause, tracked: span(4, 6), seen: span(4, 6))]
        #expect(judged(seen) { $0.asked = [(.pause, .seconds(4))] } == .within)
        #expect(judged(motion()) { ($0.reportedRequests, $0.loggedRequests) = (12, 13) } == .within)
        #expect(judged(motion()) { ($0.reportedRequests, $0.loggedRequests) = (11, 13) } == .outside(["requests"]))
        #expect(judged(motion()) { $0.loggedRequests = 13 } == .within)
    }

    @Test("What a library cannot tell is known up to its error, in its schedules and forms of media alone")
    func known() {
        let limit = TruthRow.Limit("a reason", of: ["one outage"], in: [.ts], [.begin: 300])
        let other = TruthRow.Limit("another reason", [.start: 300])
        #expect(judged(motion(begin: 3.75), [limit]) == .known(["a reason"]))
        #expect(judged(motion(start: 1.3, begin: 3.75), [limit]) == .outside(["start", "begin of a stall"]))
        #expect(judged(motion(start: 1.3, begin: 3.75), [limit, other]) == .known(["another reason", "a reason"]))
        #expect(judged(motion(begin: 3.95), [limit]) == .within)
        #expect(judged(motion(begin: 3.65), [limit]) == .outside(["begin of a stall"]))
        #expect(judged(motion(begin: 3.75), [limit]) { $0.schedule = "seek" } == .outside(["begin of a stall"]))
        #expect(judged(motion(begin: 3.75), [limit]) { $0.packaging = .dash } == .outside(["begin of a stall"]))
    }

    @Test("What a late machine measures is judged only if it is within")
    func late() {
        let late = Duration.milliseconds(101)
        #expect(judged(motion(begin: 3.75)) { $0.lateness = late } == .notJudged(late))
        #expect(judged(motion()) { $0.lateness = late } == .within)
        #expect(judged(motion(begin: 3.75)) { $0.lateness = .milliseconds(100) } == .outside(["begin of a stall"]))
    }

    @Test("The first attempt that is within decides, and otherwise the majority of three")
    func majority() {
        let (within, outside, late) = (
            TruthRow.Verdict.within, TruthRow.Verdict.outside(["start"]), TruthRow.Verdict.notJudged(.seconds(1))
        )
        let cases: [([TruthRow.Verdict], TruthRow.Decision?)] = [
            ([within], .within), ([.known(["a reason"])], .within), ([outside], nil), ([late], nil),
            ([late, within], .within), ([outside, outside], .outside), ([outside, within], nil),
            ([outside, within, within], .within), ([outside, within, outside], .outside),
            ([outside, within, late], .notJudged), ([late, late, late], .notJudged),
        ]
        for (verdicts, decision) in cases {
            #expect(TruthRow.decision(verdicts, ofAtMost: 3) == decision, "\(verdicts)")
        }
        #expect(TruthRow.decision([outside], ofAtMost: 1) == .outside)
        #expect(TruthRow.decision([late], ofAtMost: 1) == .notJudged)
    }

    @Test("A pause in a stall has the delay between the command and the report")
    func delay() throws {
        let schedule = try #require(TruthSchedule.all.first { $0.name == "pause in a stall" })
        let signals = [(Action.bufferBegin, 7.0), (.pauseBegin, 10.02)].map { PlayerSignal($0.0, at: instant($0.1)) }
        let asked = schedule.asked(in: signals, since: instant(0))
        #expect(asked.map(\.kind) == [.pause])
        #expect(asked.map(\.delay) == [.milliseconds(20)])
        #expect(schedule.asked(in: [], since: instant(0)).map(\.delay) == [nil])
    }

    @Test("A row is written for a terminal, a document and a program")
    func texts() throws {
        var row = row(motion(start: 1.05, begin: 3.9, end: 6.02))
        row.probed = .init(start: .milliseconds(980), stalls: [.seconds(2), nil], hasFailed: true)
        row.asked = [(.pause, .milliseconds(5))]
        (row.reportedRequests, row.loggedRequests) = (12, 13)
        row.judge([])
        let expected = [
            "player", "1.05", "1.00", "+50", "2.12", "-100/+20", "pause told +5", "12/13", "0.98; 2.00 open error",
            "within",
        ]
        var table = TruthTable()
        #expect(table.cells(row) == Array(expected[..<6]) + [expected[6], ""] + expected[7...])
        row.verdict = .known(["a reason"])
        table.rows = [row]
        #expect(
            table.markdown.split(separator: "\n").dropFirst(2).map(String.init) == [
                "| one outage | player | 1.05 | 1.00 | +50 | 2.12 | -100/+20 | pause told +5 |  | 12/13 | 0.98; 2.00 open error | as known (1) |",
                "1. a reason",
            ]
        )
        #expect(
            TruthTable.json(row) == """
                {"asked":[{"delay":0.005,"kind":"pause"}],"interruptions":[{"kind":"stall","seenBegin":4.0,"seenEnd":6.0,\
                "trackedBegin":3.9,"trackedEnd":6.02}],"lateness":0.0,"loggedRequests":13,"packaging":"ts","player":"player",\
                "probe":{"failed":true,"stalls":[2.0,null],"start":0.98},"reportedRequests":12,"schedule":"one outage","seenStart":1.0,\
                "trackedStart":1.05,"verdict":"a reason"}
                """
        )
    }
}
