internal import Instrument
internal import InstrumentBackendKinds
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
            if receivers.isEmpty, let to = members["to"], case .list = to.content {
                report(to.place, "`to` must name at least one receiver of `notify`.")
            }
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
            window.place = element.place
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
                reportRepeated(name, at: element.place, first: first)
                continue
            }
            known[name] = element.place
            guard let (indicator, goal) = measured else { continue }
            var objective = Objective(name: name, indicator: indicator, goal: goal)
            if let match = members["match"] { objective.matchers = matchers(match) }
            (objective.groupBy, objective.days, objective.receivers) = (group, days ?? 30, receivers)
            objective.place = element.place
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

/// Reads `access`.
extension ConfigurationReader {
    private static let mostNameBytes = 100

    mutating func readAccess(_ value: ConfigurationValue) {
        guard let members = map(value, "`access`", ["tokens", "proxy", "tls"]) else { return }
        if let tokens = members["tokens"] { readTokens(tokens) }
        if let tls = members["tls"] { configuration.access.tls = certificate(tls) }
        if let proxy = members["proxy"] { configuration.access.proxy = self.proxy(proxy) }
    }

    private mutating func certificate(_ value: ConfigurationValue) -> ServerCertificate? {
        guard let members = map(value, "`tls`", ["certificate", "key"]) else { return nil }
        for key in ["certificate", "key"] where members[key] == nil {
            report(value.place, "`tls` must have `\(key)`, the path of a PEM file.")
        }
        let certificate = members["certificate"].flatMap { text($0, "certificate") }
        let key = members["key"].flatMap { text($0, "key") }
        guard let certificate, let key else { return nil }
        return ServerCertificate(certificate: certificate, key: key)
    }

    private mutating func readTokens(_ value: ConfigurationValue) {
        var known: [String: ConfigurationPlace] = [:]
        for element in list(value, "tokens") {
            guard let members = map(element, "A token", ["name", "role", "secret"]) else { continue }
            for key in ["name", "role", "secret"] where members[key] == nil {
                report(element.place, "A token must have `\(key)`.")
            }
            let role = members["role"].flatMap { self.role($0) }
            let secret = members["secret"].flatMap { self.secret($0, "secret") }
            guard let name = members["name"].flatMap({ text($0, "name") }) else { continue }
            if name.utf8.count > Self.mostNameBytes
                || name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            {
                report(
                    element.place,
                    "`name` must have at most \(Self.mostNameBytes) bytes without control characters."
                )
                continue
            }
            if let first = known[name] {
                reportRepeated(name, at: element.place, first: first)
                continue
            }
            known[name] = element.place
            guard let role, let secret else { continue }
            configuration.access.tokens.append(.init(name: name, role: role, secret: secret))
        }
    }

    private mutating func role(_ value: ConfigurationValue) -> AccessRole? {
        if case .scalar(let text, _) = value.content, let role = AccessRole(rawValue: text) { return role }
        report(value.place, "`role` must be `read` or `act` (found \(value.kindName)).")
        return nil
    }

    private mutating func proxy(_ value: ConfigurationValue) -> AccessSettings.Proxy? {
        guard let members = map(value, "`proxy`", ["header", "from", "role"]) else { return nil }
        for key in ["header", "from"] where members[key] == nil {
            report(value.place, "`proxy` must have `\(key)`.")
        }
        var addresses: [AddressRange] = []
        let ranges: [(name: String, place: ConfigurationPlace)] = members["from"].map { names($0, "from") } ?? []
        for (name, place) in ranges {
            guard let range = AddressRange(name) else {
                report(
                    place,
                    "`from` must be addresses such as `127.0.0.1` or `10.0.0.0/8` (found `\(name.excerpt())`)."
                )
                continue
            }
            addresses.append(range)
        }
        let role = members["role"].map { self.role($0) } ?? .read
        guard let header = members["header"], let name = text(header, "header") else { return nil }
        let isToken = name.utf8.allSatisfy { $0.isNameByte || $0 == UInt8(ascii: "-") }
        guard isToken, !["authorization", "cookie", "host", "origin"].contains(name.lowercased()) else {
            report(
                header.place,
                "`header` must be the name of a header that the proxy sets, such as `X-Forwarded-User` (found \(header.kindName))."
            )
            return nil
        }
        return role.map { .init(header: name, addresses: addresses, role: $0) }
    }
}
