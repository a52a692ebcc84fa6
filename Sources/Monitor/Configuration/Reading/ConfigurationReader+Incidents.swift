internal import Instrument
internal import InstrumentText

/// Reads `incidents` and `maintenance`.
extension ConfigurationReader {
    private static let incidentKeys = [
        "group_by", "group_wait", "group_interval", "repeat_interval", "reopen", "escalate",
    ]

    mutating func readIncidents(_ value: ConfigurationValue) {
        guard let members = map(value, "`incidents`", Self.incidentKeys) else { return }
        var settings = configuration.incidents
        if let value = members["group_by"] { settings.groupBy = names(value, "group_by").map(\.name) }
        if let value = members["group_wait"] { settings.groupWait = duration(value, "group_wait") }
        let interval = { (value: ConfigurationValue?, name: String, known: Duration, reader: inout Self) in
            value.flatMap { reader.duration($0, name) } ?? known
        }
        settings.groupInterval = interval(members["group_interval"], "group_interval", settings.groupInterval, &self)
        settings.repeatInterval = interval(
            members["repeat_interval"],
            "repeat_interval",
            settings.repeatInterval,
            &self
        )
        settings.reopen = interval(members["reopen"], "reopen", settings.reopen, &self)
        if settings.repeatInterval < .seconds(60), let value = members["repeat_interval"] {
            report(value.place, "`repeat_interval` must be at least `1m` (found \(value.kindName)).")
        }
        if let value = members["escalate"] { settings.escalation = escalation(value) }
        configuration.incidents = settings
    }

    /// One step, or a list of steps.
    private mutating func escalation(_ value: ConfigurationValue) -> [IncidentSettings.EscalationStep] {
        var steps: [IncidentSettings.EscalationStep] = []
        let isSingle = if case .map = value.content { true } else { false }
        for element in isSingle ? [value] : list(value, "escalate") {
            guard let members = map(element, "A step of `escalate`", ["after", "to"]) else { continue }
            for key in ["after", "to"] where members[key] == nil {
                report(element.place, "A step of `escalate` must have `\(key)`.")
            }
            let after = members["after"].flatMap { duration($0, "after") }
            let receivers: [(name: String, place: ConfigurationPlace)] = members["to"].map { names($0, "to") } ?? []
            references += receivers.map { ("receiver", $0.name, $0.place) }
            guard let after else { continue }
            if let last = steps.last, last.after >= after {
                report(element.place, "`after` must be longer than that of the step before.")
            }
            steps.append(.init(after: after, receivers: receivers.map(\.name)))
        }
        return steps
    }

    // MARK: Maintenance

    private static let maintenanceKeys = [
        "name", "match", "weekdays", "start_time", "end_time", "location", "begin", "end",
    ]

    mutating func readMaintenance(_ value: ConfigurationValue) {
        for element in list(value, "maintenance") {
            guard let members = map(element, "A window of `maintenance`", Self.maintenanceKeys) else { continue }
            if members["name"] == nil { report(element.place, "A window of `maintenance` must have `name`.") }
            let isOnce = members["begin"] != nil || members["end"] != nil
            let time = isOnce ? onceTime(members, element.place) : weeklyTime(members, element.place)
            let name = members["name"].flatMap { text($0, "name") }
            guard let name, let time else { continue }
            var window = MaintenanceWindow(name: name, time: time)
            if let match = members["match"] { window.matchers = matchers(match) }
            configuration.incidents.maintenance.append(window)
        }
    }

    mutating func matchers(_ value: ConfigurationValue) -> [String: String] {
        guard case .map(let members) = value.content else {
            report(value.place, "`match` must be a mapping of labels (found \(value.kindName)).")
            return [:]
        }
        var matchers: [String: String] = [:]
        for member in members { if let text = text(member.value, member.key) { matchers[member.key] = text } }
        return matchers
    }

    private mutating func onceTime(
        _ members: [String: ConfigurationValue],
        _ place: ConfigurationPlace
    ) -> MaintenanceWindow.Time? {
        for key in ["weekdays", "start_time", "end_time", "location"] {
            guard let value = members[key] else { continue }
            report(value.place, "`\(key)` contradicts `begin` and `end`; remove one of them.")
        }
        guard let begin = members["begin"], let end = members["end"] else {
            report(place, "A window of `maintenance` must have both `begin` and `end`.")
            return nil
        }
        guard let from = time(begin, "begin"), let to = time(end, "end") else { return nil }
        guard from < to else {
            report(end.place, "`end` must be later than `begin`.")
            return nil
        }
        return .once(from: from, to: to)
    }

    private mutating func time(_ value: ConfigurationValue, _ name: String) -> WallTime? {
        if let text = text(value, name) {
            if let time = WallTime(rfc3339: text) { return time }
            report(
                value.place,
                "`\(name)` must be a time such as `2026-12-01T02:00:00Z` or `2026-12-01T03:00:00+01:00` (found \(value.kindName))."
            )
        }
        return nil
    }

    private mutating func weeklyTime(
        _ members: [String: ConfigurationValue],
        _ place: ConfigurationPlace
    ) -> MaintenanceWindow.Time? {
        guard let start = members["start_time"], let end = members["end_time"] else {
            report(place, "A window of `maintenance` must have `start_time` and `end_time`, or `begin` and `end`.")
            return nil
        }
        let (first, last) = (timeOfDay(start, "start_time"), timeOfDay(end, "end_time"))
        var location = "UTC"
        if let value = members["location"], let name = text(value, "location") {
            location = name
            if !MaintenanceWindow.Weekly.isLocation(name) {
                report(
                    value.place,
                    "`location` must be the name of a time zone such as `UTC` or `Europe/Oslo` (found \(value.kindName))."
                )
            }
        }
        let days = members["weekdays"].map { weekdays($0) } ?? Set(0...6)
        guard let first, let last else { return nil }
        return .weekly(.init(weekdays: days, start: first, end: last, location: location))
    }

    /// `02:30`, and `24:00` for the end of the day.
    private mutating func timeOfDay(_ value: ConfigurationValue, _ name: String) -> Int? {
        if case .scalar(let text, _) = value.content {
            if text == "24:00" { return 1_440 }
            var cursor = TextCursor(text)
            if let time = cursor.timeOfDay(requiresSeconds: false), cursor.isAtEnd { return Int(time / 60_000) }
        }
        report(value.place, "`\(name)` must be a time of day from `00:00` to `24:00` (found \(value.kindName)).")
        return nil
    }

    private static let dayNames = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// `sunday`, or `monday:friday`.
    private mutating func weekdays(_ value: ConfigurationValue) -> Set<Int> {
        var days: Set<Int> = []
        for (name, place) in names(value, "weekdays") {
            let parts = name.lowercased().split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let numbers = parts.compactMap { Self.dayNames.firstIndex(of: $0) }
            guard numbers.count == parts.count, (1...2).contains(numbers.count), let first = numbers.first,
                let last = numbers.last
            else {
                report(
                    place,
                    "`weekdays` must be days such as `sunday` or `monday:friday` (found `\(name.excerpt())`).\(Suggestion.sentence(for: name.lowercased(), in: Self.dayNames))"
                )
                continue
            }
            // A range may pass the end of the week.
            var day = first
            days.insert(day)
            while day != last {
                day = (day + 1) % 7
                days.insert(day)
            }
        }
        return days
    }
}
