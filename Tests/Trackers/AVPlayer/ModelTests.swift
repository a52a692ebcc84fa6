import Instrument
import Testing

@testable import InstrumentAVPlayer

/// A row of the table: the player's observations after the usual beginning, and the expected signals.
struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var begin: [Step] = Step.begin()
    let steps: [Step]
    let story: [String]

    init(_ name: String, begin: [Step] = Step.begin(), _ steps: [Step], _ story: [String]) {
        (testDescription, self.begin, self.steps, self.story) = (name, begin, steps, story)
    }
}

private let failure = PlayerFailure(domain: "AVFoundationErrorDomain", code: -11800, message: "cannot play")

private let rows: [Row] = [
    // timeControlStatus
    Row(
        "waits after the start",
        [.see(.timeControl(.waiting(.toMinimizeStalls))), .wait(2), .see(.timeControl(.playing)), .run(1)],
        ["BufferBegin@1500", "BufferFinish@3500"]
    ),
    Row(
        "waits while paused",
        [
            .see(.rate(0)), .see(.timeControl(.paused)), .wait(1), .see(.rate(1)),
            .see(.timeControl(.waiting(.evaluatingBufferingRate))), .wait(1), .see(.timeControl(.playing)), .run(1),
        ],
        ["PauseBegin@1500", "PauseFinish@3500"]
    ),
    Row(
        "waits in a seek",
        [
            .see(.timeJumped(first, to: 30)), .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1),
            .see(.time(30)), .see(.timeControl(.playing)), .run(1),
        ],
        ["SeekBegin@1500", "SeekFinish@2500"]
    ),
    Row(
        "pauses in a stall",
        [
            .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1), .see(.rate(0)),
            .see(.timeControl(.paused)), .wait(1), .see(.rate(1)), .see(.timeControl(.playing)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@2500", "PauseBegin@2500", "PauseFinish@3500"]
    ),
    Row("waits without an item", [.see(.timeControl(.waiting(.noItemToPlay)))], []),
    Row(
        "waits during an interstitial",
        [
            .see(.timeControl(.waiting(.interstitialEvent))), .wait(15),
            .see(.timeControl(.playing)), .run(1),
        ],
        ["PauseBegin@1500", "PauseFinish@16500"]
    ),
    Row(
        "waits for others who watch together",
        [
            .see(.timeControl(.waiting(.coordinatedPlayback))), .wait(15),
            .see(.timeControl(.playing)), .run(1),
        ],
        ["PauseBegin@1500", "PauseFinish@16500"]
    ),
    Row(
        "waits for others who watch together, then for data",
        [
            .see(.timeControl(.waiting(.coordinatedPlayback))), .wait(2),
            .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1), .see(.timeControl(.playing)), .run(1),
        ],
        ["PauseBegin@1500", "PauseFinish@3500", "BufferBegin@3500", "BufferFinish@4500"]
    ),
    Row(
        "waits for others who watch together before the start",
        begin: [],
        [
            .see(.item(ItemFacts(id: first))), .see(.rate(1)), .see(.timeControl(.waiting(.toMinimizeStalls))),
            .wait(1), .see(.timeControl(.waiting(.coordinatedPlayback))), .wait(4), .see(.time(0)),
            .see(.timeControl(.playing)), .run(1),
        ],
        ["StreamLoad@0", "BufferBegin@0", "BufferFinish@1000", "Start@5000"]
    ),
    Row(
        "a pause is reported once by rate and status",
        [.see(.time(1.01))] + Step.pause + [.wait(1)] + Step.resume + [.run(1)],
        ["PauseBegin@1500", "PauseFinish@2500"]
    ),
    Row(
        "a pause is reported once by status and rate",
        [
            .see(.timeControl(.paused)), .see(.time(1.01)), .see(.rate(0)), .wait(1),
            .see(.timeControl(.playing)), .see(.time(1.01)), .see(.rate(1)), .run(1),
        ],
        ["PauseBegin@1500", "PauseFinish@2500"]
    ),

    // rate and periodic time
    Row(
        "starts at one and a half times the speed",
        begin: [],
        [
            .see(.item(ItemFacts(id: first))), .see(.rate(1.5)),
            .see(.timeControl(.waiting(nil))), .wait(1), .see(.time(0)), .see(.timeControl(.playing)), .run(1, at: 1.5),
        ],
        ["StreamLoad@0", "BufferBegin@0", "BufferFinish@1000", "Start@1000"]
    ),
    Row(
        "a rate without a moving clock is no start",
        begin: [],
        [
            .see(.item(ItemFacts(id: first))), .see(.rate(1)),
            .see(.timeControl(.playing)), .see(.time(0)), .wait(5), .see(.time(0)),
        ],
        ["StreamLoad@0"]
    ),
    Row(
        "a jump to where playback begins is no start",
        begin: [],
        [
            .see(.item(ItemFacts(id: first))), .see(.time(0)), .see(.rate(1)),
            .see(.timeControl(.playing)), .wait(0.25), .jump(to: 600), .wait(2), .see(.time(600)), .run(0.5),
        ],
        ["StreamLoad@0", "Start@2250"]
    ),
    Row("changes the speed without a seek", [.see(.rate(2)), .run(1, at: 2), .see(.rate(0.5)), .run(2, at: 0.5)], []),
    Row("plays backwards without a seek", [.see(.rate(-1)), .run(0.5, at: -1)], []),
    Row(
        "AirPlay has the rate 0 while it waits for data",
        [
            .see(.externalPlayback(true)), .see(.likelyToKeepUp(first, false)),
            .see(.rate(0)), .wait(2), .see(.rate(1)), .see(.likelyToKeepUp(first, true)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@3500"]
    ),
    Row(
        "AirPlay reports late that data is short",
        [
            .see(.externalPlayback(true)), .see(.rate(0)), .wait(1),
            .see(.likelyToKeepUp(first, false)), .wait(1), .see(.rate(1)), .run(1),
        ],
        ["BufferBegin@2500", "BufferFinish@3500"]
    ),
    Row("AirPlay has the rate 0 and plays on", [.see(.externalPlayback(true)), .see(.rate(0)), .run(2)], []),
    Row(
        "AirPlay is paused",
        [.see(.externalPlayback(true))] + Step.pause + [.wait(1)] + Step.resume + [.run(1)],
        ["PauseBegin@1500", "PauseFinish@2500"]
    ),
    Row(
        "a player without the right to wait stalls and pauses itself",
        [
            .see(.stalled(first)), .see(.rate(0)),
            .see(.timeControl(.paused)), .wait(3), .see(.rate(1)), .see(.timeControl(.playing)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@4500"]
    ),
    Row(
        "a person pauses in a stall that a notice announced",
        [
            .see(.stalled(first)), .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1), .see(.rate(0)),
            .see(.timeControl(.paused)),
        ],
        ["BufferBegin@1500", "BufferFinish@2500", "PauseBegin@2500"]
    ),
    Row(
        "a stall notice before the wait is one stall",
        [
            .see(.stalled(first)), .see(.timeControl(.waiting(.toMinimizeStalls))),
            .wait(1), .see(.timeControl(.playing)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@2500"]
    ),

    // seek
    Row(
        "jumps forward without a notice",
        [.wait(0.25), .jump(to: 40), .run(1)],
        ["SeekBegin@1750", "SeekFinish@1750"]
    ),
    Row("jumps back without a notice", [.wait(0.25), .jump(to: 0.2), .run(1)], ["SeekBegin@1750", "SeekFinish@1750"]),
    Row(
        "jumps with a notice and waits",
        [.see(.timeJumped(first, to: 40)), .wait(1), .see(.time(40)), .run(1)],
        ["SeekBegin@1500", "SeekFinish@2500"]
    ),
    Row("a notice without a jump is no seek", [.see(.timeJumped(first, to: 1.01)), .run(1)], []),
    Row("a clock that is 0.2 s off is no seek", [.wait(0.25), .jump(to: 1.44), .run(1)], []),
    Row(
        "a clock that is more than 0.2 s off is a seek",
        [.wait(0.25), .jump(to: 1.46), .run(1)],
        ["SeekBegin@1750", "SeekFinish@1750"]
    ),
    Row("a clock that had stopped unnoticed is no seek", [.wait(3), .jump(to: 1.5), .run(1)], []),
    Row(
        "jumps while paused",
        Step.pause + [.wait(5), .jump(to: 1.6), .wait(5)] + Step.resume + [.run(1)],
        ["PauseBegin@1500", "SeekBegin@6500", "PauseFinish@11500", "SeekFinish@11500"]
    ),
    Row(
        "moves by less than half a second while paused",
        Step.pause + [.wait(5), .jump(to: 1.4), .wait(1)] + Step.resume + [.run(1)],
        ["PauseBegin@1500", "PauseFinish@7500"]
    ),
    Row(
        "jumps several times in a row",
        [
            .see(.timeJumped(first, to: 20)), .wait(0.1), .see(.timeJumped(first, to: 30)), .wait(0.1),
            .see(.timeJumped(first, to: 40)), .wait(1), .see(.time(40)), .run(1),
        ],
        ["SeekBegin@1500", "SeekFinish@2700"]
    ),
    Row(
        "jumps in a stall",
        [
            .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1), .see(.timeJumped(first, to: 40)), .wait(1),
            .see(.time(40)), .see(.timeControl(.playing)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@2500", "SeekBegin@2500", "SeekFinish@3500"]
    ),

    Row(
        "a seek is complete while paused",
        Step.pause + [
            .wait(1), .see(.timeJumped(first, to: 40)), .wait(0.5), .see(.seekCompleted(first)), .wait(4),
        ] + Step.resume + [.run(1)],
        ["PauseBegin@1500", "SeekBegin@2500", "SeekFinish@3000", "PauseFinish@7000"]
    ),
    Row(
        "a seek while paused is complete before its jump is seen",
        Step.pause + [
            .wait(1), .see(.seekCompleted(first)), .wait(0.25), .jump(to: 40), .wait(4),
        ] + Step.resume + [.run(1)],
        ["PauseBegin@1500", "SeekBegin@2750", "SeekFinish@2750", "PauseFinish@6750"]
    ),
    Row(
        "a jump long after another seek was complete stays open",
        Step.pause + [.wait(1), .see(.seekCompleted(first)), .wait(3), .jump(to: 40), .wait(4)] + Step.resume
            + [.run(1)],
        ["PauseBegin@1500", "SeekBegin@5500", "PauseFinish@9500", "SeekFinish@9500"]
    ),
    Row(
        "a seek is complete while playing, and ends when the clock moves",
        [
            .see(.timeJumped(first, to: 40)), .wait(0.5), .see(.seekCompleted(first)),
            .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1), .see(.time(40)), .see(.timeControl(.playing)),
            .run(1),
        ],
        ["SeekBegin@1500", "SeekFinish@3000"]
    ),

    // live
    Row(
        "a jump after a stall keeps the live offset",
        begin: Step.begin(duration: .nan),
        Step.live(edge: 20, keepsOffset: true) + Step.stall + [.wait(8)] + Step.live(edge: 28, keepsOffset: true) + [
            .see(.timeJumped(first, to: 9)), .see(.timeControl(.playing)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@9500"]
    ),
    Row(
        "a jump after a stall keeps the live offset, without a notice and after the wait",
        begin: Step.begin(duration: .nan),
        Step.live(edge: 20, keepsOffset: true) + Step.stall + [.wait(8)] + Step.live(edge: 28, keepsOffset: true) + [
            .see(.timeControl(.playing)), .wait(0.25), .jump(to: 9.2), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@9500"]
    ),
    Row(
        "a jump to another distance from the live edge is a seek",
        begin: Step.begin(duration: .nan),
        Step.live(edge: 20, keepsOffset: true) + Step.stall + [.wait(8)] + Step.live(edge: 28, keepsOffset: true) + [
            .see(.timeJumped(first, to: 25)), .see(.timeControl(.playing)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@9500", "SeekBegin@9500", "SeekFinish@9500"]
    ),
    Row(
        "a jump of an item that does not keep its live offset is a seek",
        begin: Step.begin(duration: .nan),
        Step.live(edge: 20, keepsOffset: false) + Step.stall + [.wait(8)] + Step.live(edge: 28, keepsOffset: false) + [
            .see(.timeJumped(first, to: 9)), .see(.timeControl(.playing)), .run(1),
        ],
        ["BufferBegin@1500", "BufferFinish@9500", "SeekBegin@9500", "SeekFinish@9500"]
    ),
    Row(
        "a jump to the kept distance without a wait is a seek",
        begin: Step.begin(duration: .nan),
        Step.live(edge: 20, keepsOffset: true) + Step.stall + [.wait(1), .see(.timeControl(.playing)), .run(5)]
            + Step.live(edge: 40, keepsOffset: true) + [.see(.timeJumped(first, to: 21)), .run(1)],
        ["BufferBegin@1500", "BufferFinish@2500", "SeekBegin@7500", "SeekFinish@7500"]
    ),

    // items
    Row(
        "a queue advances with the rate unchanged",
        [
            .see(.advancesAtEnd(true)), .see(.playedToEnd(first)), .wait(0.1),
            .see(.item(ItemFacts(id: second))), .see(.time(0)), .run(1),
        ],
        ["Next@1500", "StreamLoad@1600", "Start@1600"]
    ),
    Row(
        "a queue advances before the notice of the end",
        [
            .see(.advancesAtEnd(true)), .see(.item(ItemFacts(id: second))),
            .see(.playedToEnd(first)), .see(.time(0)), .run(1),
        ],
        ["Next@1500", "StreamLoad@1500", "Start@1500"]
    ),
    Row(
        "a queue has no next item",
        [.see(.advancesAtEnd(true)), .see(.playedToEnd(first)), .wait(0.1), .see(.item(nil))],
        ["End@1500"]
    ),
    Row(
        "the item is replaced in the middle, while paused",
        Step.pause + [.wait(1), .see(.item(ItemFacts(id: second)))],
        ["PauseBegin@1500", "PauseFinish@2500", "Next@2500", "StreamLoad@2500"]
    ),
    Row("the item is removed", [.see(.item(nil))], ["Stop@1500"]),
    Row("the item is reported again", [.see(.item(ItemFacts(id: first))), .run(1)], []),
    Row(
        "the next item waits when it comes",
        [
            .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1),
            .see(.item(ItemFacts(id: second))),
        ],
        ["BufferBegin@1500", "BufferFinish@2500", "Next@2500", "StreamLoad@2500", "BufferBegin@2500"]
    ),

    // notifications of another item
    Row(
        "notices of another item change nothing",
        [
            .see(.playedToEnd(second)), .see(.failedToPlayToEnd(second, failure)),
            .see(.itemFailed(second, failure)), .see(.timeJumped(second, to: 30)), .see(.stalled(second)),
            .see(.duration(second, 1.2)),
            .see(.presentationSize(second, width: 1, height: 1)), .see(.errorLog(second, [failure])),
            .see(.accessLog(second, [AccessLogEntry(indicatedBitrate: 1)])), .see(.likelyToKeepUp(second, false)),
            .run(1),
        ],
        []
    ),

    // end
    Row("plays to the end", [.see(.playedToEnd(first)), .see(.rate(0)), .see(.timeControl(.paused))], ["End@1500"]),
    Row(
        "stops within 0.6 s of the end, and the notice follows",
        begin: Step.begin(duration: 1.5),
        Step.pause + [.see(.playedToEnd(first))],
        ["End@1500"]
    ),
    Row("stops 0.7 s before the end", begin: Step.begin(duration: 1.7), Step.pause, ["PauseBegin@1500"]),
    Row(
        "jumps to the end without a notice of the end",
        [
            .see(.timeJumped(first, to: 60)), .wait(0.1), .see(.rate(0)),
            .see(.timeControl(.paused)),
        ],
        ["SeekBegin@1500", "SeekFinish@1600", "End@1600"]
    ),
    Row(
        "ends in a stall",
        [.see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1), .see(.playedToEnd(first))],
        ["BufferBegin@1500", "BufferFinish@2500", "End@2500"]
    ),
    Row(
        "ends while paused near the end and shows the last frames",
        begin: Step.begin(duration: 1.5),
        Step.pause + [.wait(1)] + Step.resume + [.run(0.5), .see(.playedToEnd(first))],
        ["End@1500"]
    ),
    Row(
        "a live stream has no end near its duration",
        begin: Step.begin(duration: .nan),
        Step.pause,
        ["PauseBegin@1500"]
    ),
    Row(
        "is played again",
        [
            .see(.playedToEnd(first)), .see(.rate(0)), .see(.timeControl(.paused)), .wait(5),
            .see(.timeJumped(first, to: 0)), .see(.rate(1)), .see(.timeControl(.playing)), .wait(0.5), .see(.time(0)),
            .run(1),
        ],
        ["End@1500", "StreamLoad@6500", "Start@7000"]
    ),
    Row(
        "repeats by a jump without a change of the rate",
        [.see(.playedToEnd(first)), .see(.timeJumped(first, to: 0)), .run(1)],
        ["End@1500", "StreamLoad@1500", "Start@1500"]
    ),

    // failure
    Row(
        "the item fails after the start",
        [
            .see(.itemFailed(first, failure)), .see(.failedToPlayToEnd(first, failure)),
            .see(.rate(0)), .see(.timeControl(.paused)),
        ],
        ["Error@1500"]
    ),
    Row(
        "the item fails in a stall",
        [
            .see(.timeControl(.waiting(.toMinimizeStalls))), .wait(1),
            .see(.failedToPlayToEnd(first, failure)),
        ],
        ["BufferBegin@1500", "BufferFinish@2500", "Error@2500"]
    ),
    Row(
        "the item fails before the start",
        begin: [],
        [
            .see(.item(ItemFacts(id: first))), .see(.timeControl(.waiting(nil))), .wait(1),
            .see(.itemFailed(first, failure)),
        ],
        ["StreamLoad@0", "BufferBegin@0", "BufferFinish@1000", "Error@1000"]
    ),
    Row("the player fails without an item", begin: [], [.see(.playerFailed(failure))], ["Error@0"]),
    Row(
        "plays again after a failure",
        [.see(.failedToPlayToEnd(first, failure)), .see(.rate(0)), .see(.timeControl(.paused)), .wait(1)]
            + Step.resume + [.run(1)],
        ["Error@1500", "StreamLoad@2500", "Start@2500"]
    ),
    Row(
        "another item after a failure is no next",
        [.see(.itemFailed(first, failure)), .see(.item(ItemFacts(id: second)))],
        ["Error@1500", "StreamLoad@1500"]
    ),
    Row(
        "the error log is not fatal, and each entry counts once",
        [
            .see(.errorLog(first, [failure])),
            .see(.errorLog(first, [failure, failure])), .see(.errorLog(first, [failure, failure])), .run(1),
        ],
        ["Error@1500", "Error@1500"]
    ),
]

@Suite("What AVPlayer shows and what follows from it")
struct ModelTests {
    @Test("AVPlayerModel reports what the table says when a player shows it", arguments: rows)
    func table(_ row: Row) {
        var stage = ModelStage(row.begin)
        if !row.begin.isEmpty {
            #expect(stage.story == ["StreamLoad@0", "BufferBegin@0", "BufferFinish@500", "Start@500"])
            stage.signals = []
        }
        stage.play(row.steps)
        #expect(stage.story == row.story)
    }

    @Test("AVPlayerModel keeps the reason when the player waits")
    func waitingReason() {
        let stage = ModelStage(Step.begin() + [.see(.timeControl(.waiting(.toMinimizeStalls)))])
        let reasons = stage.signals.filter { $0.action == .bufferBegin }.map { $0.attributes[.waitingReason] }
        #expect(reasons == ["evaluatingBufferingRate", "toMinimizeStalls"])
    }

    @Test("A pause has its reason when the notice comes before it, and its end when the notice comes after it")
    func pauseReasons() {
        let interrupted = Step.see(.rateChangeReason(.audioSessionInterrupted, rate: 0))
        let called = Step.see(.rateChangeReason(.setRateCalled, rate: 1))
        let stage = ModelStage(
            Step.begin() + [interrupted] + Step.pause + [.wait(3)] + [called] + Step.resume + [.run(1)] + Step.pause
                + [.wait(0.1), .see(.rateChangeReason(.appBackgrounded, rate: 0)), .wait(2)] + Step.resume + [.run(1)]
                + Step.pause + [.wait(2), interrupted] + Step.resume + [.run(1), interrupted, .wait(2)] + Step.pause
        )
        let pauses = stage.signals.filter { $0.action == .pauseBegin || $0.action == .pauseFinish }
        #expect(
            pauses.map { $0.attributes[.pauseReason] } == [
                "audioSessionInterrupted", "audioSessionInterrupted", nil, "appBackgrounded", nil, nil, nil,
            ]
        )
    }

    @Test("A live stream has its latency and its window; media with an end has neither")
    func live() {
        let window = SeekableWindow(start: -30, end: 12)
        var stage = ModelStage(Step.begin(duration: .nan) + [.see(.seekableWindow(first, window))] + Step.pause)
        #expect(stage.signals.last?.attributes[.liveLatency] == .seconds(11))
        #expect(stage.signals.last?.attributes[.dvrWindow] == .seconds(42))
        stage = ModelStage(
            Step.begin(duration: .nan) + [
                .see(.seekableWindow(first, window)), .see(.seekableWindow(first, SeekableWindow(start: 9, end: .nan))),
                .see(.seekableWindow(first, SeekableWindow(start: 9, end: 8))),
                .see(.seekableWindow(second, SeekableWindow(start: 0, end: 1))),
            ] + Step.pause
        )
        #expect(stage.signals.last?.attributes[.dvrWindow] == .seconds(42))
        stage = ModelStage(Step.begin() + [.see(.seekableWindow(first, window))] + Step.pause)
        #expect(stage.signals.last?.attributes[.liveLatency] == nil)
        #expect(stage.signals.last?.attributes[.dvrWindow] == nil)
    }

    @Test("A request has what AVFoundation knows of it, before the start as well")
    func requests() {
        let request = MediaRequestFacts(kind: .segment, time: 1.5, timeToFirstByte: 0.2, byteCount: 5000)
        let failed = MediaRequestFacts(kind: .manifest, time: -1, isFailed: true)
        let stage = ModelStage([
            .see(.request(first, request)), .see(.item(ItemFacts(id: first))), .see(.request(first, request)),
            .see(.request(second, request)), .see(.request(first, failed)),
        ])
        #expect(stage.actions == ["StreamLoad", "RequestFinish", "RequestFinish"])
        let attributes = stage.signals.suffix(2).map(\.attributes)
        #expect(attributes.map { $0[.requestKind] } == ["segment", "manifest"])
        #expect(attributes.map { $0[.requestTime] } == [.milliseconds(1500), nil])
        #expect(attributes.map { $0[.timeToFirstByte] } == [.milliseconds(200), nil])
        #expect(attributes.map { $0[.requestBytes] } == [5000, nil])
        #expect(attributes.map { $0[.requestFailed] } == [nil, true])
    }

    @Test("A hidden picture is an error without an end of the playback, once each time that it is hidden")
    func obscuredPicture() {
        let stage = ModelStage(
            [.see(.outputObscured(true)), .see(.outputObscured(false))] + Step.begin() + [
                .see(.outputObscured(true)), .see(.outputObscured(true)), .see(.outputObscured(false)),
                .see(.outputObscured(true)), .run(1),
            ]
        )
        #expect(stage.actions.suffix(2) == ["Error", "Error"] && stage.actions.filter { $0 == "Error" }.count == 2)
        #expect(stage.signals.last?.attributes[.errorCode] == "insufficientExternalProtection")
        #expect(stage.signals.last?.attributes[.isFatal] == nil)
    }

    @Test("A start has the time until playback was likely to continue, the first one that is known")
    func keepUp() {
        let known: [Step] =
            [.see(.item(ItemFacts(id: first)))] + [1.25, 9].map { .see(.firstLikelyToKeepUp(first, after: $0)) }
        let stage = ModelStage(known + Step.begin() + Step.pause)
        let starts = stage.signals.map { $0.attributes[.timeToLikelyToKeepUp] }
        #expect(starts == [nil, nil, nil, .milliseconds(1250), nil])
    }

    @Test("AVPlayerModel marks a running playback as joined")
    func joined() {
        let stage = ModelStage([
            .see(.rate(1)), .see(.timeControl(.playing)), .see(.item(ItemFacts(id: first, isUnderWay: true))),
            .see(.time(30)), .run(1),
        ])
        #expect(stage.story == ["StreamLoad@0", "Start@0"])
        #expect(stage.signals.map { $0.attributes[.joinedLate] } == [true, true])
    }

    @Test("AVPlayerModel opens no playback when the app stopped it and the clock runs on")
    func stopped() {
        var stage = ModelStage(Step.begin())
        stage.signals = stage.model.stop(at: stage.now)
        stage.play([.run(1)] + Step.pause)
        #expect(stage.story == ["Stop@1500"])
        stage.play([.wait(1)] + Step.resume + [.run(1)])
        #expect(stage.actions == ["Stop", "StreamLoad", "Start"])
    }

    @Test("An error says what failed, without secrets, when the player fails")
    func errors() {
        let worded = PlayerFailure(
            domain: "CoreMediaErrorDomain",
            code: -12938,
            message: "HTTP 404: (https://u:p@h.example/a.ts?key=1)"
        )
        let stage = ModelStage([
            .see(.item(ItemFacts(id: first))), .see(.errorLog(first, [worded])), .see(.itemFailed(first, failure)),
        ])
        let errors = stage.signals.filter { $0.action == .error }
        #expect(errors.map { $0.attributes[.isFatal] } == [nil, true])
        #expect(
            errors.map { $0.attributes[.errorCode] } == [
                "CoreMediaErrorDomain -12938", "AVFoundationErrorDomain -11800",
            ]
        )
        #expect(errors.first?.attributes[.errorDescription] == "HTTP 404: (https://h.example/a.ts")
    }

    @Test("No signal is earlier than the one before it when observations come late")
    func lateObservations() {
        var stage = ModelStage(Step.begin())
        let early = MonotonicInstant(nanoseconds: 0)
        stage.signals += stage.model.observe(.errorLog(first, [failure]), at: early)
        stage.signals += stage.model.observe(.time(0.3), at: early)
        stage.play(.run(1))
        #expect(stage.actions == ["StreamLoad", "BufferBegin", "BufferFinish", "Start", "Error"])
        let instants = stage.signals.compactMap(\.instant)
        #expect(instants == instants.sorted())
    }
}
