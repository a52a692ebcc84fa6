public import Instrument

/// Samples with every kind of value at its limits, for round trips through encoders and stores.
///
/// Each value is in a separate event, under a descriptive name. ``RandomSamples`` mixes shapes at random; these
/// samples are always the same.
public enum AwkwardSamples {
    /// Events and metrics that a careless encoder or store would change.
    public static var all: [Sample] { events + metrics }

    /// Every type of attribute value, ordinary and extreme, by a description.
    public static var values: [(name: String, value: AttributeValue)] {
        integers + numbers + texts + collections + [("true", .bool(true)), ("false", .bool(false))]
    }

    private static var integers: [(name: String, value: AttributeValue)] {
        let edges = [7, 8, 15, 16, 24, 31, 32, 53, 62].flatMap { bits -> [Int] in
            let power = 1 << bits
            return [power - 1, power, power + 1, -power + 1, -power, -power - 1]
        }
        return ([0, 1, -1, 42, .max, .max - 1, .min, .min + 1] + edges).map { ("integer \($0)", .int($0)) }
    }

    private static var numbers: [(name: String, value: AttributeValue)] {
        let doubles: [Double] = [
            0, -0.0, 1, -1, 0.1, 1.0 / 3, .pi, 1e21, 1e300, -1e-300, 9_007_199_254_740_992, 9_007_199_254_740_994,
            123_456_789_012_345_680, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude,
            .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude / 3, 1.0.nextUp, 1.0.nextDown,
        ]
        return doubles.map { ("double \($0)", .double($0)) }
    }

    private static var texts: [(name: String, value: AttributeValue)] {
        let short: [(String, String)] = [
            ("empty text", ""), ("space", " "), ("NUL", "\u{0}"), ("text with NUL", "a\u{0}b"),
            ("text that ends with NUL", "ab\u{0}"), ("several NULs", "\u{0}\u{0}\u{0}"),
            ("control characters", "\u{1}\u{8}\u{1B}[2J\u{1F}\u{7F}\u{9F}"), ("line ends", "a\rb\nc\r\nd\te"),
            ("quotes", "\"'\\/`${}%s"), ("composed character", "\u{E9}\u{F1}\u{1E9B}\u{323}"),
            ("decomposed character", "e\u{301}n\u{303}\u{17F}\u{323}\u{307}"), ("ligature", "\u{FB01}"),
            ("beyond the basic plane", "\u{1F600}\u{20000}\u{10FFFF}"),
            ("joined emoji", "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪"), ("byte order mark", "\u{FEFF}a"), ("noncharacter", "\u{FFFE}\u{FFFF}"),
            ("line separators", "\u{2028}\u{2029}\u{85}"), ("right to left", "\u{202E}שלום\u{202C}"),
            ("combining characters alone", "\u{301}\u{302}\u{303}"), ("text that looks like a number", "1e5"),
            ("text that looks like null", "null"),
        ]
        let long = [127, 128, 255, 256, 4095, 4096, 9_999, 10_000, 10_001, 65_535, 65_536, 100_000].map { count in
            ("text of \(count) bytes", String(repeating: "x", count: count))
        }
        let wide = ("100,000 bytes of emoji", String(repeating: "😀", count: 25_000))
        return (short + long + [wide]).map { ($0.0, .string($0.1)) }
    }

    private static var collections: [(name: String, value: AttributeValue)] {
        let deep = (0..<40).reduce(AttributeValue.int(1)) { value, level in
            level.isMultiple(of: 2) ? .array([value]) : .object(["level": value])
        }
        let mixed: AttributeValue = ["", .int(.min), -0.0, true, [], [:], ["a": [["b": "\u{0}"]]]]
        return [
            ("empty array", []), ("array of an empty array", [[]]), ("array of nothing but empty ones", [[], [:], ""]),
            ("array of every type", mixed), ("array of equal elements", [1, 1, 1.0, true, "1"]),
            ("long array", .array((0..<2000).map { .int($0) })),
            ("empty object", [:]), ("object of an empty object", ["": [:]]),
            ("object with awkward names", ["\u{0}": 1, "a.b": 2, "😀": 3, " ": 4, "$": 5, "e\u{301}": 6]),
            (
                "object of every type",
                ["text": "x", "int": 1, "double": 1.0, "bool": false, "array": [], "object": [:]]
            ),
            ("large object", .object(Dictionary(uniqueKeysWithValues: (0..<500).map { ("key \($0)", .int($0)) }))),
            ("deep nesting", deep),
        ]
    }
}

extension AwkwardSamples {
    private static let ordinaryTime = time(1_000_000, 1_767_225_600_000)

    private static func time(_ nanoseconds: Int64, _ milliseconds: Int64) -> Timestamp {
        Timestamp(
            instant: MonotonicInstant(nanoseconds: nanoseconds),
            wallTime: WallTime(milliseconds: milliseconds)
        )
    }

    private static func event(
        _ action: Action = .ping,
        _ tracker: Int = 0,
        at time: Timestamp = ordinaryTime,
        _ attributes: Attributes = [:]
    ) -> Sample {
        .event(Event(action, tracker: TrackerID(tracker), time: time, attributes: attributes))
    }

    private static var events: [Sample] {
        let ofValues = values.map { event(.ping, 0, [AttributeName($0.name): $0.value]) }
        let together = event(.error, 1, Attributes(values.prefix(60).map { (AttributeName($0.name), $0.value) }))
        let many = event(.start, 2, Attributes((0..<300).map { (AttributeName("attribute \($0)"), .int($0)) }))
        let names = ["", " ", "\u{0}", "a\u{0}b", "a.b", "é", "😀", "\n", String(repeating: "n", count: 1000)]
        let named = event(.end, 3, Attributes(names.enumerated().map { (AttributeName($1), .int($0)) }))
        let actions = Action.playerActions + Action.adActions + names.map { Action($0) }
        let timed = [Action("Custom", timeAttribute: "ageOfCustom"), Action("Odd", timeAttribute: "😀\u{0}")]
        let ofActions = (actions + timed).map { event($0, 1) }
        let trackers = [0, 1, 255, 65_536, 1 << 32, 1 << 53, .max, -1, .min].map { event(.ping, $0) }
        let milliseconds: [Int64] = [0, 1, -1, 999, -62_135_596_800_000, 253_402_300_799_999, 1 << 53, .min, .max]
        let walls = milliseconds.map { event(.ping, 0, at: time(0, $0)) }
        let instants = [Int64.min, .min + 1, -1, 0, 1, 999_999, 1 << 53, .max - 1, .max].map {
            event(.ping, 0, at: time($0, 0))
        }
        return ofValues + [event(), together, many, named] + ofActions + trackers + walls + instants
    }

    private static var metrics: [Sample] {
        let kinds: [MetricName.Kind] = [.gauge, .counter]
        let units: [MetricName.Unit] = [.count, .milliseconds, .bitsPerSecond, .ratio]
        var names = MetricName.coreMetrics
        for kind in kinds { names += units.map { MetricName("Custom \(kind) \($0)", kind, unit: $0) } }
        // The spelling of a core metric with another kind and unit is another metric.
        names += [
            MetricName("StartTime", .counter, unit: .ratio), MetricName("", .gauge), MetricName("é\u{0}😀", .gauge),
        ]
        let ofNames = names.map { metric($0, 7) }
        let ofValues = values.compactMap { _, value -> Sample? in
            switch value {
            case .int(let value): metric(.playTime, .int(value))
            case .double(let value): metric(.playTime, .double(value))
            default: nil
            }
        }
        let identity: Attributes = [
            "senderId": "s-0", "streamId": "1", "playbackId": "2", "userId": "u", "own": [1, ""],
        ]
        let time = time(.max, .min)
        let owned = Metric(.numEnds, 1, tracker: TrackerID(.max), time: time, attributes: identity)
        return ofNames + ofValues + [.metric(owned)]
    }

    private static func metric(_ name: MetricName, _ value: Metric.Value) -> Sample {
        .metric(Metric(name, value, tracker: TrackerID(1), time: ordinaryTime, attributes: [:]))
    }
}

extension Attributes {
    fileprivate init(_ elements: some Sequence<(AttributeName, AttributeValue)>) {
        self.init()
        for (name, value) in elements { set(value, for: name) }
    }
}
