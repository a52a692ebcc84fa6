import Instrument

/// A backend: a name and a delivery method. The queue buffers samples, forms batches and retries.
struct Printer: Backend {
    let name: BackendName = "printer"

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for record in batch.records {
            switch record.sample {
            case .event(let event): print("\(record.sequence) \(event.action)")
            case .metric(let metric): print("\(record.sequence) \(metric.name) = \(metric.value)")
            }
        }
        return .acknowledged
    }
}

/// The smallest tracker: other code calls its instrument's `emit`.
final class ManualTracker: Tracker {
    let target: String? = "manual"
    func begin(in context: TrackerContext) { context.emit(.trackerInit) }
}

@main
struct Example {
    static func main() async {
        let instrument = Instrument(backends: [Printer()])
        let tracker = instrument.add(ManualTracker())
        for action in [Action.mediaRequest, .streamLoad, .start, .end] { instrument.emit(action, from: tracker) }
        await instrument.shutdown(timeout: .seconds(5))
    }
}
