internal import InstrumentJSON

/// Walks through one statement and collects what is wrong. Its rules are in extensions, one part of a statement each.
struct Checker {
    let version: XAPIVersion
    /// More than this help nobody, and a hostile statement would get as many as it has bytes.
    private static let mostFindings = 1_000
    private var listed: [ValidationFailure] = []
    /// How many findings there are, listed or not, and how many of them are errors.
    private var count = 0
    private(set) var errorCount = 0

    init(version: XAPIVersion) { self.version = version }

    /// What was found, and a last one that says how many more there are.
    var findings: [ValidationFailure] {
        guard count > listed.count else { return listed }
        let message = "\(count - listed.count) more findings are not listed; correct these first."
        let hasUnlistedError = errorCount > listed.count { $0.severity == .error }
        let severity: ValidationFailure.Severity = hasUnlistedError ? .error : .warning
        return listed + [ValidationFailure(rule: .tooMany, path: "$", message: message, severity: severity)]
    }

    /// Notes that what is at the path breaks a rule: "`scaled` must be between -1 and 1 (found 7)."
    mutating func fail(
        _ rule: ValidationRule,
        at path: JSONPath,
        _ requirement: String,
        found: JSONValue? = nil,
        severity: ValidationFailure.Severity = .error
    ) {
        count += 1
        if severity == .error { errorCount += 1 }
        guard listed.count < Self.mostFindings else { return }
        let message = "\(path.subject) \(requirement)" + (found.map { " (found \($0.shown))" } ?? "") + "."
        listed.append(ValidationFailure(rule: rule, path: path.description, message: message, severity: severity))
    }

    /// The members that the rules go on with: known ones that are not null. Nil if this is no object.
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
        for name in members.keys.sorted() where !known.contains(name) {
            unknown(name, at: path / name, known: known, forbidden: forbidden)
        }
        let good = members.filter { known.contains($0.key) }
        for name in good.keys.sorted() where good[name] == .null {
            failNull(at: path / name)
        }
        return good.filter { $0.value != .null }
    }

    /// xAPI 1.0.3, Data 2.2: a statement SHOULD NOT have empty objects; servers take them.
    mutating func warnOfEmpty(at path: JSONPath, rule: ValidationRule) {
        fail(rule, at: path, "should not be empty outside of extensions; leave it out", found: [:], severity: .warning)
    }

    mutating func failNull(at path: JSONPath) {
        fail(.nullOrEmpty, at: path, "must not be null outside of extensions; leave it out", found: .null)
    }

    private mutating func unknown(
        _ name: String,
        at path: JSONPath,
        known: Set<String>,
        forbidden: [String: ValidationRule]
    ) {
        if let rule = forbidden[name] { return fail(rule, at: path, "must not stand in a sub-statement or agent") }
        if let meant = known.first(where: { $0.lowercased() == name.lowercased() }) {
            return fail(.keyCase, at: path, "must be written `\(meant)`: upper and lower case count")
        }
        fail(.notAllowed, at: path, "is not a key of the specification here; remove it, or put it into extensions")
    }

    /// The elements of an array; nil if this is none.
    mutating func elements(of value: JSONValue, at path: JSONPath, rule: ValidationRule) -> [JSONValue]? {
        if case .array(let elements) = value { return elements }
        fail(rule, at: path, "must be an array", found: value)
        return nil
    }

    /// The text, if it is one.
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

    /// One of a few texts; false, and said so, if it is none of them.
    mutating func oneOf(_ texts: [String], _ value: JSONValue, at path: JSONPath, rule: ValidationRule) -> String? {
        guard let text = string(value, at: path, rule: rule) else { return nil }
        if texts.contains(text) { return text }
        if let meant = texts.first(where: { $0.lowercased() == text.lowercased() }) {
            fail(.valueCase, at: path, "must be written `\(meant)`: upper and lower case count", found: value)
        } else {
            fail(rule, at: path, "must be one of \(texts.joined(separator: ", "))", found: value)
        }
        return nil
    }
}

extension JSONValue {
    /// The value as a message shows it: short, whatever it is.
    fileprivate var shown: String {
        switch self {
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
        case .object(let members): members.isEmpty ? "an empty object" : "an object"
        case .string(let text) where text.utf8.count > Self.longestShown:
            JSONValue.string(String(text.unicodeScalars.prefix(Self.longestShown)) + "…").description
        default: description
        }
    }

    private static var longestShown: Int { 80 }
}
