import Instrument
import Testing

@testable import InstrumentChrome

@Suite("Ads of a page")
struct PageAdsTests {
    private static let ima = AdNews.Teller(source: .ima, number: 1)
    private static let plugin = AdNews.Teller(source: .contribAds, number: 2)
    private static let hls = AdNews.Teller(source: .hls, number: 3)

    /// What a model makes of news, one second apart.
    private func actions(_ news: [AdNews]) -> [Action] {
        var ads = PageAds()
        return news.enumerated().flatMap { second, news in
            ads.take(news, at: MediaStage.instant(Double(second))).map(\.action)
        }
    }

    private func news(_ kinds: [AdNews.Kind], by teller: AdNews.Teller, in place: AdNews.Place = .other) -> [AdNews] {
        kinds.map { AdNews($0, by: teller, in: place) }
    }

    @Test("One ad counts once when the SDK and the player that contains it report it, in either order")
    func twoTellers() {
        let whole: [Action] = [
            .adBreakBegin, .adBegin, .adFirstQuartile, .adSecondQuartile, .adThirdQuartile, .adFinish, .adBreakFinish,
        ]
        let pairs: [(AdNews.Kind, AdNews.Kind)] = [
            (.breakBegin, .breakBegin), (.start, .start), (.firstQuartile, .firstQuartile), (.complete, .complete),
            (.breakFinish, .breakFinish),
        ]
        for order in [[Self.ima, Self.plugin], [Self.plugin, Self.ima]] {
            let both = pairs.flatMap { news([$0.0], by: order[0]) + news([$0.1], by: order[1]) }
            #expect(actions(both) == whole)
        }
        // A plugin that opens the break, and knows no ads.
        let opened = news([.breakBegin], by: Self.plugin) + news([.start, .complete, .breakFinish], by: Self.ima)
        #expect(actions(opened + news([.breakFinish], by: Self.plugin)) == whole)
        // One failure, too.
        let failed = news([.error], by: Self.ima) + news([.error], by: Self.plugin)
        #expect(actions(failed) == [.adError])
    }

    @Test("Ads without a break open one, which ends with the last ad of its pod, and with an error")
    func impliedBreak() {
        var first = AdNews(.start, by: Self.ima, in: .other)
        (first.facts.isLast, first.facts.id) = (false, "1")
        var second = first
        (second.facts.isLast, second.facts.id) = (true, "2")
        let end = AdNews(.stop, by: Self.ima, in: .other)
        #expect(
            actions([first, end, second, end, end])
                == [.adBreakBegin, .adBegin, .adFinish, .adBegin, .adFinish, .adBreakFinish]
        )
        // An ad whose end is not reported, and a failure in the middle.
        var error = AdNews(.error, by: Self.ima, in: .other)
        error.failure.isFatal = true
        #expect(
            actions([first, second, error])
                == [.adBreakBegin, .adBegin, .adFinish, .adBegin, .adError, .adFinish, .adBreakFinish]
        )
        var ads = PageAds()
        _ = ads.take(first, at: MediaStage.instant(0))
        let outputs = ads.take(second, at: MediaStage.instant(1))
        #expect(outputs.map { $0.attributes[.adId] } == ["1", "2"])
    }

    @Test("The manager that shows the next ad takes the place of one that has gone")
    func twoManagers() {
        let other = AdNews.Teller(source: .ima, number: 9)
        let all = news([.breakBegin, .start], by: Self.ima) + news([.midpoint, .start, .complete], by: other)
        #expect(
            actions(all)
                == [
                    .adBreakBegin, .adBegin, .adFinish, .adBegin, .adFirstQuartile, .adSecondQuartile, .adThirdQuartile,
                ]
                + [.adFinish]
        )
    }

    @Test("Content is paused while an ad has its element, and its waits, errors and loads are those of the ad")
    func takenElement() {
        var stage = MediaStage()
        stage.start()
        stage.figures.position = 9
        stage.tell(.breakBegin, by: Self.hls, in: .element, at: 10)
        stage.tell(.start, by: Self.hls, in: .element, at: 10)
        stage.see(.emptied, at: 10)
        stage.see(.loadstart, at: 10.1) { $0.figures.position = 0 }
        stage.see(.moves, at: 11)
        stage.see(.stands, at: 12) { $0.figures.position = 1 }
        stage.see(.moves, at: 13)
        stage.see(.error, at: 14)
        stage.tell(.complete, by: Self.hls, in: .element, at: 14)
        stage.tell(.breakFinish, by: Self.hls, in: .element, at: 14)
        stage.see(.emptied, at: 14)
        stage.see(.loadstart, at: 14.1)
        stage.see(.moves, at: 15) { $0.figures.position = 10 }
        #expect(
            stage.actions.dropFirst(2) == [
                .adBreakBegin, .pauseBegin, .adBegin, .adBufferBegin, .adBufferFinish, .adFirstQuartile,
                .adSecondQuartile, .adThirdQuartile, .adFinish, .adBreakFinish, .pauseFinish,
            ]
        )
        #expect(stage.time(of: .adBegin) == 11 && stage.time(of: .pauseFinish) == 15)
        // Other content stops this one.
        stage.see(.emptied, at: 16)
        #expect(stage.actions.last == .stop)
    }

    @Test("A break that begins before the content has come back stops nothing", arguments: [true, false])
    func breakDuringReturn(takesElement: Bool) {
        var stage = MediaStage()
        stage.start()
        for second in [10.0, 15] {
            stage.tell(.breakBegin, by: Self.hls, in: .element, at: second)
            if second < 15 || takesElement {
                stage.see(.emptied, at: second)
                stage.see(.loadstart, at: second + 0.1)
            }
            stage.tell(.breakFinish, by: Self.hls, in: .element, at: second + 4)
            // Content whose return is under way may be attached once more.
            stage.see(.emptied, at: second + 4)
            stage.see(.loadstart, at: second + 4.1)
        }
        stage.see(.moves, at: 20) {
            $0.figures.position = 10
            $0.figures.isPaused = false
        }
        #expect(
            stage.actions.dropFirst(2) == [
                .adBreakBegin, .pauseBegin, .adBreakFinish, .adBreakBegin, .adBreakFinish, .pauseFinish,
            ]
        )
        stage.see(.emptied, at: 21)
        #expect(stage.actions.last == .stop)
    }

    @Test("An ad that cannot be loaded stops nothing, though its break is over when the element says that it is empty")
    func failedAd() {
        var stage = MediaStage()
        stage.start()
        stage.see(.state, at: 9) { $0.figures.position = 8 }
        stage.tell(.breakBegin, by: Self.hls, in: .element, at: 10)
        stage.tell(.start, by: Self.hls, in: .element, at: 10)
        stage.figures.position = 0
        stage.tell(.error, by: Self.hls, in: .element, at: 10)
        stage.tell(.breakFinish, by: Self.hls, in: .element, at: 10)
        stage.see(.emptied, at: 10)
        stage.see(.loadstart, at: 10.1)
        stage.see(.moves, at: 11) { $0.figures.position = 8 }
        let actions: [Action] = [.adBreakBegin, .adError, .pauseBegin, .pauseFinish]
        #expect(stage.actions.dropFirst(2).filter { $0 != .adBreakFinish } == actions[...])
        #expect(stage.actions.contains(.adBreakFinish) && stage.time(of: .pauseFinish) == 11)
    }

    @Test("Ads in the content's stream have its waits, and the stream's end behind them is that of the content")
    func stitchedAds() {
        var stage = MediaStage()
        stage.start()
        stage.tell(.start, by: Self.hls, in: .stream, at: 10)
        stage.see(.stands, at: 11)
        stage.see(.moves, at: 12)
        stage.see(.ended, at: 13) { $0.figures.isEnded = true }
        stage.tell(.breakFinish, by: Self.hls, in: .stream, at: 13)
        #expect(
            stage.actions.dropFirst(2) == [
                .adBreakBegin, .adBegin, .adBufferBegin, .adBufferFinish, .adFinish, .adBreakFinish, .end,
            ]
        )
    }

    @Test("Ads before the content begin its playback, and content that plays on, ends or is left ends its ads")
    func ends() {
        var stage = MediaStage()
        stage.see(.loadstart, at: 0)
        stage.tell(.start, by: Self.ima, at: 1)
        stage.see(.play, at: 2) { $0.figures.isPaused = false }
        stage.see(.moves, at: 3)
        #expect(stage.actions == [.streamLoad, .adBreakBegin, .adBegin, .adFinish, .adBreakFinish, .start])
        #expect(stage.time(of: .streamLoad) == 1)
        for (kind, action) in [(MediaObservation.Kind.ended, Action.end), (.left, .stop), (.emptied, .stop)] {
            var stage = MediaStage()
            stage.start()
            stage.tell(.start, by: Self.ima, at: 10)
            stage.see(kind, at: 11)
            #expect(stage.actions.dropFirst(4) == [.adFinish, .adBreakFinish, action])
        }
    }

    @Test("News of unknown kinds and sources, and invalid numbers, are ignored")
    func badNews() {
        #expect(AdNews(["s": "ima", "l": "other", "e": "unknown"]) == nil)
        #expect(AdNews(["s": "page", "l": "other", "e": "start"]) == nil)
        #expect(AdNews("start") == nil && AdNews(nil) == nil)
        let news = AdNews(["s": "ima", "l": "other", "e": "start", "du": -1, "kb": 1e300, "id": "", "of": 0, "ix": 3])
        #expect(news?.facts == AdFacts())
    }
}

extension MediaStage {
    /// Reports ads at a second.
    fileprivate mutating func tell(
        _ kind: AdNews.Kind,
        by teller: AdNews.Teller,
        in place: AdNews.Place = .other,
        at second: Double
    ) {
        see(.ad, at: second) { $0.news = AdNews(kind, by: teller, in: place) }
    }
}
