import Instrument
import Testing

@Suite("Core hub: the table")
struct CoreHubTableTests {
    @Test(
        "MediaRequest, PlayerSet and StreamLoad are accepted once",
        arguments: [
            Action.mediaRequest, .playerSet, .streamLoad, .start,
        ]
    )
    func once(action: Action) {
        var session = Session(CoreHub())
        #expect(session.emit(action) == .accepted)
        #expect(session.emit(action) == .rejected(.alreadyDone))
    }

    @Test("Start counts, starts pings and opens the playback block")
    func start() {
        var session = Session(CoreHub())
        session.emit(.start)
        #expect(session.last?[.countStarts] == 1)
        #expect(session.last?[.inPlaybackBlock] == true)
        #expect(session.pings == [.start(TrackerID(0))])
    }

    @Test("A pause needs a start, and its time is added up")
    func pause() {
        var session = Session(CoreHub())
        #expect(session.emit(.pauseBegin) == .rejected(.notInPlayback))
        session.emit(.start)
        #expect(session.emit(.pauseFinish) == .rejected(.notBegun))
        session.emit(.pauseBegin, after: 1000)
        #expect(session.last?[.inPauseBlock] == true)
        #expect(session.emit(.pauseBegin) == .rejected(.alreadyDone))
        session.emit(.pauseFinish, after: 250)
        #expect(session.last?[.accumPauseTime] == .milliseconds(250))
        #expect(session.last?[.inPauseBlock] == false)
    }

    @Test(
        "Buffering and seeking need no start, and their times are added up",
        arguments: [
            (Action.bufferBegin, Action.bufferFinish, AttributeKey<Duration>.accumBufferTime),
            (.seekBegin, .seekFinish, .accumSeekTime),
        ]
    )
    func bufferAndSeek(begin: Action, finish: Action, sum: AttributeKey<Duration>) {
        var session = Session(CoreHub())
        #expect(session.emit(finish) == .rejected(.notBegun))
        session.emit(begin)
        #expect(session.emit(begin) == .rejected(.alreadyDone))
        session.emit(finish, after: 40)
        session.emit(begin, after: 10)
        session.emit(finish, after: 2)
        #expect(session.last?[sum] == .milliseconds(42))
    }

    @Test("End, Stop and Next need a start and happen once", arguments: [Action.end, .stop, .next])
    func finish(action: Action) {
        var session = Session(CoreHub())
        #expect(session.emit(action) == .rejected(.notInPlayback))
        session.emit(.start)
        #expect(session.emit(action) == .accepted)
        #expect(session.pings.last == .stop(TrackerID(0)))
        #expect(session.emit(.end) == .rejected(.alreadyDone))
        #expect(session.emit(.pauseBegin) == .rejected(.notInPlayback))
        #expect(session.emit(.error) == .accepted)
        #expect(session.last?[.deltaPlayTime] == nil)
    }

    @Test("Error, Ping and custom actions are always accepted; errors are counted, a fatal one ends the pings")
    func always() {
        var session = Session(CoreHub())
        for action in [Action.error, .ping, Action("Custom"), .error] { #expect(session.emit(action) == .accepted) }
        #expect(session.last?[.countErrors] == 2)
        #expect(session.pings.isEmpty)
        session.emit(.error, ["isFatal": true])
        #expect(session.pings == [.stop(TrackerID(0))])
    }

    @Test("A fatal error ends the playback: nothing is played after it, and the next load is a new playback")
    func fatal() {
        var session = Session(CoreHub())
        session.emit(.streamLoad)
        session.emit(.start)
        session.emit(.error, after: 1000, ["isFatal": true])
        #expect(session.last?[.deltaPlayTime] == .milliseconds(1000))
        #expect(session.emit(.streamLoad, after: 60_000) == .accepted)
        #expect(session.last?[.deltaPlayTime] == nil)
        #expect(session.emit(.start, after: 70) == .accepted)
        #expect(session.last?[.accumPlayTime] == .zero)
        #expect(Set(session.events.compactMap { $0[.playbackId] }).count == 2)
        #expect(session.values(of: .startTime) == [0, 70])
        session.emit(.error, ["isFatal": false])
        #expect(session.emit(.streamLoad) != .accepted)
    }

    @Test("A playback that was joined late has no start time")
    func joinedLate() {
        var session = Session(CoreHub())
        session.emit(.streamLoad, ["joinedLate": true])
        session.emit(.start, after: 5, ["joinedLate": true])
        #expect(session.values(of: .startTime).isEmpty)
        #expect(session.values(of: .numPlays) == [1])
    }

    @Test("Played time is counted only while started, not paused, seeking or buffering")
    func playTime() {
        var session = Session(CoreHub())
        session.emit(.streamLoad)
        session.emit(.start, after: 300)
        #expect(session.last?[.deltaPlayTime] == nil)
        session.emit(.pauseBegin, after: 1000)
        session.emit(.pauseFinish, after: 500)
        session.emit(.ping, after: 700)
        session.emit(.bufferBegin, after: 30)
        session.emit(.bufferFinish, after: 9000)
        session.emit(.end, after: 5)
        #expect(
            session.events.map { $0[.deltaPlayTime] } == [
                nil, nil, .milliseconds(1000), nil, .milliseconds(700), .milliseconds(30), nil, .milliseconds(5),
            ]
        )
        #expect(session.last?[.accumPlayTime] == .milliseconds(1735))
    }
}

@Suite("Core hub: differences from OpenAVT")
struct CoreHubDifferenceTests {
    @Test("A rejected event does not change the hub, also after the end")
    func rejected() {
        var session = Session(CoreHub())
        session.emit(.streamLoad)
        session.emit(.start)
        session.emit(.end)
        let before = session.hub
        for action in [Action.end, .stop, .next, .pauseBegin, .pauseFinish, .bufferFinish, .seekFinish] {
            guard case .rejected = session.emit(action, after: 10) else {
                Issue.record("\(action) was accepted")
                continue
            }
        }
        #expect(session.hub == before)
    }

    @Test("A replay on one tracker has new identifiers and sums, and continues the counts")
    func replay() {
        var session = Session(CoreHub())
        session.emit(.playerSet)
        session.emit(.streamLoad)
        session.emit(.start)
        session.emit(.pauseBegin)
        session.emit(.pauseFinish, after: 100)
        session.emit(.end, after: 10)
        let first = session.last
        session.emit(.streamLoad)
        #expect(session.emit(.playerSet) == .rejected(.alreadyDone))
        session.emit(.start)
        let second = session.last
        #expect(second?[.streamId] != first?[.streamId])
        #expect(second?[.playbackId] != first?[.playbackId])
        #expect(second?[.accumPauseTime] == .zero)
        #expect(second?[.accumPlayTime] == .zero)
        #expect(second?[.countStarts] == 2)
    }

    @Test("Counters and sums belong to one tracker")
    func perTracker() {
        var session = Session(CoreHub())
        session.emit(.error, from: TrackerID(0))
        session.emit(.error, from: TrackerID(1))
        #expect(session.last?[.countErrors] == 1)
    }
}

@Suite("Core metricalc")
struct CoreMetricalcTests {
    @Test("The start time counts from the request, otherwise from the load, otherwise it is absent")
    func startTime() {
        var session = Session(CoreHub())
        session.emit(.mediaRequest)
        session.emit(.streamLoad, after: 100)
        session.emit(.start, after: 50)
        session.emit(.end, after: 1000)
        session.emit(.streamLoad, after: 60_000)
        session.emit(.start, after: 70)
        session.emit(.end)
        session.emit(.start, after: 5)
        #expect(session.values(of: .startTime) == [150, 70])
        #expect(session.values(of: .numPlays) == [1, 1, 1])
        #expect(session.values(of: .numRequests) == [1])
        #expect(session.values(of: .numLoads) == [1, 1])
        #expect(session.values(of: .numEnds) == [1, 1])
    }

    @Test("A stall counts during playback, not before the start, in a pause or in a seek")
    func rebuffers() {
        var session = Session(CoreHub())
        session.emit(.bufferBegin)
        session.emit(.bufferFinish, after: 11)
        session.emit(.start)
        session.emit(.bufferBegin, after: 100)
        session.emit(.bufferFinish, after: 22)
        session.emit(.pauseBegin)
        session.emit(.bufferBegin)
        session.emit(.pauseFinish)
        session.emit(.bufferFinish, after: 33)
        session.emit(.seekBegin)
        session.emit(.bufferBegin)
        session.emit(.seekFinish)
        session.emit(.bufferFinish, after: 44)
        #expect(session.values(of: .rebufferTime) == [22])
        #expect(session.values(of: .numRebuffers) == [1])
        #expect(session.values(of: .playTime) == [100, 0, 0])
    }
}
