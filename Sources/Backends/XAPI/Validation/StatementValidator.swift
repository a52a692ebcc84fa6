public import InstrumentJSON

/// Validates xAPI statements, and lists every failure.
///
/// ```swift
/// let failures = StatementValidator(version: .v1).failures(in: json)
/// for failure in failures { print(failure.rule, failure.path, failure.message) }
/// ```
///
/// A value without state, which may be used from any thread. It checks every MUST of the specification that a
/// statement alone can show; where the specification leaves a choice, ADL's conformance requirements decide.
/// What a statement only SHOULD NOT have (empty objects outside of extensions) is a warning: ``findings(in:)``
/// includes warnings, ``failures(in:)`` does not. The validator does not check whether a referenced statement
/// exists, whether a time lies in the future, or whether a signature is correct.
///
/// Source: xAPI 1.0.3, part two (Data); IEEE 9274.1.1-2023, 4.2; conformance requirements XAPI-00001 to XAPI-00124.
public struct StatementValidator: Hashable, Sendable {
    /// The version whose rules apply.
    package let version: XAPIVersion

    /// Creates a validator; by default for 1.0.3, which every LRS accepts.
    public init(version: XAPIVersion = .v1) { self.version = version }

    /// Returns the failures without warnings, in the order of the specification; empty for a valid statement.
    ///
    /// A value no longer shows keys that appear twice in an object; ``failures(inJSON:)`` reports them.
    public func failures(in statement: JSONValue) -> [ValidationFailure] {
        findings(in: statement).filter { $0.severity == .error }
    }

    /// Returns the failures of a statement as it is sent: invalid JSON, duplicate keys, and those of ``failures(in:)``.
    public func failures(inJSON bytes: [UInt8]) -> [ValidationFailure] {
        findings(inJSON: bytes).filter { $0.severity == .error }
    }

    /// Returns failures and warnings in the order of the specification: at most 1,000 findings, and one that counts the
    /// others.
    public func findings(in statement: JSONValue) -> [ValidationFailure] {
        var checker = Checker(version: version)
        checker.statement(statement, at: .root)
        return checker.findings
    }

    /// Returns failures and warnings of a statement as it is sent: invalid JSON, duplicate keys, and those of
    /// ``findings(in:)``.
    public func findings(inJSON bytes: [UInt8]) -> [ValidationFailure] {
        // Most statements have none, and need no values.
        if StatementJudge.accept(bytes, version: version) != nil { return [] }
        return completeFindings(inJSON: bytes)
    }

    /// The findings of ``Checker``, also for statements that ``StatementJudge`` accepts.
    func completeFindings(inJSON bytes: [UInt8]) -> [ValidationFailure] {
        do {
            var hasRepeatedNames = false
            let value = try JSONReader.read(bytes, hasRepeatedNames: &hasRepeatedNames)
            return findings(in: value, member: nil, of: bytes, hasRepeatedNames: hasRepeatedNames)
        } catch {
            return [.noJSON(error, in: bytes)]
        }
    }

    /// Whether a text is one statement that certainly has no findings. Returns the id of that statement, as it stands
    /// in the text, or an empty text without an id; nil if in doubt: ``findings(inJSON:)`` decides.
    package func acceptedID(inJSON bytes: [UInt8]) -> String? {
        StatementJudge.accept(bytes, version: version).map { $0.id ?? "" }
    }

    /// Returns failures and warnings of a statement that was read from `bytes`.
    ///
    /// - Parameters:
    ///   - statement: the statement.
    ///   - name: the member of the object in `bytes` that is the statement; nil if the whole is the statement.
    ///   - bytes: the text.
    ///   - hasRepeatedNames: whether the reader met an object with two members of one name; only then their places are
    ///     searched.
    package func findings(
        in statement: JSONValue,
        member name: String?,
        of bytes: [UInt8],
        hasRepeatedNames: Bool
    ) -> [ValidationFailure] {
        guard hasRepeatedNames else { return findings(in: statement) }
        return findings(in: statement, withKeysOf: bytes, at: name.map { .root / $0 } ?? .root)
    }

    private func findings(
        in statement: JSONValue,
        withKeysOf bytes: [UInt8],
        at place: JSONPath
    ) -> [ValidationFailure] {
        let twice = DuplicateKeys.find(in: bytes).compactMap { $0.relative(to: place) }
        return twice.map {
            let message = "\($0.subject) must appear only once in its object (found more than once); remove the others."
            return ValidationFailure(rule: .keyTwice, path: $0.description, message: message)
        } + findings(in: statement)
    }

    /// True if the statement has no failures; it may have warnings.
    package func isValid(_ statement: JSONValue) -> Bool { failures(in: statement).isEmpty }
}

extension ValidationFailure {
    /// The failure for a text that is not JSON, or JSON beyond the reader's limits: it names the place in the text.
    package static func noJSON(_ error: JSONError, in bytes: [UInt8]) -> ValidationFailure {
        let (line, column) = error.place(in: bytes)
        // In a single line, the byte is enough.
        let place = bytes.contains(0x0A) ? " (line \(line), column \(column))" : ""
        let message = "The text must be valid JSON; at byte \(error.offset)\(place): \(error.message)."
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
