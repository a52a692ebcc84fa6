import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentAds

@Suite("Ads in the chain")
struct AdChainTests {
    private func ad(
        _ text: String = VAST.inLine(skip: "00:00:05", events: VAST.allEvents, extra: "<Advertiser>Acme</Advertiser>")
    ) throws -> ResolvedAd {
        let response = try VASTResponse(parsing: VAST.document(text))
        return ResolvedAd(ad: try #require(response.ads.first), wrappers: [], version: response.version)
    }

    /// An instrument with a content tracker, an ads tracker and what arrives.
    private struct Stage {
        let clock = VirtualClock()
        let backend = CollectingBackend()
        let instrument: Instrument
        let content: TrackerID
        let ads = AdsTracker()

        init() {
            instrument = Instrument(
                hub: AdsHub(),
                metricalc: MultiplexMetricalc([CoreMetricalc(), AdMetricalc()]),
                backends: [backend],
                clock: clock,
                deliveryClock: SystemClock()
            )
            content = instrument.add(PlayerTracker(ScriptedPlayer()))
            instrument.add(ads, adsOf: content)
            instrument.ready()
        }

        func samples() async -> [Sample] {
            _ = await instrument.queue.flush(timeout: .seconds(300))
            return backend.samples
        }
    }

    private func names(_ samples: [Sample]) -> [String] {
        samples.compactMap {
            if case .event(let event) = $0, event.action.description.hasPrefix("Ad") {
                event.action.description
            } else {
                nil
            }
        }
    }

    @Test("An ad whose end was missed is ended by the next one; an ad without a first frame calls nobody")
    func unseen() async throws {
        let stage = Stage()
        let (ad, media) = (try ad(), try ad().linear?.mediaFile(for: MediaProfile()))
        stage.ads.beginBreak(.mid, requested: 3)
        // The first ad is never shown.
        var beacons = stage.ads.begin(ad, media: media)
        stage.clock.advance(by: .milliseconds(300))
        beacons += stage.ads.begin(ad, media: media) + stage.ads.handle(.started)
        stage.clock.advance(by: .seconds(5))
        // The second ad's end was missed, and the third one ends without a frame.
        beacons += stage.ads.begin(ad, media: media) + stage.ads.handle(.moved(to: 9)) + stage.ads.handle(.ended)
        beacons += stage.ads.handle(.started) + stage.ads.handle(.viewability(.viewable)) + stage.ads.handle(.clicked)
        stage.ads.endBreak()
        let samples = await stage.samples()
        #expect(
            names(samples) == [
                "AdBreakBegin", "AdBegin", "AdFinish", "AdBreakFinish",
            ]
        )
        let kinds = beacons.map(\.kind.name)
        for name in ["impression", "start", "closeLinear"] { #expect(kinds.count { $0 == name } == 1, "\(name)") }
        #expect(!kinds.contains("complete") && !kinds.contains("midpoint") && !kinds.contains("clickTracking"))
        let metrics = samples.compactMap { if case .metric(let metric) = $0 { metric } else { nil } }
        #expect(metrics.filter { $0.name == .numAds }.count == 1)
        #expect(metrics.first { $0.name == .adStartTime }?.value == .int(300))
        #expect(metrics.first { $0.name == .adTime }?.value == .int(5000))
        #expect(metrics.first { $0.name == .adFillRate }?.value == .double(1.0 / 3))
    }

    @Test("A played ad becomes the actions of the data model, with the ad's attributes")
    func played() async throws {
        let stage = Stage()
        let ad = try ad()
        stage.ads.beginBreak(.mid, requested: 2)
        stage.clock.advance(by: .milliseconds(300))
        var beacons = stage.ads.begin(ad, media: ad.linear?.mediaFile(for: MediaProfile()))
        for event in [.started, .moved(to: 6_000_000_000), .paused, .resumed, .buffering(true)] as [AdPlaybackEvent] {
            beacons += stage.ads.handle(event)
        }
        stage.clock.advance(by: .seconds(20))
        for event in [.buffering(false), .clicked, .moved(to: 16_000_000_000), .ended] as [AdPlaybackEvent] {
            beacons += stage.ads.handle(event)
        }
        stage.ads.endBreak()
        let samples = await stage.samples()
        #expect(
            names(samples) == [
                "AdBreakBegin", "AdBegin", "AdFirstQuartile", "AdPauseBegin", "AdPauseFinish", "AdBufferBegin",
                "AdBufferFinish", "AdClick",
                "AdSecondQuartile", "AdThirdQuartile", "AdFinish", "AdBreakFinish",
            ]
        )
        let begin = try #require(
            samples.compactMap { if case .event(let event) = $0, event.action == .adBegin { event } else { nil } }.first
        )
        #expect(begin[.adId] == "a" && begin[.adTitle] == "Title a" && begin[.adSystem] == "test")
        #expect(begin[.adAdvertiserName] == "Acme" && begin[.adCreativeId] == "c-a" && begin[.adRoll] == .mid)
        #expect(begin[.adDuration] == .seconds(20) && begin[.adBitrate] == 2_400_000)
        #expect(begin[.adResolutionWidth] == 1280 && begin[.adResolutionHeight] == 720)
        #expect(begin[.inAdBlock] == true && begin[.countAds] == 1)
        #expect(beacons.map(\.kind.name).prefix(3) == ["loaded", "impression", "creativeView"])
        #expect(beacons.last?.kind == .event(.complete))
        let metrics = samples.compactMap { if case .metric(let metric) = $0 { metric } else { nil } }.filter {
            $0.name.spelling.contains("Ad")
        }
        let values = Dictionary(metrics.map { ($0.name.spelling, $0.value.description) }) { first, _ in first }
        #expect(
            values == [
                "NumAdBreaks": "1", "AdStartTime": "300", "NumAds": "1", "AdRebufferTime": "20000", "AdTime": "20000",
                "AdFillRate": "0.5",
            ]
        )
    }

    @Test("A skipped ad reports AdSkip, then AdFinish")
    func skipped() async throws {
        let stage = Stage()
        stage.ads.beginBreak(.pre, requested: 1)
        _ = stage.ads.begin(try ad(), media: nil)
        for event in [.started, .skipped, .moved(to: 7_000_000_000), .skipped, .moved(to: 9_000_000_000)]
            as [AdPlaybackEvent]
        {
            _ = stage.ads.handle(event)
        }
        stage.ads.endBreak()
        #expect(
            names(await stage.samples()) == [
                "AdBreakBegin", "AdBegin", "AdFirstQuartile", "AdSkip", "AdFinish", "AdBreakFinish",
            ]
        )
    }

    @Test("The end of a break closes an ad that is open, and no ad that is over", arguments: [true, false])
    func endOfBreak(isOver: Bool) async throws {
        let stage = Stage()
        stage.ads.beginBreak(.pre, requested: 1)
        _ = stage.ads.begin(try ad(), media: nil)
        _ = stage.ads.handle(.started)
        if isOver { _ = stage.ads.handle(.ended) }
        #expect(stage.ads.endBreak().map(\.kind) == (isOver ? [] : [.event(.closeLinear)]))
        #expect(names(await stage.samples()).filter { $0 == "AdFinish" }.count == 1)
    }

    @Test("The metric of errors has the code of a player that knows no VAST", arguments: ["1005", "timedOut"])
    func foreignCodes(code: String) {
        var metricalc = AdMetricalc()
        var event = Event(.adError, tracker: TrackerID(0), time: SystemClock().timestamp)
        event[.errorCode] = code
        var metrics: [Metric] = []
        metricalc.process(event, into: &metrics)
        #expect(metrics.map { $0.attributes[.adErrorCode] } == [Int(code)])
        #expect(metrics.map { $0.attributes[.errorCode] } == [Int(code) == nil ? code : nil])
    }

    @Test("A failed ad reports AdError with its code, and the metric counts by code")
    func failed() async throws {
        let stage = Stage()
        stage.ads.beginBreak(.pre, requested: 2)
        let beacons =
            stage.ads.begin(try ad(), media: nil) + stage.ads.handle(.failed(.fileTimeOut))
            + stage.ads.handle(.failed(.fileTimeOut))
        #expect(beacons.map(\.kind) == [.event(.loaded), .error(.fileTimeOut)])
        stage.ads.fail(AdFailure(.noAds, "no ad", urls: []))
        stage.ads.endBreak()
        let samples = await stage.samples()
        #expect(names(samples) == ["AdBreakBegin", "AdError", "AdError", "AdBreakFinish"])
        let codes = samples.compactMap { sample -> Int? in
            if case .metric(let metric) = sample, metric.name == .numAdErrors {
                metric.attributes[.adErrorCode]
            } else {
                nil
            }
        }
        #expect(codes == [402, 303])
        let rate = samples.compactMap {
            if case .metric(let metric) = $0, metric.name == .adFillRate { metric.value } else { nil }
        }
        #expect(rate == [.double(0)])
    }

    @Test("A person who leaves during an ad counts as an exit")
    func exits() async throws {
        let stage = Stage()
        stage.instrument.emit(.streamLoad, from: stage.content)
        stage.instrument.emit(.start, from: stage.content)
        stage.ads.beginBreak(.mid, requested: 1)
        _ = stage.ads.begin(try ad(), media: nil)
        _ = stage.ads.handle(.started)
        stage.instrument.emit(.stop, from: stage.content)
        let exits = await stage.samples().filter {
            if case .metric(let metric) = $0 { metric.name == .adExits } else { false }
        }
        #expect(exits.count == 1)
    }

    @Test("A signal of the stream becomes an event")
    func signal() async throws {
        let stage = Stage()
        var signal = AdSignal(.cueOut, .breakBegin)
        (signal.id, signal.duration) = ("x", 30_000_000_000)
        stage.ads.report(signal)
        let event = await stage.samples().compactMap {
            if case .event(let event) = $0, event.action == .adSignal { event } else { nil }
        }.first
        #expect(
            event?[.adSignalKind] == "breakBegin" && event?[.adSignalSource] == "EXT-X-CUE-OUT"
                && event?[.adSignalId] == "x"
        )
        #expect(event?[.adSignalDuration] == .seconds(30))
    }

    @Test("The metricalc keeps the contract of metricalcs")
    func contract() throws {
        try MetricalcContract.check { AdMetricalc() }
    }

    @Test("The tracker keeps the contract of trackers")
    func trackerContract() async throws {
        try await TrackerContract.check { AdsTracker() }
    }
}
