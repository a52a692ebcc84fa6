import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@Suite("Ads hub: the table")
struct AdsHubTests {
    let content = TrackerID(0)
    let ads = TrackerID(1)

    func session(_ actions: Action...) -> Session<AdsHub> {
        var session = Session(AdsHub())
        session.content = [ads: content]
        for action in actions { #expect(session.emit(action, from: ads) == .accepted) }
        return session
    }

    @Test("A break opens and closes for the content and its ad trackers")
    func adBreak() {
        var session = session()
        #expect(session.emit(.adBreakFinish, from: ads) == .rejected(.notInAdBreak))
        session.emit(.adBreakBegin, from: ads)
        #expect(session.emit(.adBreakBegin, from: content) == .rejected(.alreadyDone))
        session.emit(.ping, from: content)
        #expect(session.last?[.inAdBreakBlock] == true)
        session.emit(.adBreakFinish, from: ads)
        #expect(session.last?[.inAdBreakBlock] == false)
    }

    @Test("An ad needs a break and no other ad; it is counted and pinged")
    func ad() {
        var session = session()
        #expect(session.emit(.adBegin, from: ads) == .rejected(.notInAdBreak))
        session.emit(.adBreakBegin, from: ads)
        #expect(session.emit(.adFinish, from: ads) == .rejected(.notInAd))
        session.emit(.adBegin, from: ads)
        #expect(session.emit(.adBegin, from: ads) == .rejected(.alreadyDone))
        #expect(session.last?[.countAds] == 1)
        #expect(session.last?[.inAdBlock] == true)
        session.emit(.adFinish, from: ads)
        #expect(session.last?[.inAdBlock] == false)
        #expect(session.pings == [.start(ads), .stop(ads)])
    }

    @Test(
        "Ad pauses and ad buffering need an ad, alternate, and never count as the content's",
        arguments: [
            (Action.adPauseBegin, Action.adPauseFinish), (.adBufferBegin, .adBufferFinish),
        ]
    )
    func adPauseAndBuffer(begin: Action, finish: Action) {
        var session = session(.adBreakBegin)
        #expect(session.emit(begin, from: ads) == .rejected(.notInAd))
        session.emit(.adBegin, from: ads)
        #expect(session.emit(finish, from: ads) == .rejected(.notBegun))
        session.emit(begin, from: ads)
        #expect(session.emit(begin, from: ads) == .rejected(.alreadyDone))
        session.emit(finish, after: 100, from: ads)
        #expect(session.last?[.accumPauseTime] == .zero)
        #expect(session.last?[.accumBufferTime] == .zero)
        #expect(session.values(of: .numRebuffers) == [])
    }

    @Test("Quartiles come in order, each once per ad")
    func quartiles() {
        var session = session(.adBreakBegin)
        #expect(session.emit(.adFirstQuartile, from: ads) == .rejected(.notInAd))
        session.emit(.adBegin, from: ads)
        #expect(session.emit(.adSecondQuartile, from: ads) == .rejected(.outOfOrder))
        for quartile in [Action.adFirstQuartile, .adSecondQuartile, .adThirdQuartile] {
            #expect(session.emit(quartile, from: ads) == .accepted)
            #expect(session.emit(quartile, from: ads) == .rejected(.alreadyDone))
        }
    }

    @Test("A skip needs an ad, which is over once its AdFinish comes")
    func skip() {
        var session = session(.adBreakBegin)
        #expect(session.emit(.adSkip, from: ads) == .rejected(.notInAd))
        session.emit(.adBegin, from: ads)
        session.emit(.adSkip, from: ads)
        #expect(session.last?[.inAdBlock] == true)
        #expect(session.emit(.adFinish, from: ads) == .accepted)
    }

    @Test("Clicks and errors of ads are always accepted", arguments: [Action.adClick, .adError])
    func always(action: Action) {
        var session = session()
        #expect(session.emit(action, from: ads) == .accepted)
    }

    @Test("The content cannot end in a break; it can be stopped")
    func end() {
        var session = session()
        session.emit(.start, from: content)
        session.emit(.adBreakBegin, from: ads)
        #expect(session.emit(.end, from: content) == .rejected(.inAdBreak))
        #expect(session.emit(.stop, from: content) == .accepted)
    }

    @Test("AdBreakFinish closes an ad and an ad pause left open, and later ads are accepted")
    func breakClosesAd() {
        var session = session(.adBreakBegin, .adBegin, .adPauseBegin, .adBreakFinish, .adBreakBegin, .adBegin)
        #expect(session.emit(.adPauseFinish, from: ads) == .rejected(.notBegun))
        #expect(session.last?[.countAds] == 2)
    }

    @Test("An ad's events carry the content's position")
    func position() {
        var session = session()
        session.positions = [content: .seconds(7)]
        session.emit(.adBreakBegin, from: ads)
        #expect(session.last?[.position] == .seconds(7))
    }
}

@Suite("Hubs: properties over random sessions")
struct HubPropertyTests {
    private static let actions = Action.playerActions + Action.adActions

    private func run<H: Hub & Hashable>(_ hub: H, seed: UInt64, checking: Bool) -> Session<H> {
        var generator = SeededGenerator(seed: seed)
        var session = Session(hub)
        session.content = [TrackerID(1): TrackerID(0)]
        for _ in 0..<400 {
            let action = Self.actions.randomElement(using: &generator) ?? .ping
            let tracker = TrackerID(Int.random(in: 0...1, using: &generator))
            let pause = Int.random(in: 0...5000, using: &generator)
            let before = session.hub
            let verdict = session.emit(action, after: pause, from: tracker)
            if checking, case .rejected = verdict { #expect(session.hub == before, "seed \(seed)") }
        }
        return session
    }

    private func check<H: Hub & Hashable>(_ hub: H, seed: UInt64) {
        let session = run(hub, seed: seed, checking: true)
        let again = run(hub, seed: seed, checking: false)
        #expect(session.events == again.events, "seed \(seed)")
        #expect(session.metrics == again.metrics, "seed \(seed)")
        let sums: [AttributeKey<Duration>] = [.accumPauseTime, .accumBufferTime, .accumSeekTime, .accumPlayTime]
        for event in session.events {
            for sum in sums { #expect((event[sum] ?? .seconds(-1)) >= .zero, "seed \(seed)") }
        }
        checkAlternation(session.events, seed: seed)
    }

    /// Within a playback a pause, a stall and a seek begin and finish in turn.
    private func checkAlternation(_ events: [Event], seed: UInt64) {
        let pairs: [(Action, Action)] = [
            (.pauseBegin, .pauseFinish), (.bufferBegin, .bufferFinish), (.seekBegin, .seekFinish),
        ]
        let openers: Set<Action> = [.mediaRequest, .streamLoad, .bufferBegin, .seekBegin, .start]
        for tracker in [TrackerID(0), TrackerID(1)] {
            for (begin, finish) in pairs {
                var isOpen = false
                var isFinished = false
                for event in events where event.tracker == tracker {
                    if isFinished, openers.contains(event.action) { (isOpen, isFinished) = (false, false) }
                    if event.action == begin { #expect(!isOpen, "seed \(seed)"); isOpen = true }
                    if event.action == finish { #expect(isOpen, "seed \(seed)"); isOpen = false }
                    if [.end, .stop, .next].contains(event.action) { isFinished = true }
                }
            }
        }
    }

    @Test("Rejected events change nothing, blocks alternate, sums are never negative, the result is repeatable")
    func core() { for seed in 0..<Rounds.of(60) { check(CoreHub(), seed: UInt64(seed)) } }

    @Test("The ads hub keeps the same properties over random sessions with ads")
    func ads() { for seed in 100..<100 + Rounds.of(60) { check(AdsHub(), seed: UInt64(seed)) } }
}
