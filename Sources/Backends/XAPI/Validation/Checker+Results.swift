internal import InstrumentJSON

/// Results and scores (xAPI 1.0.3, Data 2.4.5).
extension Checker {
    private static let ofResult: Set<String> = [
        "score", "success", "completion", "response", "duration", "extensions",
    ]
    private static let ofScore: Set<String> = ["scaled", "raw", "min", "max"]

    mutating func result(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofResult, rule: .wrongType) else { return }
        if let score = members["score"] { self.score(score, at: path / "score") }
        if let success = members["success"] { bool(success, at: path / "success", rule: .success) }
        if let completion = members["completion"] { bool(completion, at: path / "completion", rule: .completion) }
        if let response = members["response"] { string(response, at: path / "response", rule: .response) }
        if let duration = members["duration"], let text = string(duration, at: path / "duration", rule: .duration),
            !DurationFormat.isValid(text)
        {
            fail(
                .durationFormat,
                at: path / "duration",
                "must be a duration in the format of ISO 8601, such as PT1H30M or P4W",
                found: duration
            )
        }
        if let values = members["extensions"] { extensions(values, at: path / "extensions", rule: .resultExtensions) }
    }

    private mutating func score(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofScore, rule: .score) else {
            return
        }
        let scaled = number(of: members, "scaled", at: path, rule: .scoreScaled)
        let raw = number(of: members, "raw", at: path, rule: .scoreRaw)
        let min = number(of: members, "min", at: path, rule: .scoreMin)
        let max = number(of: members, "max", at: path, rule: .scoreMax)
        if let scaled, !(-1...1).contains(scaled) {
            fail(.scoreScaled, at: path / "scaled", "must be between -1 and 1", found: members["scaled"])
        }
        if let min, let max, !(min < max) {
            let limit = members["max"].map(Excerpt.value) ?? ""
            fail(.scoreMin, at: path / "min", "must be less than `max` \(limit)", found: members["min"])
        }
        if let raw, let min, raw < min {
            let limit = members["min"].map(Excerpt.value) ?? ""
            fail(.scoreRaw, at: path / "raw", "must not be less than `min` \(limit)", found: members["raw"])
        }
        if let raw, let max, raw > max, raw >= min ?? raw {
            let limit = members["max"].map(Excerpt.value) ?? ""
            fail(.scoreRaw, at: path / "raw", "must not be greater than `max` \(limit)", found: members["raw"])
        }
    }

    private mutating func number(
        of members: [String: JSONValue],
        _ name: String,
        at path: JSONPath,
        rule: ValidationRule
    ) -> Double? {
        members[name].flatMap { number($0, at: path / name, rule: rule) }
    }
}
