import Instrument
import Testing

@testable import InstrumentAVPlayer

@Suite("Interstitials as ads")
struct InterstitialTests {
    private struct Stage {
        var model = InterstitialModel()
        var now = MonotonicInstant(nanoseconds: 0)
        var signals: [AdPlayerSignal] = []

        mutating func see(_ observations: AVPlayerObservation...) {
            for observation in observations { signals += model.observe(observation, at: now) }
        }

        mutating func play(_ number: Int, seconds: Double, of duration: Double) {
            let item = ItemID(number: number)
            see(
                .item(ItemFacts(id: item, title: "ad\(number).m3u8")),
                .duration(item, duration),
                .time(0),
                .rate(1),
                .timeControl(.playing)
            )
            for step in 1...Int(seconds * 4) {
                now = now.advanced(by: .milliseconds(250))
                see(.time(Double(step) / 4))
            }
        }

        var story: [String] { signals.map { "\($0.action.name)@\(($0.instant ?? now).milliseconds)" } }
    }

    private let event = InterstitialFacts(identifier: "break-1", roll: .pre)

    @Test("An event is a break, and each of its items is an ad with its quartiles")
    func twoAds() {
        var stage = Stage()
        stage.see(.advancesAtEnd(true), .interstitialEvent(event))
        stage.play(1, seconds: 4, of: 4)
        stage.see(.playedToEnd(first))
        stage.play(2, seconds: 2, of: 8)
        stage.see(.item(nil), .interstitialEvent(nil))
        #expect(
            stage.story == [
                "AdBreakBegin@0", "AdBegin@0", "AdFirstQuartile@1000", "AdSecondQuartile@2000", "AdThirdQuartile@3000",
                "AdFinish@4000", "AdBegin@4000", "AdFirstQuartile@6000", "AdFinish@6000", "AdBreakFinish@6000",
            ]
        )
        let begin = stage.signals.first { $0.action == .adBegin }?.status
        #expect([begin?.id, begin?.title, begin?.roll?.rawValue] == ["break-1", "ad1.m3u8", "pre"])
        #expect(begin?.duration == .seconds(4))
    }

    @Test("A break that ends in the middle of an ad ends the ad, with its pause")
    func cut() {
        var stage = Stage()
        stage.see(.interstitialEvent(event))
        stage.play(1, seconds: 1, of: 40)
        stage.see(.rate(0), .timeControl(.paused), .interstitialEvent(nil), .item(nil))
        #expect(
            stage.story.suffix(4) == ["AdPauseBegin@1000", "AdPauseFinish@1000", "AdFinish@1000", "AdBreakFinish@1000"]
        )
    }

    @Test("An ad waits for data and fails: the error has its code, and the ad ends")
    func failure() {
        var stage = Stage()
        stage.see(.interstitialEvent(event))
        stage.play(1, seconds: 1, of: 40)
        stage.see(
            .timeControl(.waiting(.toMinimizeStalls)),
            .itemFailed(first, PlayerFailure(domain: "D", code: 7, message: "gone"))
        )
        stage.see(.interstitialEvent(nil))
        #expect(
            stage.story.suffix(5) == [
                "AdBufferBegin@1000", "AdBufferFinish@1000", "AdError@1000", "AdFinish@1000", "AdBreakFinish@1000",
            ]
        )
        let error = stage.signals.first { $0.action == .adError }
        #expect(error?.attributes[.errorCode] == "D 7")
        #expect(error?.attributes[.errorDescription] == "gone")
    }

    @Test("A skipped event is an ad that was skipped; a skip of another event, or without an ad, is none")
    func skipped() {
        var stage = Stage()
        stage.see(.interstitialEvent(event), .interstitialSkipped("break-1"))
        stage.play(1, seconds: 1, of: 40)
        stage.see(.interstitialSkipped("break-2"), .interstitialSkipped("break-1"), .item(nil), .interstitialEvent(nil))
        #expect(
            stage.story == ["AdBreakBegin@0", "AdBegin@0", "AdSkip@1000", "AdFinish@1000", "AdBreakFinish@1000"]
        )
    }

    @Test("An event that cannot be played is an error, and no break")
    func unscheduled() {
        var stage = Stage()
        stage.see(.interstitialFailed("break-3", PlayerFailure(domain: "D", code: 7, message: "gone")))
        #expect(stage.story == ["AdError@0"])
        #expect(stage.signals.first?.status.id == "break-3")
        #expect(stage.signals.first?.attributes[.errorCode] == "D 7")
    }

    @Test(
        "The roll follows from the cue, the time, and for an event with a date from the position of the content",
        arguments: [
            (InterstitialFacts.Cue.join, 30.0, 30.0, 60.0, AdRoll.pre), (.leave, 0, 0, 60, .post),
            (.none, 0, 0, 60, .pre), (.none, 30, 30, 60, .mid), (.none, 60, 59.9, 60, .post),
            (.none, .nan, 0, 60, .pre), (.none, .nan, 0.4, 60, .pre), (.none, .nan, 30, 60, .mid),
            (.none, .nan, 59.8, 60, .post), (.none, .nan, 0, .nan, .mid), (.none, .nan, .nan, 60, .mid),
            (.none, 0, 0, .nan, .pre),
        ]
    )
    func rolls(_ cue: InterstitialFacts.Cue, _ time: Double, _ position: Double, _ duration: Double, _ roll: AdRoll) {
        let content = InterstitialFacts.Content(position: position, duration: duration)
        #expect(InterstitialFacts(identifier: "e", cue: cue, time: time, content: content).roll == roll)
    }

    @Test("An event that follows another without a gap is another break")
    func backToBack() {
        var stage = Stage()
        stage.see(
            .interstitialEvent(event),
            .interstitialEvent(event),
            .interstitialEvent(InterstitialFacts(identifier: "break-2", roll: .mid))
        )
        #expect(stage.story == ["AdBreakBegin@0", "AdBreakFinish@0", "AdBreakBegin@0"])
        #expect(stage.signals.last?.status.roll == .mid)
    }
}
