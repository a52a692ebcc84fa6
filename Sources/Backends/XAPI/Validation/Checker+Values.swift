internal import InstrumentJSON

/// Values with a format: identifiers, times, language maps, extensions (xAPI 1.0.3, Data 4).
extension Checker {
    mutating func iri(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard let text = string(value, at: path, rule: rule), !IRIFormat.isValid(text) else { return }
        fail(rule, at: path, "This is an IRI with a scheme.")
    }

    mutating func uuid(
        _ value: JSONValue,
        at path: JSONPath,
        rule: ValidationRule,
        typeRule: ValidationRule? = nil
    ) {
        guard let text = string(value, at: path, rule: typeRule ?? rule), !UUIDFormat.isValid(text) else { return }
        fail(rule, at: path, "This is a UUID in standard form.")
    }

    mutating func time(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard let text = string(value, at: path, rule: rule), !TimestampFormat.isValid(text, version: version) else {
            return
        }
        let format = version == .v2 ? "a zone, as RFC 3339 has them" : "if possible a zone, as ISO 8601 has them"
        fail(.timestampFormat, at: path, "This is a date and a time with \(format).")
    }

    /// At least one text under a language tag (XAPI-00121).
    mutating func languageMap(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard case .object(let texts) = value else { return fail(rule, at: path, "This is a language map.") }
        if texts.isEmpty { fail(rule, at: path, "A language map has an entry.") }
        for (tag, text) in texts.sorted(by: { $0.key < $1.key }) {
            if !LanguageTagFormat.isValid(tag) { fail(.languageTag, at: path / tag, "The key is an RFC 5646 tag.") }
            if text == .null {
                fail(.nullOrEmpty, at: path / tag, "Only inside extensions a value may be null.")
            } else {
                string(text, at: path / tag, rule: rule)
            }
        }
    }

    /// Anything at all under IRIs (XAPI-00118 to XAPI-00120); may be empty.
    mutating func extensions(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard case .object(let values) = value else { return fail(rule, at: path, "Extensions are an object.") }
        for key in values.keys.sorted() where !IRIFormat.isValid(key) {
            fail(.extensionKey, at: path / key, "The key of an extension is an IRI.")
        }
    }
}
