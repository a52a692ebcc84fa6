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
/// where the specification leaves a choice (empty objects are refused outside extensions, XAPI-00001; empty arrays and
/// texts only where something has to be there). Whether a referred statement exists, whether a time lies in the future
/// and whether a signature is right is not asked.
///
/// Source: xAPI 1.0.3, part two (Data); IEEE 9274.1.1-2023, 4.2; conformance requirements XAPI-00001 to XAPI-00124.
public struct StatementValidator: Hashable, Sendable {
    /// The version whose rules apply.
    public let version: XAPIVersion

    /// Creates a validator; by default for 1.0.3, which every LRS takes.
    public init(version: XAPIVersion = .v1) { self.version = version }

    /// What is wrong, in the order of the specification; empty for a valid statement.
    ///
    /// Keys that stand twice in an object can no longer be seen in a value; ``failures(inJSON:)`` sees them.
    public func failures(in statement: JSONValue) -> [ValidationFailure] {
        var checker = Checker(version: version)
        checker.statement(statement, at: .root)
        return checker.failures
    }

    /// What is wrong with a statement as it is sent: with its JSON, with its keys, and then as ``failures(in:)`` says.
    public func failures(inJSON bytes: [UInt8]) -> [ValidationFailure] {
        do {
            let value = try JSONValue(parsing: bytes)
            return failures(in: value, withKeysOf: bytes, at: .root)
        } catch {
            return [.noJSON(error)]
        }
    }

    /// The same for a statement that is a member of an object whose bytes are given.
    package func failures(in statement: JSONValue, member name: String, of bytes: [UInt8]) -> [ValidationFailure] {
        failures(in: statement, withKeysOf: bytes, at: .root / name)
    }

    private func failures(
        in statement: JSONValue,
        withKeysOf bytes: [UInt8],
        at place: JSONPath
    ) -> [ValidationFailure] {
        let twice = DuplicateKeys.find(in: bytes).compactMap { $0.relative(to: place) }
        let message = "A key stands in an object once."
        return twice.map { ValidationFailure(rule: .keyTwice, path: $0.description, message: message) }
            + failures(in: statement)
    }

    /// True if nothing is wrong.
    public func isValid(_ statement: JSONValue) -> Bool { failures(in: statement).isEmpty }
}

extension ValidationFailure {
    /// What is no JSON breaks one rule.
    package static func noJSON(_ error: JSONError) -> ValidationFailure {
        ValidationFailure(rule: .wellFormed, path: "$", message: "A statement is JSON; \(error).")
    }
}
