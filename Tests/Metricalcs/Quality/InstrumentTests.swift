import Instrument
import InstrumentQuality
import InstrumentTestKit
import Testing

@Suite("Quality metrics in an instrument")
struct QualityInstrumentTests {
    private final class Watcher: Tracker {
        let target: String? = "test"
        func begin(in context: TrackerContext) {}
    }

    @Test("An ads tracker's events name the sender of their content, of several contents")
    func contentSender() async {
        let backend = CollectingBackend()
        let clock = VirtualClock()
        let instrument = Instrument(
            hub: AdsHub(),
            metricalc: QualityMetricalc(),
            backends: [backend],
            clock: clock,
            deliveryClock: SystemClock()
        )
        let first = instrument.add(Watcher())
        let second = instrument.add(Watcher())
        let ads = instrument.add(Watcher(), adsOf: first)
        let adsOfAds = instrument.add(Watcher(), adsOf: ads)
        let script: [(Int, Action, TrackerID)] = [
            (0, .mediaRequest, first), (100, .mediaRequest, second), (400, .adBreakBegin, ads), (0, .adBegin, ads),
            (1000, .start, second), (2000, .adBreakFinish, adsOfAds), (500, .start, first), (100, .end, first),
            (0, .end, second),
        ]
        for (milliseconds, action, tracker) in script {
            clock.advance(by: .milliseconds(milliseconds))
            instrument.emit(action, from: tracker)
        }
        await instrument.shutdown(timeout: .seconds(600))
        let senders = Set(backend.events.filter { $0[.isAdsTracker] == true }.map { $0[.contentSenderId] })
        let sender = backend.events.first { $0.tracker == first }?[.senderId]
        #expect(sender != nil && senders == [sender])
        #expect(backend.events.filter { $0[.isAdsTracker] != true }.allSatisfy { $0[.contentSenderId] == nil })
        let times = backend.metrics.filter { [.startTime, .prerollTime].contains($0.name) }
        // First: 500 ms of joining, 3000 ms of ads, 500 ms of joining; second: 1400 ms.
        #expect(
            times.map { "\($0.tracker) \($0.name) \($0.value)" } == [
                "1 StartTime 1400", "0 StartTime 1000", "0 PrerollTime 3000",
            ]
        )
    }

    @Test("An instrument records the sampled sessions whole, with their weight, and says that others are not sampled")
    func sampling() async {
        let backend = CollectingBackend()
        let settings = SamplingSettings(SessionSampling(oneIn: 2))
        let instrument = Instrument(
            hub: SamplingHub(CoreHub(), settings),
            metricalc: MultiplexMetricalc([
                QualityMetricalc(),
                CarryingMetricalc(EventMetricalc([.count(.end, as: MetricName("Ends", .counter))]), ["sampleWeight"]),
            ]),
            backends: [backend],
            clock: VirtualClock(),
            deliveryClock: SystemClock(),
            onDiagnostic: { _ in }
        )
        var accepted = 0
        for _ in 0..<200 {
            let tracker = instrument.add(Watcher())
            let results = [Action.mediaRequest, .streamLoad, .start, .end].map { instrument.emit($0, from: tracker) }
            #expect(Set(results).count == 1, "half of a session was recorded")
            if results[0] == .rejected(.notSampled) { continue }
            accepted += 1
        }
        await instrument.shutdown(timeout: .seconds(600))
        #expect(accepted > 60 && accepted < 140)
        #expect(backend.events.count == accepted * 4)
        #expect(backend.events.allSatisfy { $0[.sampleWeight] == 2 })
        #expect(!backend.metrics.isEmpty)
        #expect(backend.metrics.allSatisfy { $0.attributes["sampleWeight"] == 2 })
        #expect(Set(backend.metrics.map { $0.attributes["playbackId"] }).count == accepted)
    }
}
