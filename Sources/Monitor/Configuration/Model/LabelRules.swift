internal import InstrumentText

/// What labels and locations may be. Every name and value of a label is a part of the identity of time series in
/// Prometheus, InfluxDB and Graphite, so that both are few and short.
package enum LabelRules {
    /// The largest number of labels of one stream.
    package static let mostLabels = 32
    /// The largest number of different names in one configuration: each is a tag of every database.
    package static let mostNames = 100
    /// The largest number of characters of a name.
    package static let longestName = 64
    /// The largest number of characters of a value, of a location and of a stream's name.
    package static let longestValue = 200

    /// Labels of the metrics themselves.
    private static let ofMetrics = [
        "stream", "le", "quantile", "code", "kind", "status", "rule", "backend", "reason", "state", "alert",
    ]
    private static let ofMetricsText = ofMetrics.dropLast().map { "`\($0)`" }.joined(separator: ", ") + " or `alert`"

    /// What is wrong with the name of a label; nil for a good one.
    package static func problem(withName name: String) -> String? {
        let isName =
            !name.isEmpty && name.utf8.allSatisfy(\.isNameByte)
            && !(0x30...0x39).contains(name.utf8.first ?? 0x30) && !name.hasPrefix("__")
        guard isName, !ofMetrics.contains(name) else {
            return
                "A label must have letters, digits and `_`, and not be \(ofMetricsText) (found `\(name.prefix(40))`)."
        }
        guard name.utf8.count <= longestName else {
            return
                "The name of a label must have at most \(longestName) characters (found \(name.utf8.count): `\(name.prefix(40))…`); shorten it."
        }
        return nil
    }

    /// What is wrong with a value; nil for a good one.
    ///
    /// - Parameter subject: what the value is of, as the message names it: the label, `location` or `name`.
    package static func problem(withValue value: String, of subject: String) -> String? {
        let count = value.unicodeScalars.count
        guard count <= longestValue else {
            return "`\(subject)` must have at most \(longestValue) characters (found \(count)); shorten it."
        }
        if let control = value.unicodeScalars.first(where: { $0.properties.generalCategory == .control }) {
            let number = String(control.value, radix: 16, uppercase: true)
            return "`\(subject)` must have no control characters (found U+\(number)); remove them."
        }
        if !value.isEmpty, value.unicodeScalars.allSatisfy(\.properties.isWhitespace) {
            return "`\(subject)` must have a character that can be seen (found white space alone)."
        }
        return nil
    }
}
