internal import Instrument

extension Dialect {
    /// 3GPP TS 26.247, quality metrics of DASH.
    public static let tgpp26247 = Dialect("3gpp26247", title: "3GPP TS 26.247", metrics: tgppMetrics)

    private static let source = "3GPP TS 26.247, clause 10.2"

    private static let tgppMetrics = [
        QualityMetric(
            "AvgThroughput",
            .bitsPerSecond,
            .gauge,
            definition: """
                `numbytes`, `activitytime` in ms, `t` (the beginning, ms since 1970) and `duration` in ms of all requests of the session. No value \
                unless the player reports each request (`RequestFinish`).
                """,
            source: source,
            counterpart: "Throughput",
            difference: "One mean over the time in which requests were active, instead of a distribution of requests."
        ) { session in
            guard session.network.activeTime > 0 else { return nil }
            return .record([
                "numbytes": .int(session.network.bytes), "activitytime": .int(session.network.activeTime),
                "t": .int(Int(clamping: session.begin.wallTime.milliseconds)), "duration": .int(session.length),
            ])
        },
        QualityMetric(
            "InitialPlayoutDelay",
            .milliseconds,
            .gauge,
            definition:
                "From the load (else the request) to the first frame. The load stands for the fetch of the first segment.",
            source: source,
            counterpart: "StartTime",
            difference:
                "Counts from the load instead of the request: 3GPP measures the network and the player, not the app before them."
        ) { session in
            guard let begin = session.startup.loaded ?? session.startup.requested,
                let started = session.startup.started, !session.startup.joinedLate
            else { return nil }
            return .integer(begin.milliseconds(to: started))
        },
        QualityMetric(
            "BufferLevel",
            .milliseconds,
            .distribution,
            definition: "`bufferLevel`, each value weighted by the time during which it was the latest.",
            source: source
        ) { $0.network.bufferLevel.isEmpty ? nil : .distribution($0.network.bufferLevel) },
        QualityMetric(
            "PlayList",
            .milliseconds,
            .gauge,
            definition: """
                The parts of the session in which the playhead moved: `start` (ms since 1970), `mstart` (position in ms), `duration` in ms, and \
                `stopreason` (`rebuffering`, `user`, `ad`, `end`, `failure`). No value unless the session records its states.
                """,
            source: source,
            counterpart: "PlayTime",
            difference: "A list instead of a sum."
        ) { $0.playList.map { .record($0) } },
        QualityMetric(
            "RepSwitchEvents",
            .count,
            .gauge,
            definition: """
                Changes of rendition: `t` (ms since 1970), `mt` (position in ms) and `to`. No value unless the session records its states.
                """,
            source: source,
            counterpart: "BitrateSwitchesUp",
            difference: "A list of all changes instead of two counts."
        ) { $0.switchEvents.map { .record($0) } },
        QualityMetric(
            "DeviceInformation",
            .count,
            .gauge,
            definition: "`videoWidth`, `videoHeight`, `screenWidth` and `screenHeight`, as far as known.",
            source: source
        ) { $0.deviceInformation.map { .record($0) } },
    ]
}

extension QualitySession {
    /// Milliseconds since 1970 of an instant of this session.
    fileprivate func wallTime(of instant: MonotonicInstant) -> AttributeValue {
        let elapsed = begin.instant.milliseconds(to: instant)
        return .int(Int(clamping: begin.wallTime.milliseconds.saturatingAdd(Int64(elapsed))))
    }

    fileprivate var playList: AttributeValue? {
        guard !intervals.isEmpty else { return nil }
        var entries: [AttributeValue] = []
        for (index, interval) in intervals.enumerated() where interval.state == .playing {
            var entry: [String: AttributeValue] = [
                "start": wallTime(of: interval.begin), "duration": .int(interval.milliseconds),
            ]
            if index < trace.positions.count, let position = trace.positions[index] { entry["mstart"] = .int(position) }
            let next = index + 1 < intervals.count ? intervals[index + 1].state : state
            if let reason = next.stopReason { entry["stopreason"] = .string(reason) }
            entries.append(.object(entry))
        }
        return .array(entries)
    }

    fileprivate var switchEvents: AttributeValue? {
        guard !intervals.isEmpty else { return nil }
        // The first rendition is no change.
        return .array(
            trace.switches.dropFirst().map { change in
                var entry: [String: AttributeValue] = [
                    "t": wallTime(of: change.instant), "to": .string(change.rendition),
                ]
                if let position = change.position { entry["mt"] = .int(position) }
                return .object(entry)
            }
        )
    }

    fileprivate var deviceInformation: AttributeValue? {
        var entry: [String: AttributeValue] = [:]
        entry["videoWidth"] = picture.size.map { .int($0.width) }
        entry["videoHeight"] = picture.size.map { .int($0.height) }
        entry["screenWidth"] = picture.display.map { .int($0.width) }
        entry["screenHeight"] = picture.display.map { .int($0.height) }
        return entry.isEmpty ? nil : .object(entry)
    }
}

extension SessionState {
    /// The reason for which the playhead stopped when this state followed `playing`.
    fileprivate var stopReason: String? {
        switch self {
        case .rebuffering, .joining: "rebuffering"
        case .paused, .pausedBuffering, .seeking, .stopped: "user"
        case .ad: "ad"
        case .ended: "end"
        case .failed: "failure"
        case .idle, .playing: nil
        }
    }
}
