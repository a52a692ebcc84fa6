import Instrument
import InstrumentQuality
import InstrumentTestKit

/// Random sessions that a real chain records: events of the core hub, with the metrics that were computed live.
enum LiveSessions {
    /// Plays sessions of several trackers at once, and returns the samples of the backends.
    ///
    /// - Parameters:
    ///   - seed: chooses the sessions.
    ///   - removing: whether trackers are removed in between, and others take their places.
    ///   - sampling: the sessions that are recorded.
    ///   - complete: whether every session ends with `End`, `Stop` or a fatal error.
    static func record(
        seed: UInt64,
        trackers: Int = 4,
        steps: Int = 600,
        complete: Bool = false,
        removing: Bool = false,
        sampling: SessionSampling = .all,
        to backends: [any Backend] = [],
        metricalc: some Metricalc
    ) async -> [SampleRecord] {
        var generator = SeededGenerator(seed: seed)
        let clock = VirtualClock()
        let collecting = CollectingBackend(policy: DeliveryPolicy(maxCount: 500, needsNetwork: false))
        let instrument = Instrument(
            hub: SamplingHub(CoreHub(), SamplingSettings(sampling)),
            metricalc: metricalc,
            backends: [collecting] + backends,
            clock: clock,
            onDiagnostic: { _ in }
        )
        var ids = (0..<trackers).map { _ in instrument.add(SilentTracker()) }
        instrument.ready()
        var playing = Set<TrackerID>()
        for _ in 0..<steps {
            clock.advance(by: .microseconds(Int.random(in: 0...4_000_000, using: &generator)))
            if removing, Int.random(in: 0..<12, using: &generator) == 0 {
                let place = Int.random(in: 0..<ids.count, using: &generator)
                instrument.remove(ids[place])
                playing.remove(ids[place])
                ids[place] = instrument.add(SilentTracker())
            }
            guard let id = ids.randomElement(using: &generator) else { continue }
            let action = Self.action(after: playing.contains(id), complete, &generator)
            instrument.emit(action, from: id, attributes: attributes(of: action, complete, &generator))
            if [.start, .mediaRequest, .streamLoad, .bufferBegin, .seekBegin].contains(action) { playing.insert(id) }
        }
        if complete { finish(ids, instrument, clock) }
        await instrument.shutdown(timeout: .seconds(600))
        return collecting.batches.flatMap(\.records)
    }

    /// Ends every session, by a stop or by a fatal error, before or after the start.
    private static func finish(_ ids: [TrackerID], _ instrument: Instrument, _ clock: VirtualClock) {
        let fatal: Attributes = ["isFatal": true, "errorCode": "notFound"]
        for (index, id) in ids.enumerated() {
            clock.advance(by: .milliseconds(700))
            instrument.emit(.start, from: id)
            clock.advance(by: .milliseconds(900))
            for action in [Action.bufferFinish, .seekFinish, .pauseFinish] { instrument.emit(action, from: id) }
            if index.isMultiple(of: 2) {
                instrument.emit(.stop, from: id)
            } else {
                instrument.emit(.error, from: id, attributes: fatal)
            }
        }
        let failing = instrument.add(SilentTracker())
        instrument.emit(.mediaRequest, from: failing)
        clock.advance(by: .milliseconds(1200))
        instrument.emit(.error, from: failing, attributes: fatal)
    }

    private static func action(after isPlaying: Bool, _ complete: Bool, _ generator: inout SeededGenerator) -> Action {
        let opening: [Action] = [.mediaRequest, .streamLoad, .start]
        let middle: [Action] = [
            .bufferBegin, .bufferFinish, .bufferFinish, .seekBegin, .seekFinish, .seekFinish, .pauseBegin, .pauseFinish,
            .pauseFinish, .qualityChangeUp, .qualityChangeDown, .ping, .start, .streamLoad, .error, .end, .stop,
        ]
        let actions = isPlaying ? middle + opening : opening
        return actions.randomElement(using: &generator) ?? .ping
    }

    private static func attributes(of action: Action, _ complete: Bool, _ generator: inout SeededGenerator)
        -> Attributes
    {
        var attributes: Attributes = [
            "bitrate": .int(Int.random(in: 1...8, using: &generator) * 312_345),
            "position": .int(Int.random(in: 0...100_000, using: &generator)),
            "resolutionHeight": .int([180, 360, 720].randomElement(using: &generator) ?? 180), "resolutionWidth": 640,
            "title": "Film “é”", "fps": 23.976023976023978,
        ]
        if Bool.random(using: &generator) {
            attributes["liveLatency"] = .int(Int.random(in: 1000...9000, using: &generator))
        }
        if Int.random(in: 0..<4, using: &generator) == 0 {
            attributes["playbackRate"] = .double([0.5, 1, 1.25].randomElement(using: &generator) ?? 1)
        }
        if action == .error {
            // A fatal error ends a session, but not the hub's playback, which then has a second session.
            attributes["isFatal"] = .bool(!complete && Int.random(in: 0..<4, using: &generator) == 0)
            attributes["errorDescription"] = "the server answered 404"
        }
        attributes["countRequests"] = .int(Int.random(in: 0...500, using: &generator))
        attributes["throughput"] = .int(Int.random(in: 1...9, using: &generator) * 1_000_003)
        return attributes
    }
}

private final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}
