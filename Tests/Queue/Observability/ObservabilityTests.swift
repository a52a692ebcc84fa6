import CoreMetrics
import Instrument
import InstrumentObservability
import InstrumentTestKit
import Logging
import MetricsTestKit
import Testing

/// Keeps log lines.
private struct KeepingHandler: LogHandler {
    struct Line: Sendable {
        let level: Logger.Level
        let text: String
        let metadata: Logger.Metadata
    }

    let lines: Lock<[Line]>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = Line(level: event.level, text: "\(event.message)", metadata: event.metadata ?? [:])
        lines.withLock { $0.append(line) }
    }
}

@Suite("Logging and metrics")
struct ObservabilityTests {
    private func sample() -> Sample {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        return .event(Event(.ping, tracker: TrackerID(0), time: time))
    }

    @Test("A diagnostic becomes a log line with its level, its text and its parts")
    func logging() throws {
        let lines = Lock<[KeepingHandler.Line]>([])
        let logger = Logger(label: "test") { _ in KeepingHandler(lines: lines) }
        logger.log(Diagnostic.dropped("sift", count: 3, .bytes))
        logger.log(Diagnostic.retrying("sift", after: .seconds(2), reason: "HTTP 503"))
        logger.log(Diagnostic.rejected(.start, TrackerID(4), .alreadyDone))
        let kept = lines.withLock { $0 }
        #expect(kept.map(\.level) == [.error, .notice, .debug])
        #expect(kept[0].text == "dropped 3 samples of backend sift: bytes")
        let metadata = kept.map { $0.metadata.mapValues { "\($0)" } }
        #expect(metadata[0] == ["kind": "dropped", "backend": "sift", "count": "3", "reason": "bytes"])
        #expect(metadata[2] == ["kind": "rejected", "tracker": "4", "action": "Start", "reason": "alreadyDone"])
    }

    @Test("Unused backends and ads of unknown content are warnings with metadata")
    func warnings() throws {
        let lines = Lock<[KeepingHandler.Line]>([])
        let logger = Logger(label: "test") { _ in KeepingHandler(lines: lines) }
        logger.log(Diagnostic.duplicateBackend("sift"))
        logger.log(Diagnostic.unknownContent(TrackerID(7), of: TrackerID(1)))
        let kept = lines.withLock { $0 }
        #expect(kept.map(\.level) == [.warning, .warning])
        let metadata = kept.map { $0.metadata.mapValues { "\($0)" } }
        #expect(metadata[0] == ["kind": "duplicateBackend", "backend": "sift"])
        #expect(metadata[1] == ["kind": "unknownContent", "tracker": "1", "content": "7"])
    }

    @Test("Ledgers become gauges and counters that only grow; diagnostics are counted by kind")
    func metrics() async throws {
        let test = TestMetrics()
        let metrics = QueueMetrics(factory: test)
        let backend = CollectingBackend("sift", script: [.refused(reason: "no")])
        let queue = BatchQueue(
            store: InMemoryStore(limits: QueueLimits(maxCount: 3)),
            backends: [backend],
            clock: VirtualClock(),
            report: { metrics.count($0) }
        )
        queue.append([sample()])
        #expect(await queue.flush(timeout: .seconds(1800)))
        metrics.record(queue)
        queue.append((0..<5).map { _ in sample() })
        metrics.record(queue)
        metrics.record(queue)
        let emitted = try test.expectCounter(
            "instrument_queue_samples_total",
            [("backend", "sift"), ("state", "emitted")]
        )
        #expect(emitted.totalValue == 6)
        let dropped = try test.expectCounter(
            "instrument_queue_dropped_total",
            [("backend", "sift"), ("reason", "count")]
        )
        #expect(dropped.totalValue == 2)
        let queued = try test.expectGauge("instrument_queue_samples", [("backend", "sift"), ("state", "queued")])
        #expect(queued.lastValue == 3)
        let dead = try test.expectCounter(
            "instrument_diagnostics_total",
            [("kind", "deadLetter"), ("backend", "sift")]
        )
        #expect(dead.totalValue == 1)
    }
}
