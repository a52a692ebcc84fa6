import Instrument

extension Action {
    static let temperatureChange = Action("TemperatureChange")
}

extension AttributeKey where Value == Double {
    static var temperature: Self { "temperature" }
}

/// Something to watch: calls back when its value changes, on any thread.
final class Thermometer: Sendable {
    private let observer: @Sendable (Double) -> Void
    init(_ observer: @escaping @Sendable (Double) -> Void) { self.observer = observer }
    func measure(_ value: Double) { observer(value) }
}

/// A tracker: captures events from `begin` to `end`, and declares the fields that it collects. The instrument sends no
/// others.
///
/// A player needs no tracker of this kind: conform to `Player`, and use `PlayerTracker`.
final class TemperatureTracker: Tracker {
    let target: String? = "thermometer"
    let declaredFields: PrivacyCatalogue = [
        FieldDeclaration(.temperature, "Temperature of the device in °C", .performanceData)
    ]
    private let context = State<TrackerContext?>(nil)
    private let latest = State(20.0)

    func begin(in context: TrackerContext) {
        self.context.value = context
        // A getter gives every event of the tracker its current value.
        context.register(.temperature) { [latest] in latest.value }
        context.emit(.trackerInit)
    }

    /// Called by the thermometer.
    func temperature(is value: Double) {
        latest.value = value
        context.value?.emit(.temperatureChange)
    }

    /// Ends the capture: the tracker was removed, or the instrument shut down.
    func end() { context.value = nil }
}

struct Printer: Backend {
    let name: BackendName = "printer"

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for case .event(let event) in batch.records.map(\.sample) {
            print("\(event.action) \(event[.temperature] ?? 0) °C")
        }
        return .acknowledged
    }
}

@main
struct Example {
    static func main() async {
        let instrument = Instrument(backends: [Printer()])
        let tracker = TemperatureTracker()
        instrument.add(tracker)
        let thermometer = Thermometer { tracker.temperature(is: $0) }
        for value in [21.5, 24.0, 35.5] { thermometer.measure(value) }
        await instrument.shutdown(timeout: .seconds(5))
    }
}
