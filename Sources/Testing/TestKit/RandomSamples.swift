public import Instrument

/// Samples with everything that samples can hold, for round trips through encoders and stores.
public enum RandomSamples {
    /// An event or a metric with random names, times, texts and numbers of every kind, awkward ones among them.
    public static func sample(_ generator: inout SeededGenerator) -> Sample {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: .random(in: .min ... .max, using: &generator)),
            wallTime: WallTime(milliseconds: .random(in: -1 << 50...1 << 50, using: &generator))
        )
        let tracker = TrackerID(.random(in: 0...5, using: &generator))
        let attributes = attributes(&generator)
        if Bool.random(using: &generator) {
            return .event(Event(action(&generator), tracker: tracker, time: time, attributes: attributes))
        }
        let isWhole = Bool.random(using: &generator)
        let value: Metric.Value =
            isWhole ? .int(.random(in: .min ... .max, using: &generator)) : .double(double(&generator))
        let name = MetricName(text(&generator), .gauge, unit: .ratio)
        return .metric(Metric(name, value, tracker: tracker, time: time, attributes: attributes))
    }

    private static func action(_ generator: inout SeededGenerator) -> Action {
        let known = Action.playerActions + Action.adActions
        switch Int.random(in: 0...2, using: &generator) {
        case 0: return known[Int.random(in: 0..<known.count, using: &generator)]
        case 1: return Action(text(&generator))
        default: return Action(text(&generator), timeAttribute: AttributeName(text(&generator)))
        }
    }

    private static func attributes(_ generator: inout SeededGenerator) -> Attributes {
        let identifier = RandomSource(generator).identifier()
        var attributes: Attributes = ["position": 1, "streamId": .string(identifier)]
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            attributes[AttributeName(text(&generator))] = value(depth: 0, &generator)
        }
        return attributes
    }

    private static func value(depth: Int, _ generator: inout SeededGenerator) -> AttributeValue {
        let count = Int.random(in: 0...3, using: &generator)
        switch Int.random(in: 0..<(depth < 3 ? 6 : 4), using: &generator) {
        case 0: return .string(text(&generator))
        case 1: return .int([0, -1, .max, .min, 42][Int.random(in: 0..<5, using: &generator)])
        case 2: return .double(double(&generator))
        case 3: return .bool(.random(using: &generator))
        case 4: return .array((0..<count).map { _ in value(depth: depth + 1, &generator) })
        default:
            let members = (0..<count).map { _ in (text(&generator), value(depth: depth + 1, &generator)) }
            return .object(Dictionary(members) { first, _ in first })
        }
    }

    private static func double(_ generator: inout SeededGenerator) -> Double {
        let special = [
            0, -0.0, 1, 1e300, -1e-300, .leastNonzeroMagnitude, 0.1, 1e21, 123_456_789_012_345_680,
            .greatestFiniteMagnitude,
        ]
        if Bool.random(using: &generator) { return special[Int.random(in: 0..<special.count, using: &generator)] }
        let value = Double(bitPattern: generator.next())
        return value.isFinite ? value : 1.5
    }

    private static func text(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "\"", "\\", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "日本", "😀", "\u{2028}", "/", " ", "e\u{301}",
        ]
        return (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            pieces[Int.random(in: 0..<pieces.count, using: &generator)]
        }.joined()
    }
}
