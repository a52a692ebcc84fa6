import Instrument
import InstrumentQuality

extension MetricName {
    static let longestPlay = MetricName("LongestPlay", .gauge, unit: .milliseconds)
    static let menuOpens = MetricName("MenuOpens", .counter)
}

extension Action {
    static let menuOpen = Action("MenuOpen")
}

/// A metricalc: a value that turns events into metrics. It must be a pure function of the events, so that a replay
/// gives the same metrics.
struct LongestPlay: Metricalc {
    private var longest = TrackerTable<Int>()

    mutating func process(_ event: Event, into metrics: inout [Metric]) {
        // The hub adds `deltaPlayTime` to each event that follows uninterrupted playing.
        guard let played = event[milliseconds: .deltaPlayTime], played > longest[event.tracker, default: 0] else {
            return
        }
        longest[event.tracker, default: 0] = played
        metrics.append(Metric(.longestPlay, .int(played), of: event))
    }

    mutating func forget(_ tracker: TrackerID) { longest.remove(tracker) }
}

/// A definition: a function from a session to a value, which a dialect reads beside its other metrics.
let pausedShare = QualityMetric(
    "PausedShare",
    .ratio,
    .gauge,
    definition: "Time paused as a share of the session.",
    source: "this example"
) { session in
    Ratio(session.times.sum(.paused, .pausedBuffering), over: session.length).map { .ratio($0) }
}

struct Printer: Backend {
    let name: BackendName = "printer"

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for case .metric(let metric) in batch.records.map(\.sample) { print("\(metric.name) = \(metric.value)") }
        return .acknowledged
    }
}

final class ManualTracker: Tracker {
    let target: String? = "manual"
    func begin(in context: TrackerContext) { context.emit(.trackerInit) }
}

@main
struct Example {
    static func main() async {
        // Several metricalcs in one instrument: quality metrics without the bitrate, a custom one, and counts of a
        // custom action.
        let quality = FilterMetricalc(QualityMetricalc(), metrics: { $0.name != .averageBitrate })
        let renamed = RenamingMetricalc(quality, [.startTime: "VideoStartTime"])
        let menus = EventMetricalc([.count(.menuOpen, as: .menuOpens)])
        let clock = VirtualClock()
        let instrument = Instrument(
            metricalc: MultiplexMetricalc([renamed, LongestPlay(), menus]),
            backends: [Printer()],
            clock: clock
        )
        let tracker = instrument.add(ManualTracker())
        let script: [(Duration, Action)] = [
            (.zero, .mediaRequest), (.seconds(2), .start), (.seconds(20), .pauseBegin), (.seconds(5), .pauseFinish),
            (.seconds(1), .menuOpen), (.seconds(30), .end),
        ]
        for (pause, action) in script {
            clock.advance(by: pause)
            instrument.emit(action, from: tracker)
        }
        await instrument.shutdown(timeout: .seconds(5))
        readSession()
    }

    /// The same in a replay: a dialect with the custom definition reads a session.
    static func readSession() {
        let dialect = Dialect.instrument.adding([pausedShare])
        var reader = SessionReader()
        let steps: [(Int64, Action)] = [
            (0, .mediaRequest), (2, .start), (22, .pauseBegin), (27, .pauseFinish), (57, .end),
        ]
        for (second, action) in steps {
            let time = Timestamp(
                instant: MonotonicInstant(nanoseconds: second * 1_000_000_000),
                wallTime: WallTime(milliseconds: second * 1000)
            )
            for session in reader.observe(Event(action, tracker: TrackerID(0), time: time)).closed {
                guard let share = pausedShare.value(of: session)?.double else { continue }
                print("\(dialect.metrics.count) metrics; PausedShare = \(share)")
            }
        }
    }
}
