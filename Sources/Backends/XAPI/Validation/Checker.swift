internal import InstrumentJSON

/// Walks through one statement and collects what is wrong. Its rules are in extensions, one part of a statement each.
struct Checker {
    let version: XAPIVersion
    private(set) var failures: [ValidationFailure] = []

    init(version: XAPIVersion) { self.version = version }

    mutating func fail(_ rule: ValidationRule, at path: JSONPath, _ message: String) {
        failures.append(ValidationFailure(rule: rule, path: path.description, message: message))
    }

    /// The members that the rules go on with: known ones that are not null. Nil if this is no object.
    mutating func members(
        of value: JSONValue,
        at path: JSONPath,
        known: Set<String>,
        forbidden: [String: ValidationRule] = [:],
        rule: ValidationRule,
        emptyRule: ValidationRule = .nullOrEmpty
    ) -> [String: JSONValue]? {
        guard case .object(let members) = value else {
            fail(rule, at: path, "This is an object.")
            return nil
        }
        if members.isEmpty { fail(emptyRule, at: path, "An object outside extensions is not empty.") }
        for name in members.keys.sorted() where !known.contains(name) {
            unknown(name, at: path / name, known: known, forbidden: forbidden)
        }
        let good = members.filter { known.contains($0.key) }
        for name in good.keys.sorted() where good[name] == .null {
            fail(.nullOrEmpty, at: path / name, "Only inside extensions a value may be null.")
        }
        return good.filter { $0.value != .null }
    }

    private mutating func unknown(
        _ name: String,
        at path: JSONPath,
        known: Set<String>,
        forbidden: [String: ValidationRule]
    ) {
        if let rule = forbidden[name] { return fail(rule, at: path, "This key may not stand here.") }
        if let meant = known.first(where: { $0.lowercased() == name.lowercased() }) {
            return fail(.keyCase, at: path, "This key is written \(meant).")
        }
        fail(.notAllowed, at: path, "The specification has no such key here.")
    }

    /// The elements of an array; nil if this is none.
    mutating func elements(of value: JSONValue, at path: JSONPath, rule: ValidationRule) -> [JSONValue]? {
        if case .array(let elements) = value { return elements }
        fail(rule, at: path, "This is an array.")
        return nil
    }

    /// The text, if it is one.
    @discardableResult
    mutating func string(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) -> String? {
        if case .string(let text) = value { return text }
        fail(rule, at: path, "This is a string.")
        return nil
    }

    mutating func bool(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        if case .bool = value { return }
        fail(rule, at: path, "This is true or false.")
    }

    mutating func number(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) -> Double? {
        switch value {
        case .int(let number): return Double(number)
        case .double(let number): return number
        default:
            fail(rule, at: path, "This is a number.")
            return nil
        }
    }

    /// One of a few texts; false, and said so, if it is none of them.
    mutating func oneOf(_ texts: [String], _ value: JSONValue, at path: JSONPath, rule: ValidationRule) -> String? {
        guard let text = string(value, at: path, rule: rule) else { return nil }
        if texts.contains(text) { return text }
        if let meant = texts.first(where: { $0.lowercased() == text.lowercased() }) {
            fail(.valueCase, at: path, "This value is written \(meant).")
        } else {
            fail(rule, at: path, "This is one of \(texts.joined(separator: ", ")).")
        }
        return nil
    }
}
