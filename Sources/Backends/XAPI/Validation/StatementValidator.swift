public import InstrumentJSON

/// Tells what is wrong with an xAPI statement, all of it.
///
/// ```swift
/// let failures = StatementValidator(version: .v1).failures(in: json)
/// for failure in failures { print(failure.rule, failure.path, failure.message) }
/// ```
///
/// A value without state: it may be used from any thread, and calls nothing. It holds a statement to every MUST of the
/// specification that can be told from the statement alone; what ADL's conformance requirements make of it decides
/// where the specification leaves a choice. What a statement only SHOULD NOT have (empty objects outside extensions) is a
/// warning, which ``findings(in:)`` has and ``failures(in:)`` has not. Whether a referred statement exists, whether a time lies in the future
/// and whether a signature is right is not asked.
///
/// Source: xAPI 1.0.3, part two (Data); IEEE 9274.1.1-2023, 4.2; conformance requirements XAPI-00001 to XAPI-00124.
public struct StatementValidator: Hashable, Sendable {
    /// The version whose rules apply.
    public let version: XAPIVersion

    /// Creates a validator; by default for 1.0.3, which every LRS takes.
    public init(version: XAPIVersion = .v1) { self.version = version }

    /// What is wrong, in the order of the specification; empty for a valid statement. Warnings are not among it.
    ///
    /// Keys that stand twice in an object can no longer be seen in a value; ``failures(inJSON:)`` sees them.
    public func failures(in statement: JSONValue) -> [ValidationFailure] {
        findings(in: statement).filter { $0.severity == .error }
    }

    /// What is wrong with a statement as it is sent: with its JSON, with its keys, and then as ``failures(in:)`` says.
    public func failures(inJSON bytes: [UInt8]) -> [ValidationFailure] {
        findings(inJSON: bytes).filter { $0.severity == .error }
    }

    /// What is wrong and what is doubtful, in the order of the specification; at most 1,000 findings and a note on how many
    /// more there are.
    public func findings(in statement: JSONValue) -> [ValidationFailure] {
        var checker = Checker(version: version)
        checker.statement(statement, at: .root)
        return checker.findings
    }

    /// What is wrong and what is doubtful with a statement as it is sent: with its JSON, with its keys, and then as
    /// ``findings(in:)`` says.
    public func findings(inJSON bytes: [UInt8]) -> [ValidationFailure] {
        do {
            let value = try JSONValue(parsing: bytes)
            return findings(in: value, withKeysOf: bytes, at: .root)
        } catch {
            return [.noJSON(error, in: bytes)]
        }
    }

    /// The same for a statement that is a member of an object whose bytes are given.
    package func findings(in statement: JSONValue, member name: String, of bytes: [UInt8]) -> [ValidationFailure] {
        findings(in: statement, withKeysOf: bytes, at: .root / name)
    }

    private func findings(
        in statement: JSONValue,
        withKeysOf bytes: [UInt8],
        at place: JSONPath
    ) -> [ValidationFailure] {
        let twice = DuplicateKeys.find(in: bytes).compactMap { $0.relative(to: place) }
        return twice.map {
            let message = "\($0.subject) stands more than once in its object; keep one of them."
            return ValidationFailure(rule: .keyTwice, path: $0.description, message: message)
        } + findings(in: statement)
    }

    /// True if nothing is wrong.
    public func isValid(_ statement: JSONValue) -> Bool { failures(in: statement).isEmpty }
}

extension ValidationFailure {
    /// The failure of a text that is not JSON, or JSON that cannot be taken: it names the place in the text.
    package static func noJSON(_ error: JSONError, in bytes: [UInt8]) -> ValidationFailure {
        let (line, column) = error.place(in: bytes)
        // Of a single line the byte says as much as the column.
        let place = bytes.contains(0x0A) ? " (line \(line), column \(column))" : ""
        let message = "The text is not valid JSON at byte \(error.offset)\(place): \(error.message)."
        return ValidationFailure(rule: rule(of: error.code), path: "$", message: message)
    }

    private static func rule(of code: JSONError.Code) -> ValidationRule {
        switch code {
        case .byteOrderMark: .byteOrderMark
        case .invalidUTF8: .utf8
        case .nesting: .nesting
        case .numberRange: .numberRange
        default: .wellFormed
        }
    }
}
