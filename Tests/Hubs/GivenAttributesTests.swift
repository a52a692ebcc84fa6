import Instrument
import Testing

@Suite("Hubs: attributes that the caller gives")
struct GivenAttributesTests {
    let content = TrackerID(0)
    let ads = TrackerID(1)

    private func adsSession() -> Session<AdsHub> {
        var session = Session(AdsHub())
        session.content = [ads: content]
        session.positions = [content: .milliseconds(12_345)]
        return session
    }

    @Test(
        "The ads hub adds the content's position when the caller gives none",
        arguments: [Action.adBreakBegin, .adClick, .adError, .error, .ping, Action("Custom")]
    )
    func position(action: Action) {
        for tracker in [content, ads] {
            var session = adsSession()
            session.emit(action, from: tracker, ["position": 777])
            #expect(session.last?.attributes["position"] == 777)
            session = adsSession()
            session.emit(action, from: tracker)
            #expect(session.last?.attributes["position"] == 12_345)
        }
    }

    @Test(
        "The ads hub keeps a position of another type when the caller gives one",
        arguments: [0, "start", -0.5, true] as [AttributeValue]
    )
    func oddPosition(value: AttributeValue) {
        var session = adsSession()
        session.emit(.ping, from: ads, ["position": value])
        #expect(session.last?.attributes["position"] == value)
    }

    @Test("The ads hub adds no position when the content has none")
    func noPosition() {
        var session = Session(AdsHub())
        session.content = [ads: content]
        session.emit(.adBreakBegin, from: ads)
        #expect(session.last?.attributes["position"] == nil)
    }

    private static let given: Attributes = [
        "bitrate": 1, "title": "mine", "adId": "ad", "duration": 5, "custom": [1, "two"], "source": "file", "volume": 3,
        "trackerTarget": "other", "timeSinceStart": 9,
    ]

    @Test("No hub changes an attribute that it does not compute", arguments: Action.playerActions + Action.adActions)
    func others(action: Action) {
        var core = Session(CoreHub())
        var ads = Session(AdsHub())
        for action in [.adBreakBegin, .adBegin, .start, .pauseBegin, action] {
            core.emit(action, Self.given)
            ads.emit(action, Self.given)
        }
        for event in core.events + ads.events {
            for element in Self.given where element.name != "timeSinceStart" {
                #expect(event.attributes[element.name] == element.value)
            }
        }
    }

    @Test("A hub overwrites the attributes that it computes: counters, sums, blocks, identifiers and played time")
    func computed() {
        let given: Attributes = [
            "countErrors": 99, "countStarts": 99, "accumPlayTime": 99, "accumPauseTime": 99, "accumBufferTime": 99,
            "accumSeekTime": 99, "deltaPlayTime": 99, "inPlaybackBlock": "x", "inPauseBlock": "x", "inSeekBlock": "x",
            "inBufferBlock": "x", "streamId": "x", "playbackId": "x",
        ]
        var (session, plain) = (Session(CoreHub()), Session(CoreHub()))
        for action in [Action.ping, .streamLoad, .start, .ping, .pauseBegin, .ping, .pauseFinish, .end, .ping] {
            session.emit(action, after: 10, given)
            plain.emit(action, after: 10)
        }
        #expect(session.events.map(\.attributes) == plain.events.map(\.attributes))
        #expect(session.metrics == plain.metrics)
    }
}
