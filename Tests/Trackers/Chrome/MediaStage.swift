import Instrument

@testable import InstrumentChrome

/// A media element's model at instants in seconds.
struct MediaStage {
    var model = MediaModel()
    private(set) var signals: [PlayerSignal] = []
    var figures = MediaFigures()

    var actions: [Action] { signals.map(\.action) }

    init() {
        (figures.position, figures.duration, figures.rate) = (0, 60, 1)
        (figures.volume, figures.isMuted, figures.isPaused) = (1, false, true)
    }

    static func instant(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64((seconds * 1000).rounded()) * 1_000_000)
    }

    /// Reports what happened at a second, `late` seconds after it.
    mutating func see(
        _ kind: MediaObservation.Kind,
        at second: Double,
        late: Double = 0,
        _ change: (inout MediaObservation) -> Void = { _ in }
    ) {
        var observation = MediaObservation(kind, number: 1, time: second * 1000)
        observation.figures = figures
        if kind == .loadstart || kind == .joined {
            observation.source = MediaSource(address: "blob:x", page: "https://a.example/watch?t=1", title: "Title")
        }
        change(&observation)
        figures = observation.figures
        let reported = Self.instant(second + late)
        signals += model.observe(observation, at: Self.instant(second), reported: reported)
    }

    /// Loads and plays from second 0 to a start at second 1.
    mutating func start() {
        see(.loadstart, at: 0) { $0.figures.isPaused = false }
        see(.moves, at: 1) { $0.framesPerSecond = 25 }
    }

    func time(of action: Action) -> Double? {
        signals.first { $0.action == action }?.instant.map { Double($0.nanoseconds) / 1e9 }
    }
}
