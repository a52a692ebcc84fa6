internal import InstrumentText

extension AlertExpression {
    /// The reason for which a text is not a condition, with the place in the text, counted from 0.
    package struct Failure: Error, Hashable, Sendable {
        /// The message: the text that was found, the expected text, and the remedy.
        package var message: String
        /// The number of characters before the problem.
        package var offset: Int
    }

    /// Reads a condition.
    package init(_ text: String) throws(Failure) {
        self.text = text
        var reader = AlertExpressionReader(text)
        conditions = [try reader.condition()]
        while reader.takeWord("and") {
            guard conditions.count < 16 else { throw reader.failure("at most 16 conditions are possible") }
            conditions.append(try reader.condition())
        }
        guard reader.isAtEnd else {
            throw reader.failure("Expected `and`, `over` or the end (found `\(reader.rest)`).")
        }
    }
}

/// Reads the words of a condition.
private struct AlertExpressionReader {
    private let characters: [Character]
    private var position = 0

    init(_ text: String) { characters = Array(text) }

    var rest: String { String(characters[position...].prefix(20)) }

    var isAtEnd: Bool {
        mutating get {
            skipSpaces()
            return position >= characters.count
        }
    }

    func failure(_ message: String) -> AlertExpression.Failure {
        AlertExpression.Failure(message: message, offset: position)
    }

    private mutating func skipSpaces() {
        while position < characters.count, characters[position] == " " || characters[position] == "\t" { position += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        skipSpaces()
        guard position < characters.count, characters[position] == character else { return false }
        position += 1
        return true
    }

    private mutating func name() -> String {
        skipSpaces()
        let start = position
        while position < characters.count, characters[position].isASCII,
            characters[position].isLetter || characters[position].isNumber || characters[position] == "_"
        { position += 1 }
        return String(characters[start..<position])
    }

    mutating func takeWord(_ word: String) -> Bool {
        let start = position
        if name() == word { return true }
        position = start
        return false
    }

    mutating func condition() throws(AlertExpression.Failure) -> AlertExpression.Condition {
        skipSpaces()
        let start = position
        let name = name()
        guard let metric = AlertMetric(rawValue: name) else {
            position = start
            if name.isEmpty { throw failure("Expected the name of a metric (found `\(rest)`).") }
            let suggestion = Suggestion.sentence(for: name, in: AlertMetric.allCases.map(\.rawValue))
            throw failure("Unknown metric `\(name.excerpt())`.\(suggestion)")
        }
        let labels = try labels(of: metric)
        let comparison = try comparison()
        let threshold = try threshold(of: metric)
        var window: Duration?
        if takeWord("over") {
            skipSpaces()
            let place = position
            guard let duration = DurationText.duration(word()), duration > .zero else {
                position = place
                throw failure("Expected a duration after `over`, such as `5m` (found `\(rest)`).")
            }
            window = duration
        }
        return AlertExpression.Condition(
            metric: metric,
            labels: labels,
            comparison: comparison,
            threshold: threshold,
            window: window
        )
    }

    /// Labels of parts of a metric, which a condition cannot select: the metric is the sum of its parts.
    private static let partLabels: Set<String> = ["code", "kind", "status", "le"]

    private mutating func labels(of metric: AlertMetric) throws(AlertExpression.Failure) -> [String: String] {
        guard take("{") else { return [:] }
        var labels: [String: String] = [:]
        repeat {
            skipSpaces()
            let place = position
            let name = name()
            guard !name.isEmpty, take("="), take("\"") else {
                throw failure("Expected NAME=\"VALUE\" (found `\(rest)`).")
            }
            if Self.partLabels.contains(name) || name == "rule" && metric != .checkFailed {
                position = place
                throw failure(
                    "The label `\(name)` cannot select a part of `\(metric)`; use a label of the stream, or `stream`."
                )
            }
            let start = position
            while position < characters.count, characters[position] != "\"" { position += 1 }
            guard position < characters.count else { throw failure("Expected a closing quote.") }
            labels[name] = String(characters[start..<position])
            position += 1
        } while take(",")
        guard take("}") else { throw failure("Expected `}` (found `\(rest)`).") }
        return labels
    }

    private mutating func comparison() throws(AlertExpression.Failure) -> AlertExpression.Comparison {
        skipSpaces()
        for length in [2, 1] {
            let text = String(characters[position...].prefix(length))
            if text.count == length, let comparison = AlertExpression.Comparison(rawValue: text) {
                position += length
                return comparison
            }
        }
        let known = AlertExpression.Comparison.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        throw failure("Expected one of \(known) (found `\(rest)`).")
    }

    /// The characters up to the next space.
    private mutating func word() -> String {
        skipSpaces()
        let start = position
        while position < characters.count, characters[position] != " " { position += 1 }
        return String(characters[start..<position])
    }

    private mutating func threshold(of metric: AlertMetric) throws(AlertExpression.Failure) -> Double {
        skipSpaces()
        let start = position
        let text = word()
        // No share is above 1: a person who writes 2 means 2 %.
        if let value = Self.value(text, metric.unit), metric.unit != .ratio || value <= 1 { return value }
        position = start
        let example =
            switch metric.unit {
            case .ratio: "a share from 0 to 1, such as `2%` or `0.02`"
            case .seconds: "a time, such as `5s` or `1m`"
            case .bitsPerSecond: "a bit rate, such as `800k` or `2.5M`"
            case .loudness: "a loudness in LUFS, such as `-30`"
            case .count: "a number"
            }
        throw failure("Expected \(example) (found `\(rest)`).")
    }

    private static func value(_ text: String, _ unit: AlertMetric.Unit) -> Double? {
        if let number = DurationText.number(text) { return number }
        switch unit {
        case .ratio: return text.hasSuffix("%") ? DurationText.number(String(text.dropLast())).map { $0 / 100 } : nil
        case .seconds: return DurationText.seconds(text)
        case .bitsPerSecond:
            let scales: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
            guard let last = text.last, let scale = scales[last] else { return nil }
            return DurationText.number(String(text.dropLast())).map { $0 * scale }
        case .loudness: return text.hasPrefix("-") ? DurationText.number(text.dropFirst()).map { -$0 } : nil
        case .count: return nil
        }
    }
}
