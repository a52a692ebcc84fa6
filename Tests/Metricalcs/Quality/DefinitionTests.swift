import Instrument
import InstrumentQuality
import Testing

/// The definitions case by case: one short session each, computed by hand.
@Suite("Definitions")
struct DefinitionTests {
    private func value(_ name: String, _ steps: [Step], in dialect: Dialect = .instrument) -> QualityValue? {
        let found = sessions(steps)
        #expect(found.count == 1)
        return found.first.flatMap { dialect.value(name, of: $0) }
    }

    @Test("StartTime counts from the load without a request, and is null if playback never started")
    func startTimeOrigin() {
        #expect(value("StartTime", [(0, .streamLoad, [:]), (700, .start, [:]), (10, .end, [:])]) == .integer(700))
        #expect(
            value("StartTime", [(0, .mediaRequest, [:]), (500, .streamLoad, [:]), (700, .start, [:])]) == .integer(1200)
        )
        #expect(
            value("StartTime", [(0, .streamLoad, [:]), (500, .mediaRequest, [:]), (700, .start, [:])]) == .integer(700)
        )
        #expect(value("StartTime", [(0, .mediaRequest, [:]), (500, .error, ["isFatal": true])]) == nil)
        #expect(value("StartTime", [(0, .start, [:]), (500, .end, [:])]) == nil)
        #expect(value("StartTime", [(0, .streamLoad, ["joinedLate": true]), (500, .start, [:])]) == nil)
    }

    @Test("StartTime is null after a seek before the start; the exit and the core metric do not depend on it")
    func startTimeAfterSeek() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (100, .seekBegin, [:]), (400, .seekFinish, [:]), (500, .start, [:]),
            (10, .end, [:]),
        ]
        #expect(value("StartTime", steps) == nil)
        #expect(value("StartTime", steps, in: .openavt) == .integer(1000))
        // Joining 100 + 500 ms, seeking 400 ms: joining led to a seek.
        #expect(value("joinTimeMs", steps, in: .exoplayer) == nil)
        #expect(value("totalWaitTimeMs", steps, in: .exoplayer) == .integer(1000))
        #expect(value("ExitBeforeStart", steps) == .integer(0))
    }

    @Test("StartTime is null after a pause before the start, which a hub that accepts it reports")
    func startTimeAfterPause() {
        let time = { (milliseconds: Int64) in
            Timestamp(
                instant: MonotonicInstant(nanoseconds: milliseconds * 1_000_000),
                wallTime: WallTime(milliseconds: milliseconds)
            )
        }
        let actions: [(Int64, Action)] = [
            (0, .mediaRequest), (100, .pauseBegin), (500, .pauseFinish), (900, .start), (1000, .end),
        ]
        let session = sessions(of: actions.map { Event($0.1, tracker: TrackerID(0), time: time($0.0)) })[0]
        #expect(Dialect.instrument.value("StartTime", of: session) == nil)
        #expect(session.times[.paused] == 400)
        #expect(Dialect.exoplayer.value("joinTimeMs", of: session) == .integer(500))
        #expect(Dialect.newRelic.value("startupTime", of: session) == .integer(900))
    }

    @Test(
        "Pre-roll ads are left out of StartTime and given as PrerollTime; their sum is the time until the first frame"
    )
    func prerolls() {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(300, .streamLoad)
        viewing.add(200, .adBreakBegin, from: Viewing.ads)
        viewing.add(100, .adBegin, from: Viewing.ads)
        viewing.add(4000, .adBufferBegin, from: Viewing.ads)
        viewing.add(700, .adBufferFinish, from: Viewing.ads)
        viewing.add(5300, .adFinish, from: Viewing.ads)
        viewing.add(900, .adBreakFinish, from: Viewing.ads)
        viewing.add(1500, .start)
        viewing.add(10_000, .end)
        let session = sessions(of: viewing.events)[0]
        // Joining 500 ms, a break with 100 ms before its ad, 10,000 ms of the ad and 900 ms behind it, joining 1500 ms.
        #expect(Dialect.instrument.value("StartTime", of: session) == .integer(3000))
        #expect(Dialect.instrument.value("PrerollTime", of: session) == .integer(10_000))
        #expect(Dialect.openavt.value("StartTime", of: session) == .integer(13_000))
        #expect(Dialect.cta2066.value("initialStartupTime", of: session) == .integer(13_000))
        #expect(Dialect.mux.value("video_startup_time", of: session) == .integer(3000))
        #expect(Dialect.newRelic.value("startupTime", of: session) == .integer(3000))
        #expect(Dialect.exoplayer.value("joinTimeMs", of: session) == .integer(3000))
        #expect(Dialect.instrument.value("NumRebuffers", of: session) == .integer(0))
        #expect(session.interruptions.adCount == 1)
    }

    @Test("A break without an ad on the screen is no ad time: the viewer waits for the start")
    func breakWithoutAd() {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(40, .adBreakBegin, from: Viewing.ads)
        viewing.add(6060, .adError, from: Viewing.ads)
        viewing.add(0, .adBreakFinish, from: Viewing.ads)
        viewing.add(0, .start)
        // A mid-roll that never shows holds the content: neither an ad nor the content plays.
        viewing.add(10_000, .adBreakBegin, from: Viewing.ads)
        viewing.add(5000, .adBreakFinish, from: Viewing.ads)
        viewing.add(1000, .end)
        let session = sessions(of: viewing.events)[0]
        #expect(session.times[.ad] == 0 && session.times[.joining] == 6100 && session.times[.paused] == 5000)
        #expect(Dialect.instrument.value("StartTime", of: session) == .integer(6100))
        #expect(Dialect.instrument.value("PrerollTime", of: session) == nil)
        #expect(Dialect.instrument.value("PlayTime", of: session) == .integer(11_000))
        #expect(Dialect.mux.value("video_startup_time", of: session) == .integer(6100))
        #expect(Dialect.newRelic.value("startupTime", of: session) == .integer(6100))
        #expect(Dialect.exoplayer.value("joinTimeMs", of: session) == .integer(6100))
    }

    @Test("OpenAVT: after a fatal error the core metrics continue until the end of the playback, the session does not")
    func afterFailure() {
        // | ms | event | core hub |
        // | 0, 500, 2000 | MediaRequest, StreamLoad, Start | StartTime 2000 |
        // | 12,000 | BufferBegin | deltaPlayTime 10,000 |
        // | 13,000 | Error, fatal | nothing plays from here on |
        // | 13,500 | BufferFinish in the playback block | RebufferTime 1500 |
        // | 15,500 | Stop, accepted because the playback has started and not ended | NumEnds 1 |
        // | 16,500 | MediaRequest | a second playback |
        let found = sessions([
            (0, .mediaRequest, [:]), (500, .streamLoad, [:]), (1500, .start, [:]), (10_000, .bufferBegin, [:]),
            (1000, .error, ["isFatal": true]), (500, .bufferFinish, [:]), (2000, .stop, [:]),
            (1000, .mediaRequest, [:]),
        ])
        #expect(found.map(\.state) == [.failed, .stopped])
        #expect(found[0].length == 13_000 && found[0].times.total == 13_000)
        #expect(Dialect.instrument.value("PlaybackFailure", of: found[0]) == .integer(1))
        expect(
            .openavt,
            of: found[0],
            [
                "StartTime": .integer(2000), "NumPlays": .integer(1), "RebufferTime": .integer(1500),
                "NumRebuffers": .integer(1), "PlayTime": .integer(10_000), "NumRequests": .integer(1),
                "NumLoads": .integer(1), "NumEnds": .integer(1),
            ]
        )
        // Ours is the session until the error; a failure is no exit.
        #expect(Dialect.instrument.value("NumRebuffers", of: found[0]) == .integer(1))
        #expect(Dialect.instrument.value("RebufferTime", of: found[0]) == .integer(1000))
        #expect(Dialect.instrument.value("ExitDuringRebuffer", of: found[0]) == .integer(0))
    }

    @Test("A playback that failed and was not ended is complete when the next one begins")
    func nextAfterFailure() {
        let found = sessions([
            (0, .mediaRequest, [:]), (1000, .start, [:]), (5000, .error, ["isFatal": true]),
            (1000, .mediaRequest, [:]), (500, .error, ["isFatal": true]), (1000, .mediaRequest, [:]),
        ])
        #expect(found.map(\.state) == [.failed, .failed, .stopped])
        #expect(found.map { Dialect.openavt.value("NumEnds", of: $0) } == Array(repeating: .integer(0), count: 3))
    }

    @Test("An ad break is never content rebuffering, and interrupts playing")
    func midroll() {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(1000, .start)
        viewing.add(10_000, .adBreakBegin, from: Viewing.ads)
        viewing.add(0, .adBegin, from: Viewing.ads)
        viewing.add(1000, .bufferBegin)  // The content's player waits behind the ad.
        viewing.add(5000, .bufferFinish)
        viewing.add(4000, .adBreakFinish, from: Viewing.ads)
        viewing.add(20_000, .end)
        let session = sessions(of: viewing.events)[0]
        #expect(session.times[.ad] == 10_000)
        #expect(session.times[.rebuffering] == 0)
        #expect(Dialect.instrument.value("PlayTime", of: session) == .integer(30_000))
        #expect(Dialect.instrument.value("NumRebuffers", of: session) == .integer(0))
        #expect(Dialect.openavt.value("NumRebuffers", of: session) == .integer(1))
        #expect(Dialect.mux.value("rebuffer_count", of: session) == .integer(0))
        #expect(Dialect.instrument.value("PrerollTime", of: session) == nil)
    }

    @Test("Of a stall with an ad break inside or before it, only the time outside of the break counts")
    func stallAroundAds() {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(1000, .start)
        viewing.add(10_000, .bufferBegin)
        viewing.add(1000, .adBreakBegin, from: Viewing.ads)
        viewing.add(0, .adBegin, from: Viewing.ads)
        viewing.add(30_000, .adBreakFinish, from: Viewing.ads)
        viewing.add(0, .bufferFinish)
        viewing.add(10_000, .adBreakBegin, from: Viewing.ads)
        viewing.add(0, .adBegin, from: Viewing.ads)
        viewing.add(1000, .bufferBegin)
        viewing.add(5000, .adBreakFinish, from: Viewing.ads)
        viewing.add(20_000, .bufferFinish)
        viewing.add(1000, .end)
        let session = sessions(of: viewing.events)[0]
        #expect(session.times[.rebuffering] == 21_000)
        #expect(Dialect.instrument.value("RebufferTime", of: session) == .integer(21_000))
        #expect(Dialect.instrument.value("NumRebuffers", of: session) == .integer(2))
        #expect(Dialect.instrument.value("PlayTime", of: session) == .integer(21_000))
    }

    @Test("Records of single sessions have no sum in an aggregate")
    func records() {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(1000, .start)
        viewing.add(5000, .end)
        var aggregate = QualityAggregate(.tgpp26247)
        aggregate.add(sessions(of: viewing.events)[0])
        #expect(aggregate.summaries["PlayList"] == nil && aggregate.summaries["InitialPlayoutDelay"] != nil)
    }

    @Test("Ads of a log without contentSenderId belong to the latest content of the same instrument")
    func adsWithoutLink() {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(1000, .start)
        viewing.add(1000, .adBreakBegin, from: Viewing.ads)
        viewing.add(0, .adBegin, from: Viewing.ads)
        viewing.add(3000, .adBreakFinish, from: Viewing.ads)
        viewing.add(1000, .end)
        let events = viewing.events.map { event in
            var event = event
            event[.contentSenderId] = nil
            return event
        }
        #expect(sessions(of: events).map { $0.times[.ad] } == [3000])
    }

    @Test("Buffering before the start is joining; of a wait that lasts beyond the start, the rest is a stall")
    func bufferingAcrossStart() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (200, .bufferBegin, [:]), (800, .start, [:]), (300, .bufferFinish, [:]),
            (5000, .end, [:]),
        ]
        let session = sessions(steps)[0]
        #expect(session.times[.joining] == 1000)
        #expect(session.times[.rebuffering] == 300)
        #expect(Dialect.instrument.value("RebufferTime", of: session) == .integer(300))
        #expect(Dialect.openavt.value("RebufferTime", of: session) == .integer(1100))
        // New Relic leaves out the initial buffering, which is this whole wait, but not the next one.
        #expect(Dialect.newRelic.value("totalRebufferingTime", of: session) == .integer(0))
        #expect(Dialect.newRelic.value("rebufferingRatio", of: session) == .ratio(0, 5000))
        let stalled: [Step] = steps.dropLast() + [(0, .bufferBegin, [:]), (700, .bufferFinish, [:])]
        #expect(value("totalRebufferingTime", stalled, in: .newRelic) == .integer(700))
        #expect(value("RebufferTime", stalled) == .integer(1000))
    }

    @Test("A stall that ends with the viewer's exit counts, and so does the exit", arguments: [Action.stop, .next])
    func exitInStall(ending: Action) {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (1000, .start, [:]), (10_000, .bufferBegin, [:]), (30_000, ending, [:]),
        ]
        #expect(value("NumRebuffers", steps) == .integer(1))
        #expect(value("RebufferTime", steps) == .integer(30_000))
        #expect(value("RebufferRatio", steps) == .ratio(30_000, 40_000))
        #expect(value("ExitDuringRebuffer", steps) == .integer(1))
        #expect(value("NumRebuffers", steps, in: .openavt) == .integer(0))
    }

    @Test("A viewer who vanishes in a stall has left in it; an end, a pause, a seek or an ad is no such exit")
    func exits() {
        let begin: [Step] = [(0, .mediaRequest, [:]), (1000, .start, [:]), (9000, .bufferBegin, [:])]
        let cases: [([Step], Int)] = [
            ([(30_000, .ping, [:])], 1), ([(500, .end, [:])], 0), ([(500, .pauseBegin, [:]), (900, .stop, [:])], 0),
            ([(500, .seekBegin, [:]), (900, .stop, [:])], 0), ([(500, .bufferFinish, [:]), (900, .stop, [:])], 0),
            ([(500, .adBreakBegin, [:]), (900, .stop, [:])], 0), ([(500, .error, [:]), (900, .stop, [:])], 1),
        ]
        for (rest, expected) in cases {
            #expect(value("ExitDuringRebuffer", begin + rest) == .integer(expected), "\(rest)")
        }
        // The next playback ends a session without an end.
        let events = sessionEvents(begin)
        var next = events[0]
        next[.playbackId] = "another"
        let found = sessions(of: events + [next])
        #expect(found.map { Dialect.instrument.value("ExitDuringRebuffer", of: $0) } == [.integer(1), .integer(0)])
        var model = SessionModel(opening: events[0])
        for event in events.dropFirst() { model.observe(event) }
        #expect(Dialect.instrument.value("ExitDuringRebuffer", of: model.session) == nil)
    }

    private func sessionEvents(_ steps: [Step]) -> [Event] {
        var viewing = Viewing()
        for (milliseconds, action, attributes) in steps { viewing.add(milliseconds, action, attributes) }
        return viewing.events
    }

    @Test("StartTime is null if the app went to the background before the start, which its own tracker reports")
    func startTimeAfterBackground() {
        let value = { (action: Action, milliseconds: Int) -> QualityValue? in
            var viewing = Viewing()
            viewing.add(0, .mediaRequest)
            viewing.add(milliseconds, action, from: TrackerID(2))
            viewing.add(20_000 - milliseconds, .start)
            viewing.add(1000, .end)
            let session = sessions(of: viewing.events)[0]
            #expect(Dialect.openavt.value("StartTime", of: session) == .integer(20_000))
            return Dialect.instrument.value("StartTime", of: session)
        }
        #expect(value(Action("AppBackground"), 500) == nil)
        #expect(value(Action("SystemResumed"), 19_000) == nil)
        #expect(value(Action("AppInactive"), 500) == .integer(20_000))
    }

    @Test("An app that was in the background before the request or after the start has a StartTime, as have other apps")
    func startTimeBesideBackground() {
        var (own, other) = (Viewing("a"), Viewing("b"))
        own.add(0, Action("AppBackground"), from: TrackerID(2))
        own.add(5000, .mediaRequest)
        other.add(5000, .mediaRequest)
        other.add(100, Action("AppBackground"), from: TrackerID(2))
        own.add(700, .start)
        own.add(100, Action("AppBackground"))
        own.add(100, .end)
        let found = sessions(of: Array(own.events.prefix(2)) + other.events + Array(own.events.dropFirst(2)))
        let session = found.first { $0.senderId == "a-0" }
        #expect(session.flatMap { Dialect.instrument.value("StartTime", of: $0) } == .integer(700))
    }

    @Test(
        "Of a stall that a seek interrupts, the time until the seek is a stall, and the time until the picture a seek"
    )
    func seekDuringStall() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (0, .start, [:]), (10_000, .bufferBegin, [:]), (1000, .seekBegin, [:]),
            (2000, .bufferFinish, [:]), (500, .seekFinish, [:]), (4000, .end, [:]),
        ]
        let session = sessions(steps)[0]
        #expect(session.times[.rebuffering] == 1000)
        #expect(session.times[.seeking] == 2500)
        #expect(Dialect.instrument.value("RebufferTime", of: session) == .integer(1000))
        #expect(Dialect.instrument.value("NumRebuffers", of: session) == .integer(1))
        #expect(Dialect.openavt.value("RebufferTime", of: session) == .integer(3000))
        #expect(Dialect.exoplayer.value("totalRebufferTimeMs", of: session) == .integer(1000))
        #expect(Dialect.instrument.value("SeekTime", of: session) == .integer(2500))
        // A wait that lasts beyond the seek waits for the data of the new position.
        let longer: [Step] = [
            (0, .mediaRequest, [:]), (0, .start, [:]), (10_000, .bufferBegin, [:]), (1000, .seekBegin, [:]),
            (500, .seekFinish, [:]), (2000, .bufferFinish, [:]), (4000, .end, [:]),
        ]
        #expect(value("RebufferTime", longer) == .integer(1000) && value("NumRebuffers", longer) == .integer(1))
        #expect(value("SeekTime", longer) == .integer(2500))
        #expect(value("totalRebufferCount", longer, in: .exoplayer) == .integer(1))
    }

    @Test("A wait for data that began in a seek belongs to the seek, also behind `SeekFinish`")
    func seekUntilPicture() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (0, .start, [:]), (10_000, .seekBegin, [:]), (100, .bufferBegin, [:]),
            (400, .seekFinish, [:]), (1500, .bufferFinish, [:]), (4000, .end, [:]),
        ]
        let session = sessions(steps)[0]
        #expect(session.times[.seeking] == 2000 && session.times[.rebuffering] == 0)
        #expect(session.times[.playing] == 14_000)
        #expect(Dialect.instrument.value("SeekTime", of: session) == .integer(2000))
        #expect(Dialect.instrument.value("RebufferTime", of: session) == .integer(0))
        #expect(value("rebuffer_count", steps, in: .mux) == .integer(0))
        #expect(value("totalSeekTimeMs", steps, in: .exoplayer) == .integer(2000))
        // The next wait is a stall again.
        let stalled = value("RebufferTime", steps.dropLast() + [(500, .bufferBegin, [:]), (700, .bufferFinish, [:])])
        #expect(stalled == .integer(700))
    }

    @Test("A log that begins in an ad break begins in the state `ad`")
    func adoptedBreak() throws {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(1000, .start)
        viewing.add(1000, .adBreakBegin, from: Viewing.ads)
        viewing.add(500, .adBegin, from: Viewing.ads)
        viewing.add(1000, .ping)
        viewing.add(2000, .adFinish, from: Viewing.ads)
        viewing.add(100, .adBreakFinish, from: Viewing.ads)
        viewing.add(5000, .end)
        let ping = try #require(viewing.events.firstIndex { $0.action == .ping })
        let session = try #require(sessions(of: Array(viewing.events[ping...])).first)
        #expect(session.times[.ad] == 2000 && session.times[.paused] == 100)
        #expect(session.times[.playing] == 5000)
    }

    @Test("A stall that is paused and resumed is one stall")
    func pausedStall() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (0, .start, [:]), (10_000, .bufferBegin, [:]), (1000, .pauseBegin, [:]),
            (1000, .pauseFinish, [:]), (1000, .bufferFinish, [:]), (1000, .end, [:]),
        ]
        #expect(value("rebuffer_count", steps, in: .mux) == .integer(1))
        #expect(value("playbackStallDuration", steps, in: .cta2066) == .integer(2000))
        #expect(value("totalRebufferCount", steps, in: .exoplayer) == .integer(1))
        #expect(value("maxRebufferTimeMs", steps, in: .exoplayer) == .integer(3000))
        // A pause is not waiting: 1 s before it, and 1 s after it.
        #expect(value("RebufferTime", steps) == .integer(2000))
        #expect(value("NumRebuffers", steps) == .integer(1))
        #expect(value("RebufferTime", steps, in: .openavt) == .integer(3000))
    }

    @Test("A wait that began in a pause is a stall once the viewer resumes, and none if it ends in the pause")
    func stallAfterPause() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (0, .start, [:]), (10_000, .pauseBegin, [:]), (1000, .bufferBegin, [:]),
            (1000, .bufferFinish, [:]), (500, .bufferBegin, [:]), (600, .pauseFinish, [:]), (700, .bufferFinish, [:]),
            (1000, .end, [:]),
        ]
        #expect(value("RebufferTime", steps) == .integer(700))
        #expect(value("NumRebuffers", steps) == .integer(1))
    }

    @Test("A pause of the content for an ad is no pause of the person in ExoPlayer's count", arguments: [true, false])
    func pausesForAds(isBeforeBreak: Bool) {
        func pauses(_ steps: [Step]) -> QualityValue? {
            value("totalPauseCount", [(0, .mediaRequest, [:]), (0, .start, [:])] + steps, in: .exoplayer)
        }
        let opening: [Step] =
            isBeforeBreak
            ? [(5000, .pauseBegin, [:]), (3, .adBreakBegin, [:])] : [(5000, .adBreakBegin, [:]), (3, .pauseBegin, [:])]
        let midroll: [Step] = opening + [(100, .adBegin, [:]), (3000, .adFinish, [:]), (0, .adBreakFinish, [:])]
        #expect(pauses(midroll + [(1, .pauseFinish, [:]), (4000, .end, [:])]) == .integer(0))
        // Two breaks in a row.
        let second: [Step] = [(20, .adBreakBegin, [:]), (3000, .adBreakFinish, [:]), (1, .pauseFinish, [:])]
        #expect(pauses(midroll + second) == .integer(0))
        // The person pauses after the ad, before it, or when the content has resumed.
        #expect(pauses(midroll + [(9000, .pauseFinish, [:]), (4000, .end, [:])]) == .integer(1))
        #expect(pauses(midroll + [(1, .pauseFinish, [:]), (10, .pauseBegin, [:])]) == .integer(1))
        #expect(
            pauses([(100, .pauseBegin, [:]), (5000, .adBreakBegin, [:]), (10, .adBreakFinish, [:])]) == .integer(1)
        )
    }

    /// A session, and its start failures, exits before the start and playback failures.
    private static let classified: [([Step], [Int])] = [
        ([(0, .mediaRequest, [:]), (900, .error, fatal)], [1, 0, 0]),
        ([(0, .mediaRequest, [:]), (900, .error, ["isFatal": true, "causedByUser": true])], [0, 1, 0]),
        ([(0, .mediaRequest, [:]), (900, .error, ["isFatal": true, "errorCode": "stopped"])], [0, 1, 0]),
        ([(0, .mediaRequest, [:]), (900, .error, [:])], [0, 1, 0]),
        ([(0, .mediaRequest, [:]), (900, .ping, [:])], [0, 1, 0]),
        ([(0, .mediaRequest, [:]), (900, .start, [:]), (900, .error, fatal)], [0, 0, 1]),
        ([(0, .mediaRequest, [:]), (900, .start, [:]), (900, .error, [:]), (10, .end, [:])], [0, 0, 0]),
        ([(0, .mediaRequest, [:]), (900, .start, [:]), (900, .ping, [:])], [0, 0, 0]),
    ]
    private static let fatal: Attributes = ["isFatal": true]

    @Test("Sessions that fail or are left are classified by the start and the cause", arguments: classified)
    func outcomes(steps: [Step], expected: [Int]) {
        let names = ["StartFailure", "ExitBeforeStart", "PlaybackFailure"]
        #expect(names.map { value($0, steps) } == expected.map { .integer($0) })
    }

    @Test("Vendors' failures differ as their differences say")
    func vendorFailures() {
        let byUser: [Step] = [(0, .mediaRequest, [:]), (900, .error, ["isFatal": true, "causedByUser": true])]
        #expect(value("hadStartupError", byUser, in: .newRelic) == .integer(1))
        #expect(value("hadPlaybackError", byUser, in: .newRelic) == .integer(0))
        let survived: [Step] = [(0, .mediaRequest, [:]), (9, .error, [:]), (900, .start, [:]), (9, .end, [:])]
        for (startup, playback) in [
            ("hadStartupError", "hadPlaybackError"), ("hadStartupFailure", "hadPlaybackFailure"),
        ] {
            #expect(value(startup, survived, in: .newRelic) == .integer(1))
            #expect(value(playback, survived, in: .newRelic) == .integer(0))
        }
        #expect(value("playback_failure", byUser, in: .mux) == .integer(0))
        #expect(value("exits_before_video_start", byUser, in: .mux) == .integer(1))
        #expect(value("fatalErrorPlaybackCount", byUser, in: .exoplayer) == .integer(1))
        #expect(value("abandonedBeforeReadyCount", byUser, in: .exoplayer) == .integer(1))
        #expect(value("video_startup_score", byUser, in: .mux) == nil)
        #expect(value("video_quality_score", byUser, in: .mux) == nil)
        #expect(value("smoothness_score", byUser, in: .mux) == nil)
        #expect(value("initialStartupTime", byUser, in: .cta2066) == nil)
        let failed: [Step] = [
            (0, .mediaRequest, [:]), (900, .start, [:]), (10, .error, [:]), (900, .error, ["isFatal": true]),
        ]
        #expect(value("playback_failure", failed, in: .mux) == .integer(1))
        #expect(value("hadStartupFailure", failed, in: .newRelic) == .integer(0))
        #expect(value("hadPlaybackFailure", failed, in: .newRelic) == .integer(1))
        #expect(value("nonFatalErrorCount", failed, in: .exoplayer) == .integer(1))
        #expect(value("fatalErrorPlaybackCount", failed, in: .exoplayer) == .integer(1))
    }

    @Test("Latency is weighted by play time, and drifts from the first to the latest value after the start")
    func latency() {
        let steps: [Step] = [
            (0, .mediaRequest, ["liveLatency": 9000]), (1000, .start, ["liveLatency": 4000]),
            (10_000, .ping, ["liveLatency": 6000]), (5000, .pauseBegin, [:]),
            (2000, .pauseFinish, ["liveLatency": 8000]),
            (5000, .end, ["liveLatency": 8500]),
        ]
        // 4000 for 10 s, 6000 for 5 s, 8000 for 5 s: the mean is 5500. The pause does not count.
        #expect(value("LiveLatency", steps)?.double == 5500)
        #expect(value("LatencyDrift", steps) == .integer(4500))
    }

    @Test("The playback rate counts its times, and weights the bitrate by media time")
    func playbackRate() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (0, .start, ["bitrate": 1_000_000]), (10_000, .ping, ["playbackRate": 2.0]),
            (10_000, .ping, ["playbackRate": 0.5, "bitrate": 4_000_000]), (10_000, .ping, ["playbackRate": 1.0]),
            (5000, .end, [:]),
        ]
        #expect(value("PlaybackRateTime", steps) == .labelled(["fast": 10_000, "slow": 10_000]))
        // 10 s and 20 s of media at 1 Mbit/s, 5 s and 5 s at 4 Mbit/s: 70 Mbit in 40 s.
        #expect(value("AverageBitrate", steps) == .integer(1_750_000))
    }

    @Test("Requests give throughput, time to first byte and errors")
    func requests() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]),
            (100, .requestFinish, ["requestBytes": 500_000, "requestTime": 1000, "timeToFirstByte": 50]),
            (100, .requestFinish, ["requestBytes": 250_000, "requestTime": 1000, "timeToFirstByte": 150]),
            (100, .requestFinish, ["requestTime": 200, "requestFailed": true]),
            (100, .start, ["countRequests": 70, "countFailedRequests": 30, "throughput": 9]), (10, .end, [:]),
        ]
        let session = sessions(steps)[0]
        // 4 Mbit/s and 2 Mbit/s; the sums of the probe do not count beside single requests.
        #expect(session.network.throughput.count == 2)
        #expect(session.network.throughput.mean == 3_000_000)
        #expect(session.network.timeToFirstByte.mean == 100)
        #expect(Dialect.instrument.value("RequestErrors", of: session) == .integer(1))
        let average: AttributeValue = [
            "numbytes": 750_000, "activitytime": 2000, "t": 1_767_225_600_000, "duration": 410,
        ]
        #expect(Dialect.tgpp26247.value("AvgThroughput", of: session) == .record(average))
    }

    @Test("Without single requests, the sums of the probe count")
    func probeSums() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (100, .streamLoad, ["countRequests": 2, "countFailedRequests": 1]),
            (100, .start, ["countRequests": 3, "countFailedRequests": 1, "throughput": 2_000_000]),
            (100, .ping, ["countRequests": 3, "countFailedRequests": 1, "throughput": 2_000_000]),
            (100, .end, ["countRequests": 9, "countFailedRequests": 4, "throughput": 3_000_000]),
        ]
        let session = sessions(steps)[0]
        #expect(Dialect.instrument.value("RequestErrors", of: session) == .integer(4))
        #expect(session.network.requests == 9)
        #expect(session.network.throughput.count == 2)
        #expect(session.network.throughput.mean == 2_500_000)
    }

    @Test("Renditions without a size are named by their bitrate, and beyond the limit as other")
    func renditions() {
        var steps: [Step] = [(0, .mediaRequest, [:]), (0, .start, ["bitrate": 1])]
        for bitrate in 2...70 { steps.append((1000, .ping, ["bitrate": .int(bitrate)])) }
        guard case .labelled(let times)? = value("TimeInQuality", steps + [(1000, .end, [:])]) else {
            Issue.record("no value")
            return
        }
        #expect(times.count == PictureSums.renditionLimit + 1)
        #expect(times["1"] == 1000)
        #expect(times["other"] == 6000)
        #expect(times.values.reduce(0, +) == 70_000)
    }

    @Test("The buffer level is weighted by the time for which it held")
    func bufferLevel() {
        let steps: [Step] = [
            (0, .mediaRequest, ["bufferLevel": 0]), (1000, .start, ["bufferLevel": 4000]),
            (3000, .ping, ["bufferLevel": 8000]), (1000, .end, [:]),
        ]
        // 0 for 1 s, 4000 for 3 s, 8000 for 1 s: the mean is 4000.
        #expect(value("BufferLevel", steps, in: .tgpp26247)?.double == 4000)
    }
}
