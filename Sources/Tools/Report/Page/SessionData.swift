internal import Instrument
internal import InstrumentQuality
internal import InstrumentText

/// The numbers of the listed sessions, as JSON for the page's script. Contains no text from outside.
struct SessionData {
    /// `{"states":[…],"sessions":[…]}`; as it has only numbers and names of the program, no character needs to be
    /// escaped.
    let json: String

    /// The names of the states in the order in which timelines number them.
    private static let states = SessionState.allCases

    init(_ sessions: [ReportSession], limits: PageLimits) {
        let names = Self.states.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        let rows = sessions.map { Self.row(of: $0, limits) }.joined(separator: ",\n")
        json = "{\"states\":[\(names)],\"sessions\":[\n\(rows)\n]}"
    }

    /// Sort keys, length and timeline of a session.
    private static func row(of session: ReportSession, _ limits: PageLimits) -> String {
        let keys = [
            String(session.begin), number(session.values[Measure.startTime.position]), String(session.stallCount),
            number(session.values[Measure.rebufferTime.position]),
            number(session.values[Measure.rebufferRatio.position]),
            number(session.values[Measure.playTime.position]), number(session.values[Measure.bitrate.position]),
        ]
        let timeline = session.timeline.simplified(to: limits.numbers)
        let phases = timeline.phases.map { "\(number(of: $0.state)),\($0.length)" }.joined(separator: ",")
        let parts = [
            "\"k\":[\(keys.joined(separator: ","))]", "\"l\":\(session.length)", "\"p\":[\(phases)]",
            points("b", timeline.bitrates.map { Timeline.Point(time: $0.time, value: $0.value / 1000) }),
            points("f", timeline.buffers), points("d", timeline.latencies), requests(timeline.requests),
            timeline.isSimplified ? "\"s\":1" : "",
        ]
        return "{" + parts.filter { !$0.isEmpty }.joined(separator: ",") + "}"
    }

    private static func number(of state: SessionState) -> Int { states.firstIndex(of: state) ?? 0 }

    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "null" }
        let text = value.fixed(digits: 3)
        return text.hasSuffix(".000") ? String(text.dropLast(4)) : text
    }

    private static func points(_ name: String, _ points: [Timeline.Point]) -> String {
        if points.isEmpty { return "" }
        return "\"\(name)\":[" + points.map { "\($0.time),\($0.value)" }.joined(separator: ",") + "]"
    }

    private static func requests(_ requests: [Timeline.Request]) -> String {
        if requests.isEmpty { return "" }
        let rows = requests.map { "\($0.time),\($0.length ?? -1),\($0.count),\($0.failures)" }
        return "\"r\":[" + rows.joined(separator: ",") + "]"
    }
}

extension Timeline {
    /// The timeline with at most about `count` numbers: short states join their neighbours, and points and requests are
    /// merged.
    func simplified(to count: Int) -> Timeline {
        var timeline = self
        let (phaseLimit, pointLimit, requestLimit) = (max(3, count / 5), max(2, count / 12), max(2, count / 16))
        if timeline.phases.count > phaseLimit {
            timeline.phases = Self.join(timeline.phases, to: phaseLimit)
            timeline.isSimplified = true
        }
        for path in [\Timeline.bitrates, \.buffers, \.latencies] where timeline[keyPath: path].count > pointLimit {
            timeline[keyPath: path] = Self.thin(timeline[keyPath: path], to: pointLimit)
            timeline.isSimplified = true
        }
        if timeline.requests.count > requestLimit {
            timeline.requests = Self.merge(timeline.requests, to: requestLimit)
            timeline.isSimplified = true
        }
        return timeline
    }

    /// Gives the time of the shortest phases to the phases before them.
    private static func join(_ phases: [Phase], to limit: Int) -> [Phase] {
        let kept = Set(phases.indices.sorted { phases[$0].length > phases[$1].length }.prefix(limit))
        var joined: [Phase] = []
        for (index, phase) in phases.enumerated() {
            if let last = joined.last, !kept.contains(index) || last.state == phase.state {
                joined[joined.count - 1].length += phase.length
            } else {
                joined.append(phase)
            }
        }
        return joined
    }

    private static func thin(_ points: [Point], to limit: Int) -> [Point] {
        (0..<limit).map { points[$0 * (points.count - 1) / max(1, limit - 1)] }
    }

    private static func merge(_ requests: [Request], to limit: Int) -> [Request] {
        let size = (requests.count + limit - 1) / limit
        return stride(from: 0, to: requests.count, by: size).map { start in
            let group = requests[start..<min(requests.count, start + size)]
            return Request(
                time: requests[start].time,
                length: nil,
                count: group.reduce(0) { $0.saturatingAdd($1.count) },
                failures: group.reduce(0) { $0.saturatingAdd($1.failures) }
            )
        }
    }
}
