internal import InstrumentJSON

/// Walks through one statement and collects its failures. The rules are in extensions, one for each part of a
/// statement.
struct Checker {
    let version: XAPIVersion
    /// The largest number of findings that are listed: a hostile statement can have one for each of its bytes.
    private static let mostFindings = 1_000
    private var listed: [ValidationFailure] = []
    /// The number of findings, listed or not; `errorCount` counts the errors among them.
    private var count = 0
    private(set) var errorCount = 0

    init(version: XAPIVersion) { self.version = version }

    /// The findings; the last one says how many more are not listed.
    var findings: [ValidationFailure] {
        guard count > listed.count else { return listed }
        let message = "\(count - listed.count) more findings are not listed; the listed ones must be corrected first."
        let hasUnlistedError = errorCount > listed.count { $0.severity == .error }
        let severity: ValidationFailure.Severity = hasUnlistedError ? .error : .warning
        return listed + [ValidationFailure(rule: .tooMany, path: "$", message: message, severity: severity)]
    }

    /// Notes that the value at the path breaks a rule: "`scaled` must be between -1 and 1 (found 7)."
    mutating func fail(
        _ rule: ValidationRule,
        at path: JSONPath,
        _ requirement: String,
        found: JSONValue? = nil,
        severity: ValidationFailure.Severity = .error
    ) {
        fail(rule, at: path, requirement, foundWords: found.map(Excerpt.value), severity: severity)
    }

    /// Notes a broken rule about something other than one value: `foundWords` describes the finding.
    mutating func fail(
        _ rule: ValidationRule,
        at path: JSONPath,
        _ requirement: String,
        foundWords: String?,
        severity: ValidationFailure.Severity = .error
    ) {
        count += 1
        if severity == .error { errorCount += 1 }
        guard listed.count < Self.mostFindings else { return }
        listed.append(ValidationFailure(rule, at: path, requirement, found: foundWords, severity: severity))
    }

    /// The known members that are not null; nil if the value is not an object.
    mutating func members(
        of value: JSONValue,
        at path: JSONPath,
        known: Set<String>,
        forbidden: [String: ValidationRule] = [:],
        rule: ValidationRule
    ) -> [String: JSONValue]? {
        guard case .object(let members) = value else {
            fail(rule, at: path, "must be an object", found: value)
            return nil
        }
        if members.isEmpty { warnOfEmpty(at: path, rule: .nullOrEmpty) }
        // Most objects are as they should be.
        if members.allSatisfy({ $0.value.isPresent && known.contains($0.key) }) { return members }
        for name in members.keys.sorted() where !known.contains(name) {
            unknown(name, members[name], at: path / name, known: known, forbidden: forbidden)
        }
        let good = members.filter { known.contains($0.key) }
        for name in good.keys.sorted() where good[name] == .null {
            failNull(at: path / name)
        }
        return good.filter { $0.value != .null }
    }

    /// xAPI 1.0.3, Data 2.2: a statement SHOULD NOT have empty objects; servers accept them.
    mutating func warnOfEmpty(at path: JSONPath, rule: ValidationRule) {
        fail(
            rule,
            at: path,
            "should be left out when empty: outside of extensions, an object is expected to have members",
            found: [:],
            severity: .warning
        )
    }

    mutating func failNull(at path: JSONPath) {
        fail(.nullOrEmpty, at: path, "must not be null outside of extensions; leave it out", found: .null)
    }

    private mutating func unknown(
        _ name: String,
        _ value: JSONValue?,
        at path: JSONPath,
        known: Set<String>,
        forbidden: [String: ValidationRule]
    ) {
        if let rule = forbidden[name] {
            return fail(rule, at: path, "must not appear in a sub-statement or agent; remove it", found: value)
        }
        if let meant = known.first(where: { $0.lowercased() == name.lowercased() }) {
            let found = "the key " + Excerpt.quoted(name)
            return fail(.keyCase, at: path, "must be written `\(meant)`: keys are case-sensitive", foundWords: found)
        }
        let requirement =
            "must not appear here: the specification has no such key; remove it, or move it into `extensions`"
        fail(.notAllowed, at: path, requirement, found: value)
    }

    /// The elements of an array; nil if the value is not an array.
    mutating func elements(of value: JSONValue, at path: JSONPath, rule: ValidationRule) -> [JSONValue]? {
        if case .array(let elements) = value { return elements }
        fail(rule, at: path, "must be an array", found: value)
        return nil
    }

    /// The text; nil if the value is not a string.
    @discardableResult
    mutating func string(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) -> String? {
        if case .string(let text) = value { return text }
        fail(rule, at: path, "must be a string", found: value)
        return nil
    }

    mutating func bool(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        if case .bool = value { return }
        fail(rule, at: path, "must be true or false", found: value)
    }

    mutating func number(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) -> Double? {
        switch value {
        case .int(let number): return Double(number)
        case .double(let number): return number
        default:
            fail(rule, at: path, "must be a number", found: value)
            return nil
        }
    }

    /// One of a few texts; nil, with a failure, for any other value.
    mutating func oneOf(_ texts: [String], _ value: JSONValue, at path: JSONPath, rule: ValidationRule) -> String? {
        guard let text = string(value, at: path, rule: rule) else { return nil }
        if texts.contains(text) { return text }
        if let meant = texts.first(where: { $0.lowercased() == text.lowercased() }) {
            fail(.valueCase, at: path, "must be written `\(meant)`: values are case-sensitive", found: value)
        } else {
            fail(rule, at: path, "must be one of \(texts.joined(separator: ", "))", found: value)
        }
        return nil
    }
}

extension JSONValue {
    /// Whether the value is not null.
    fileprivate var isPresent: Bool { if case .null = self { false } else { true } }
}

/// Values with a format: identifiers, times, language maps, extensions (xAPI 1.0.3, Data 4).
extension Checker {
    mutating func iri(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard let text = string(value, at: path, rule: rule), !IRIFormat.isValid(text) else { return }
        fail(rule, at: path, "must be an IRI with a scheme, such as https://example.org/film", found: value)
    }

    mutating func uuid(
        _ value: JSONValue,
        at path: JSONPath,
        rule: ValidationRule,
        typeRule: ValidationRule? = nil
    ) {
        guard let text = string(value, at: path, rule: typeRule ?? rule), !UUIDFormat.isValid(text) else { return }
        fail(rule, at: path, "must be a UUID in the standard form of 36 characters", found: value)
    }

    mutating func time(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard let text = string(value, at: path, rule: rule), !TimestampFormat.isValid(text, version: version) else {
            return
        }
        let format = version == .v2 ? "RFC 3339" : "ISO 8601"
        let example = "2026-01-31T09:15:00.250Z"
        fail(
            .timestampFormat,
            at: path,
            "must be a date and time in the format of \(format), such as \(example)",
            found: value
        )
    }

    /// At least one text under a language tag (XAPI-00121).
    mutating func languageMap(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard case .object(let texts) = value else {
            return fail(rule, at: path, "must be a language map, such as {\"en\":\"film\"}", found: value)
        }
        if texts.isEmpty { warnOfEmpty(at: path, rule: rule) }
        for (tag, text) in texts.sorted(by: { $0.key < $1.key }) {
            if !LanguageTagFormat.isValid(tag) {
                fail(
                    .languageTag,
                    at: path / tag,
                    "must be a language tag of RFC 5646, such as en-GB",
                    foundWords: "the key " + Excerpt.quoted(tag)
                )
            }
            if text == .null {
                failNull(at: path / tag)
            } else {
                string(text, at: path / tag, rule: rule)
            }
        }
    }

    /// Any values under keys that are IRIs (XAPI-00118 to XAPI-00120); The object may be empty.
    mutating func extensions(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard case .object(let values) = value else { return fail(rule, at: path, "must be an object", found: value) }
        // Sorted after the check, because nearly all keys pass it.
        for key in values.keys.filter({ !IRIFormat.isValid($0) }).sorted() {
            fail(
                .extensionKey,
                at: path / key,
                "must be an IRI with a scheme, because it is the key of an extension",
                foundWords: "the key " + Excerpt.quoted(key)
            )
        }
    }
}
