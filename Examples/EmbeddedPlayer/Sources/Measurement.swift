import Instrument
import Synchronization

/// The app's own events.
enum AppEvent: String, AnalyticsEvent {
    case opened = "AppOpened"
    case fullScreen = "FullScreen"
    var name: String { rawValue }
}

/// The metrics of the app's playbacks, for the overlay.
final class Figures: Sendable {
    private let values = Mutex<[MetricName: Int]>([:])

    func note(_ metric: Metric) {
        guard case .int(let number) = metric.value else { return }
        values.withLock { $0[metric.name] = number + (metric.name.kind == .counter ? $0[metric.name] ?? 0 : 0) }
    }

    func text(of status: PlayerStatus) -> String {
        let values = values.withLock { $0 }
        func seconds(_ duration: Duration?) -> String { duration.map { "\(Int($0 / .seconds(1))) s" } ?? "–" }
        let picture = status.resolutionWidth.map { "\($0) × \(status.resolutionHeight ?? 0)" } ?? "no picture"
        return """
            \(picture)  \(status.framesPerSecond ?? 0) Hz  \((status.bitrate ?? 0) / 1_000) kbit/s
            \(seconds(status.position)) of \(seconds(status.duration))
            start \(values[.startTime] ?? 0) ms, \(values[.numRebuffers] ?? 0) stalls, \(values[.rebufferTime] ?? 0) ms
            """
    }
}

/// The core metrics, shown to `figures` on their way to the queue.
struct ShowingMetricalc: Metricalc {
    let figures: Figures
    var core = CoreMetricalc()

    mutating func process(_ event: Event, into metrics: inout [Metric]) {
        let count = metrics.count
        core.process(event, into: &metrics)
        metrics[count...].forEach(figures.note)
    }

    mutating func forget(_ tracker: TrackerID) { core.forget(tracker) }
}
