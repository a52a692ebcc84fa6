import Instrument
import InstrumentTestKit
import Testing

@Suite("Default components", .timeLimit(.minutes(30)))
struct DefaultComponentsTests {
    private static let actions: [Action] = [.mediaRequest, .streamLoad, .start, .start, .end]

    private func run(_ make: (CollectingBackend, VirtualClock) -> Instrument) async -> [Sample] {
        let (backend, clock) = (CollectingBackend(), VirtualClock())
        let instrument = make(backend, clock)
        let tracker = instrument.add(PlainTracker())
        for action in Self.actions {
            instrument.emit(action, from: tracker)
            clock.advance(by: .seconds(1))
        }
        await instrument.shutdown(timeout: .seconds(5))
        return backend.samples
    }

    @Test("An instrument has the core hub and the core metricalc by default")
    func defaults() async {
        let samples = await run {
            Instrument(
                backends: [$0],
                clock: $1,
                randomness: RandomSource(SeededGenerator(seed: 1)),
                onDiagnostic: { _ in }
            )
        }
        let expected = await run {
            Instrument(
                hub: CoreHub(),
                metricalc: CoreMetricalc(),
                backends: [$0],
                clock: $1,
                randomness: RandomSource(SeededGenerator(seed: 1)),
                onDiagnostic: { _ in }
            )
        }
        #expect(samples == expected)
        // The hub rejected the second start, and the metricalc computed the start time.
        #expect(samples.count { if case .event(let event) = $0 { event.action == .start } else { false } } == 1)
        #expect(samples.contains { if case .metric(let metric) = $0 { metric.name == .startTime } else { false } })
    }

    @Test("An instrument computes no metrics without a metricalc")
    func noMetrics() async {
        let samples = await run { Instrument(metricalc: nil, backends: [$0], clock: $1, onDiagnostic: { _ in }) }
        #expect(samples.count == 4)
    }
}
