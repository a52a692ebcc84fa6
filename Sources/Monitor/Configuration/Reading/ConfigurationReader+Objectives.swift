internal import InstrumentText

/// Reads `objectives`.
extension ConfigurationReader {
    private static let objectiveKeys = [
        "name", "start_within", "goal", "stalled_below", "up", "match", "by", "days", "to",
    ]

    mutating func readObjectives(_ value: ConfigurationValue) {
        var known: [String: ConfigurationPlace] = [:]
        for element in list(value, "objectives") {
            guard let members = map(element, "An objective", Self.objectiveKeys) else { continue }
            if members["name"] == nil { report(element.place, "An objective must have `name`.") }
            let measured = indicator(members, element.place)
            var (receivers, days): ([String], Int?) = ([], nil)
            if let to = members["to"] {
                let names = names(to, "to")
                references += names.map { ("receiver", $0.name, $0.place) }
                receivers = names.map(\.name)
            }
            if let value = members["days"] { days = count(value, "days", 1...30) }
            let group = members["by"].flatMap { text($0, "by") }
            guard let name = members["name"].flatMap({ text($0, "name") }) else { continue }
            if let first = known[name] {
                report(
                    element.place,
                    "The name `\(name.excerpt())` must be unique (also at \(first)); rename one of them."
                )
                continue
            }
            known[name] = element.place
            guard let (indicator, goal) = measured else { continue }
            var objective = Objective(name: name, indicator: indicator, goal: goal)
            if let match = members["match"] { objective.matchers = matchers(match) }
            (objective.groupBy, objective.days, objective.receivers) = (group, days ?? 30, receivers)
            configuration.objectives.append(objective)
        }
    }

    private mutating func indicator(
        _ members: [String: ConfigurationValue],
        _ place: ConfigurationPlace
    ) -> (Objective.Indicator, Double)? {
        let given = ["start_within", "stalled_below", "up"].filter { members[$0] != nil }
        guard given.count == 1 else {
            let found = given.isEmpty ? "none" : given.map { "`\($0)`" }.joined(separator: " and ")
            report(place, "An objective must have one of `start_within`, `stalled_below` and `up` (found \(found)).")
            return nil
        }
        if let goal = members["goal"], given != ["start_within"] {
            report(goal.place, "`goal` must stand beside `start_within`; remove it.")
            return nil
        }
        if let value = members["up"] { return share(value, "up").map { (.up, $0) } }
        if let value = members["stalled_below"] { return share(value, "stalled_below").map { (.notStalled, 1 - $0) } }
        guard let value = members["start_within"], let limit = duration(value, "start_within") else { return nil }
        guard let goal = members["goal"] else {
            report(place, "An objective with `start_within` must have `goal`, such as `99%`.")
            return nil
        }
        return share(goal, "goal").map { (.startWithin(limit), $0) }
    }

    /// `99.9%`.
    private mutating func share(_ value: ConfigurationValue, _ name: String) -> Double? {
        if case .scalar(let text, _) = value.content, text.hasSuffix("%"),
            let number = DurationText.number(text.dropLast()), number > 0, number < 100
        {
            return number / 100
        }
        report(
            value.place,
            "`\(name)` must be a share above 0 and below 100, such as `99.9%` (found \(value.kindName))."
        )
        return nil
    }
}
