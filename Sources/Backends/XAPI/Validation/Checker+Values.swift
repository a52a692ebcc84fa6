internal import InstrumentJSON

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
