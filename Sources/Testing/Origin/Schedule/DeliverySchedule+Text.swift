internal import Instrument

extension DeliverySchedule {
    /// Reads a schedule: steps `BANDWIDTH [latency DURATION] [for DURATION]`, separated by commas, and an optional
    /// `repeat`.
    ///
    /// `4000k for 10s, 600k latency 80ms for 20s, repeat`. Bandwidths are bits per second (`64000`, `600k`, `2.5M`,
    /// `unlimited`; `0` is an outage), durations have a unit (`500ms`, `1.5s`, `2m`). A step without a latency has
    /// the latency of the previous step.
    /// - Throws: ``OriginSyntaxError``, which names the expected form.
    public init(_ text: String) throws(OriginSyntaxError) {
        var steps: [Step] = []
        var repeats = false
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            var reader = TextReader(part)
            if repeats { throw reader.error("'repeat' must be the last step") }
            if reader.take("repeat") {
                repeats = true
            } else {
                if let last = steps.last, last.duration == nil {
                    throw reader.error("a step without 'for DURATION' must be the last one")
                }
                steps.append(try Self.step(from: &reader, after: steps.last))
            }
            guard reader.isAtEnd else { throw reader.error("expected: BANDWIDTH [latency DURATION] [for DURATION]") }
        }
        if repeats, steps.allSatisfy({ $0.duration == .zero }) || steps.last?.duration == nil {
            throw OriginSyntaxError(message: "a schedule with 'repeat' needs 'for DURATION' in every step", text: text)
        }
        self.init(steps, repeats: repeats)
    }

    private static func step(from reader: inout TextReader, after last: Step?) throws(OriginSyntaxError) -> Step {
        var step = Step(try reader.bandwidth(), latency: last?.latency ?? .zero)
        if reader.take("latency") { step.latency = try reader.duration() }
        if reader.take("for") { step.duration = try reader.duration() }
        return step
    }
}

extension DeliverySchedule: CustomStringConvertible {
    /// The text that ``init(_:)-(String)`` reads.
    public var description: String {
        var latency = Duration.zero
        var parts = steps.map { step in
            var text = "\(step.bandwidth)"
            if step.latency != latency { text += " latency \(step.latency.scheduleText)" }
            latency = step.latency
            if let duration = step.duration { text += " for \(duration.scheduleText)" }
            return text
        }
        if repeats { parts.append("repeat") }
        return parts.joined(separator: ", ")
    }
}

extension Duration {
    /// Formats a duration in the largest unit that needs no fraction.
    var scheduleText: String {
        let nanoseconds = nanoseconds
        if nanoseconds % 1_000_000_000 == 0 { return "\(nanoseconds / 1_000_000_000)s" }
        if nanoseconds % 1_000_000 == 0 { return "\(nanoseconds / 1_000_000)ms" }
        return nanoseconds % 1_000 == 0 ? "\(nanoseconds / 1_000)us" : "\(nanoseconds)ns"
    }
}
