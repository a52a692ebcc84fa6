internal import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentText

extension ConfigurationReader {
    /// The members of a mapping by name; unknown keys are reported with a suggestion, and left out.
    mutating func map(
        _ value: ConfigurationValue,
        _ subject: String,
        _ keys: [String]
    ) -> [String: ConfigurationValue]? {
        guard case .map(let members) = value.content else {
            report(value.place, "\(subject) must be a mapping (found \(value.kindName)).")
            return nil
        }
        var result: [String: ConfigurationValue] = [:]
        for member in members {
            if keys.contains(member.key) {
                result[member.key] = member.value
            } else {
                let suggestion = Suggestion.sentence(for: member.key, in: keys)
                report(member.place, "Unknown key `\(member.key.excerpt())`.\(suggestion)")
            }
        }
        return result
    }

    mutating func list(_ value: ConfigurationValue, _ name: String) -> [ConfigurationValue] {
        if case .list(let list) = value.content { return list }
        report(value.place, "`\(name)` must be a list (found \(value.kindName)).")
        return []
    }

    mutating func text(_ value: ConfigurationValue, _ name: String) -> String? {
        if case .scalar(let text, _) = value.content, !text.isEmpty { return text }
        report(value.place, "`\(name)` must be a text (found \(value.kindName)).")
        return nil
    }

    mutating func truth(_ value: ConfigurationValue, _ name: String) -> Bool? {
        if case .scalar(let text, isPlain: true) = value.content, ["true", "false"].contains(text) {
            return text == "true"
        }
        report(value.place, "`\(name)` must be true or false (found \(value.kindName)).")
        return nil
    }

    mutating func count(_ value: ConfigurationValue, _ name: String, _ range: ClosedRange<Int>) -> Int? {
        if case .scalar(let text, isPlain: true) = value.content, let count = Int(text), range.contains(count) {
            return count
        }
        report(
            value.place,
            "`\(name)` must be a number from \(range.lowerBound) to \(range.upperBound) (found \(value.kindName))."
        )
        return nil
    }

    mutating func duration(_ value: ConfigurationValue, _ name: String) -> Duration? {
        if case .scalar(let text, _) = value.content, let duration = DurationText.duration(text), duration > .zero {
            return duration
        }
        report(value.place, "`\(name)` must be a duration such as `30s`, `5m` or `1.5h` (found \(value.kindName)).")
        return nil
    }

    /// A list of names; a single name stands for a list of one.
    mutating func names(_ value: ConfigurationValue, _ name: String) -> [(name: String, place: ConfigurationPlace)] {
        if case .scalar(let text, _) = value.content { return [(text, value.place)] }
        return list(value, name).compactMap { element in
            text(element, name).map { ($0, element.place) }
        }
    }

    mutating func url(_ value: ConfigurationValue, _ name: String) -> HTTPURL? {
        guard let text = text(value, name) else { return nil }
        guard let url = try? HTTPURL(text) else {
            // The text may hold secrets and is not repeated.
            report(value.place, "`\(name)` must be an http or https URL.")
            return nil
        }
        if url.userInfo != nil {
            report(
                value.place,
                "`\(name)` must not contain a user or a password; use `credentials: { env: NAME }` or `{ file: PATH }`."
            )
            return nil
        }
        return url
    }

    /// `{ env: NAME }` or `{ file: PATH }`.
    mutating func secret(_ value: ConfigurationValue, _ name: String) -> SecretReference? {
        guard case .map = value.content else {
            // The value may be the secret, so the message does not repeat it.
            report(
                value.place,
                "`\(name)` must name its source and not contain the secret: write `{ env: NAME }` or `{ file: PATH }`."
            )
            return nil
        }
        guard let members = map(value, "`\(name)`", ["env", "file"]) else { return nil }
        guard members.count == 1 else {
            report(value.place, "`\(name)` must have either `env` or `file` (found \(members.count)).")
            return nil
        }
        if let variable = members["env"] {
            guard let text = text(variable, "env") else { return nil }
            let isName = text.utf8.allSatisfy { $0.isNameByte } && !(0x30...0x39).contains(text.utf8.first ?? 0x30)
            guard isName else {
                report(variable.place, "`env` must be the name of an environment variable: letters, digits and `_`.")
                return nil
            }
            return .environment(text)
        }
        return members["file"].flatMap { text($0, "file") }.map { .file($0) }
    }
}

extension UInt8 {
    /// Whether the byte may stand in the name of a variable or a label.
    var isNameByte: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) || self == 0x5F
    }
}
