import Instrument
import InstrumentQuality
import InstrumentTestKit
import Testing

@Suite("QualityMetricalc")
struct QualityMetricalcTests {
    private func metrics(_ events: [Event]) -> [Metric] {
        var metricalc = QualityMetricalc()
        var metrics: [Metric] = []
        for event in events { metricalc.process(event, into: &metrics) }
        return metrics
    }

    private func metrics(_ steps: [Step]) -> [Metric] {
        var viewing = Viewing()
        for (milliseconds, action, attributes) in steps { viewing.add(milliseconds, action, attributes) }
        return metrics(viewing.events)
    }

    @Test("QualityMetricalc keeps the promises of every metricalc", arguments: [1, 2, 3] as [UInt64])
    func contract(seed: UInt64) throws {
        try MetricalcContract.check(seed: seed) { QualityMetricalc() }
    }

    @Test("Core metrics equal those of the core metricalc in sessions without ads and seeks before the start")
    func core() {
        let names: Set<MetricName> = Set(MetricName.coreMetrics)
        for script in [Golden.check, Golden.eventful] {
            var viewing = Viewing()
            for (milliseconds, action, attributes) in script + script { viewing.add(milliseconds, action, attributes) }
            var core = CoreMetricalc()
            var expected: [Metric] = []
            for event in viewing.events { core.process(event, into: &expected) }
            let found = metrics(viewing.events).filter { names.contains($0.name) }
            // A pause in a stall, and a stall that the viewer leaves, count differently.
            let stalls: Set<MetricName> = script.count == Golden.check.count ? [] : [.rebufferTime, .numRebuffers]
            for name in names.subtracting(stalls) {
                #expect(found.filter { $0.name == name } == expected.filter { $0.name == name }, "\(name)")
            }
        }
    }

    @Test("Each metric is emitted with the event that makes it known")
    func moments() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (1000, .start, ["bitrate": 1_000_000]), (10_000, .bufferBegin, [:]),
            (2000, .bufferFinish, [:]), (1000, .seekBegin, [:]), (500, .seekFinish, [:]), (500, .ping, [:]),
            (1000, .end, [:]),
        ]
        var viewing = Viewing()
        for (milliseconds, action, attributes) in steps { viewing.add(milliseconds, action, attributes) }
        var metricalc = QualityMetricalc()
        let emitted = viewing.events.map { event in
            var metrics: [Metric] = []
            metricalc.process(event, into: &metrics)
            return metrics.map { "\($0.name) \($0.value)" }
        }
        #expect(
            emitted == [
                ["NumRequests 1"],
                ["StartTime 1000", "NumPlays 1", "ConcurrentPlays 1"],
                ["PlayTime 10000"],
                ["RebufferTime 2000", "NumRebuffers 1"],
                ["NumSeeks 1", "PlayTime 1000"],
                ["SeekTime 500"],
                [
                    "PlayTime 500", "WatchTime 14000", "TimeInQuality 11500", "RebufferRatio \(2000.0 / 13_500)",
                    "RebufferFrequency \(60_000.0 / 11_500)", "TimeBetweenRebuffers 11500", "AverageBitrate 1000000",
                    "ConcurrentPlays 1",
                ],
                [
                    "NumEnds 1", "PlayTime 1000", "WatchTime 1000", "TimeInQuality 1000",
                    "RebufferRatio \(2000.0 / 14_500)",
                    "RebufferFrequency \(60_000.0 / 12_500)", "TimeBetweenRebuffers 12500", "AverageBitrate 1000000",
                ],
            ]
        )
    }

    @Test("A session that was left before the start is reported when the next one of its tracker begins")
    func exitBeforeStart() {
        let steps: [Step] = [
            (0, .mediaRequest, [:]), (1000, .error, ["isFatal": true, "causedByUser": true]), (500, .mediaRequest, [:]),
        ]
        #expect(metrics(steps).map(\.name).filter { $0 == .exitBeforeStart }.count == 1)
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        var next = viewing.events[0]
        next[.playbackId] = "another"
        let found = metrics(viewing.events + [next])
        #expect(found.map(\.name) == [.numRequests, .exitBeforeStart, .numRequests])
        #expect(found.map { $0.attributes["playbackId"] } == ["device-id1", "device-id1", "another"])
    }

    @Test("A seek and a stall that never finished are reported with the end of the session")
    func openEnd() {
        let seek = metrics([(0, .mediaRequest, [:]), (10, .start, [:]), (1000, .seekBegin, [:]), (500, .stop, [:])])
        #expect(seek.filter { $0.name == .seekTime }.map(\.value) == [500])
        let stall = metrics([(0, .mediaRequest, [:]), (10, .start, [:]), (1000, .bufferBegin, [:]), (500, .stop, [:])])
        let names: Set<MetricName> = [.rebufferTime, .numRebuffers, .exitDuringRebuffer]
        #expect(
            stall.filter { names.contains($0.name) }.map { "\($0.name) \($0.value)" } == [
                "RebufferTime 500", "NumRebuffers 1", "ExitDuringRebuffer 1",
            ]
        )
    }

    @Test("A stall is one value once it is over, and grows with pings as long as it lasts")
    func stallValues() {
        let short: [Step] = [
            (0, .mediaRequest, [:]), (10, .start, [:]), (1000, .bufferBegin, [:]), (500, .qualityChangeDown, [:]),
            (500, .pauseBegin, [:]), (9000, .pauseFinish, [:]), (500, .bufferFinish, [:]),
        ]
        #expect(metrics(short).filter { $0.name == .rebufferTime }.map(\.value) == [1500])
        let long: [Step] = [
            (0, .mediaRequest, [:]), (10, .start, [:]), (1000, .bufferBegin, [:]), (29_000, .ping, [:]),
            (30_000, .ping, [:]), (500, .bufferFinish, [:]),
        ]
        #expect(metrics(long).filter { $0.name == .rebufferTime }.map(\.value) == [29_000, 30_000, 500])
        #expect(metrics(long).filter { $0.name == .numRebuffers }.map(\.value) == [1])
        let sought: [Step] = [
            (0, .mediaRequest, [:]), (10, .start, [:]), (1000, .bufferBegin, [:]), (400, .seekBegin, [:]),
            (600, .bufferFinish, [:]), (1, .seekFinish, [:]),
        ]
        let found = metrics(sought).filter { [.rebufferTime, .seekTime].contains($0.name) }
        #expect(found.map { "\($0.name) \($0.value)" } == ["RebufferTime 400", "SeekTime 601"])
    }

    @Test("ConcurrentPlays counts the started sessions of all trackers of the instrument")
    func concurrent() {
        var events: [Event] = []
        for (number, action) in [(0, Action.start), (1, .start), (2, .mediaRequest), (0, .ping), (1, .end), (0, .ping)]
        {
            let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
            var event = Event(action, tracker: TrackerID(number), time: time)
            event[.senderId] = "i-\(number)"
            events.append(event)
        }
        #expect(metrics(events).filter { $0.name == .concurrentPlays }.map(\.value) == [1, 2, 2, 1])
    }

    @Test("Metrics of a sampled session carry its weight")
    func weight() {
        let found = metrics([(0, .mediaRequest, ["sampleWeight": 10]), (10, .start, ["sampleWeight": 10])])
        #expect(found.count == 4)
        #expect(found.allSatisfy { $0.attributes["sampleWeight"] == 10 })
    }

    @Test("Live metrics have the names, kinds and units of the dialect")
    func names() {
        for name in MetricName.qualityMetrics {
            let metric = Dialect.instrument.metric(name.spelling)
            #expect(metric != nil, "\(name)")
            #expect(metric.map { $0.unit.description } == (name.unit == .count ? "" : name.unit.rawValue), "\(name)")
        }
    }
}
