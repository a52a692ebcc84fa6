internal import Instrument
internal import InstrumentProbe
internal import InstrumentTerminal
internal import InstrumentText

/// Adds up what a playback was like, from the samples that every backend gets.
final class Summary: Backend {
    private struct State {
        var startTime: Int?
        var playTime = 0
        var stalls = 0
        var stallTime = 0
        var rises = 0
        var falls = 0
        var samples = 0
    }

    let name: BackendName = "summary"
    /// The summary is of this run alone.
    let isEphemeral = true
    let policy = DeliveryPolicy(maxCount: 1000, maxAge: .seconds(1))
    private let state = Lock(State())

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        state.withLock { state in
            for record in batch.records { Self.count(record.sample, in: &state) }
        }
        return .acknowledged
    }

    /// Lines for people.
    func lines(outcome: ProbeOutcome?, source: MediaSource) -> [TerminalText] {
        let ending =
            switch outcome {
            case .ended: "played to its end"
            case .stopped: "stopped"
            case .failed(let error): "failed: \(error.message)"
            case nil: "not played"
            }
        return lines(headline: "\(source): \(ending)")
    }

    /// Lines for people, under a headline.
    func lines(headline: TerminalText) -> [TerminalText] {
        let state = state.withLock { $0 }
        guard state.startTime != nil || state.playTime > 0 else { return [headline] }
        // Of a playback that was joined late it is not known.
        let startTime = state.startTime.map { "\($0) ms" } ?? "unknown"
        return [
            headline,
            "  start time       \(startTime)",
            "  played           \(Self.seconds(state.playTime))",
            "  stalls           \(state.stalls)\(state.stalls > 0 ? ", \(Self.seconds(state.stallTime))" : "")",
            "  quality changes  \(state.rises) up, \(state.falls) down",
            "  samples          \(state.samples)",
        ]
    }

    private static func count(_ sample: Sample, in state: inout State) {
        state.samples += 1
        switch sample {
        case .event(let event) where event.action == .qualityChangeUp: state.rises += 1
        case .event(let event) where event.action == .qualityChangeDown: state.falls += 1
        case .event: break
        case .metric(let metric):
            guard case .int(let value) = metric.value else { return }
            switch metric.name {
            case .startTime: state.startTime = value
            case .playTime: state.playTime += value
            case .numRebuffers: state.stalls += value
            case .rebufferTime: state.stallTime += value
            default: break
            }
        }
    }

    private static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1000).\((milliseconds % 1000).padded(3)) s"
    }
}
