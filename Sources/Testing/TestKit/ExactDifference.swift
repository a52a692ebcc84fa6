internal import Instrument

/// Compares samples to the last bit.
///
/// Swift's `==` is not enough for a contract: composed and decomposed characters are equal for it, and so are
/// 0.0 and -0.0.
enum ExactDifference {
    /// Returns how the first sample that differs was changed; nil if all are as expected.
    static func between(_ found: [Sample], _ expected: [Sample]) -> String? {
        for (index, pair) in zip(found, expected).enumerated() {
            if let difference = between(pair.0, pair.1) { return "sample \(index) of \(expected.count): \(difference)" }
        }
        return found.count == expected.count ? nil : "\(found.count) samples instead of \(expected.count)"
    }

    static func between(_ found: Sample, _ expected: Sample) -> String? {
        switch (found, expected) {
        case (.event(let found), .event(let expected)): between(found, expected)
        case (.metric(let found), .metric(let expected)): between(found, expected)
        case (.event, .metric): "an event instead of a metric"
        case (.metric, .event): "a metric instead of an event"
        }
    }

    private static func between(_ found: Event, _ expected: Event) -> String? {
        if let name = between(found.action.name, expected.action.name) { return "action: \(name)" }
        let (age, expectedAge) = (found.action.timeAttribute, expected.action.timeAttribute)
        if age != expectedAge { return "time attribute of the action: \(age) instead of \(expectedAge)" }
        return between(found.tracker, expected.tracker) ?? between(found.time, expected.time)
            ?? between(found.attributes, expected.attributes)
    }

    private static func between(_ found: Metric, _ expected: Metric) -> String? {
        if let name = between(found.name.spelling, expected.name.spelling) { return "metric name: \(name)" }
        if found.name.kind != expected.name.kind { return "metric kind: \(found.name.kind)" }
        if found.name.unit != expected.name.unit { return "metric unit: \(found.name.unit)" }
        if let value = between(attribute(found.value), attribute(expected.value)) { return "metric value: \(value)" }
        return between(found.tracker, expected.tracker) ?? between(found.time, expected.time)
            ?? between(found.attributes, expected.attributes)
    }

    private static func attribute(_ value: Metric.Value) -> AttributeValue {
        switch value {
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        }
    }

    private static func between(_ found: TrackerID, _ expected: TrackerID) -> String? {
        found == expected ? nil : "tracker: \(found) instead of \(expected)"
    }

    private static func between(_ found: Timestamp, _ expected: Timestamp) -> String? {
        if found.instant != expected.instant {
            return "instant: \(found.instant.nanoseconds) ns instead of \(expected.instant.nanoseconds) ns"
        }
        let (wall, expectedWall) = (found.wallTime.milliseconds, expected.wallTime.milliseconds)
        return wall == expectedWall ? nil : "wall time: \(wall) ms instead of \(expectedWall) ms"
    }

    private static func between(_ found: Attributes, _ expected: Attributes) -> String? {
        for element in expected {
            guard let value = found[element.name] else { return "attribute \(short(element.name.spelling)) is missing" }
            if let difference = between(value, element.value) {
                return "attribute \(short(element.name.spelling)): \(difference)"
            }
        }
        return found.count == expected.count ? nil : "\(found.count) attributes instead of \(expected.count)"
    }

    static func between(_ found: AttributeValue, _ expected: AttributeValue) -> String? {
        switch (found, expected) {
        case (.string(let found), .string(let expected)): return between(found, expected)
        case (.double(let found), .double(let expected)):
            return found.bitPattern == expected.bitPattern ? nil : "\(found) instead of \(expected)"
        case (.int(let found), .int(let expected)):
            return found == expected ? nil : "\(found) instead of \(expected)"
        case (.bool(let found), .bool(let expected)):
            return found == expected ? nil : "\(found) instead of \(expected)"
        case (.array(let found), .array(let expected)):
            if found.count != expected.count { return "\(found.count) elements instead of \(expected.count)" }
            for (found, expected) in zip(found, expected) {
                if let difference = between(found, expected) { return "element: \(difference)" }
            }
            return nil
        case (.object(let found), .object(let expected)): return between(found, expected)
        default: return "\(short("\(found)")) of another type instead of \(short("\(expected)"))"
        }
    }

    private static func between(_ found: [String: AttributeValue], _ expected: [String: AttributeValue]) -> String? {
        if found.count != expected.count { return "\(found.count) members instead of \(expected.count)" }
        for (key, value) in expected {
            guard let position = found.index(forKey: key) else { return "member \(short(key)) is missing" }
            if let difference = between(found[position].key, key) { return "member name: \(difference)" }
            if let difference = between(found[position].value, value) { return "member \(short(key)): \(difference)" }
        }
        return nil
    }

    private static func between(_ found: String, _ expected: String) -> String? {
        if found.utf8.elementsEqual(expected.utf8) { return nil }
        let (count, expectedCount) = (found.utf8.count, expected.utf8.count)
        if found == expected { return "text of \(count) bytes was normalised from \(expectedCount) bytes" }
        return "text \(short(found)) of \(count) bytes instead of \(short(expected)) of \(expectedCount) bytes"
    }

    private static func short(_ text: String) -> String {
        let escaped = text.unicodeScalars.prefix(24).map { $0.escaped(asASCII: true) }.joined()
        return text.unicodeScalars.count > 24 ? "\"\(escaped)…\"" : "\"\(escaped)\""
    }
}
