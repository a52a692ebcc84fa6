internal import InstrumentHTTP
internal import InstrumentRules
internal import InstrumentText

/// The settings that a stream has in common with the defaults.
struct StreamSettings {
    var player: WatchedStream.Player?
    var profile: String?
    var every: Duration?
    var length: Duration?
    var continuous: Bool?
    var down: Duration?
    var checks = CheckSettings()
    var backends: [String]?
    var labels: [String: String] = [:]
    var headers: [StreamHeader] = []
}

extension ConfigurationReader {
    private static let settingKeys = [
        "player", "profile", "every", "for", "continuous", "down", "checks", "backends", "labels", "headers",
    ]

    mutating func readDefaults(_ value: ConfigurationValue) -> StreamSettings {
        guard let members = map(value, "`defaults`", Self.settingKeys) else { return StreamSettings() }
        return settings(members, StreamSettings(), value.place)
    }

    mutating func readStreams(
        _ value: ConfigurationValue,
        _ defaults: StreamSettings,
        folder: String,
        stack: [String]
    ) {
        for element in list(value, "streams") {
            if case .map(let members) = element.content, members.contains(where: { $0.key == "include" }) {
                readInclude(element, defaults, folder: folder, stack: stack)
            } else {
                readStream(element, defaults)
            }
        }
    }

    private mutating func readInclude(
        _ value: ConfigurationValue,
        _ defaults: StreamSettings,
        folder: String,
        stack: [String]
    ) {
        guard let members = map(value, "An include", ["include"]), let include = members["include"] else { return }
        for (pattern, place) in names(include, "include") {
            for path in paths(pattern, folder: folder, place) {
                guard let document = document(path, from: place, stack: stack) else { continue }
                var streams = document
                if case .map = document.content {
                    guard let members = map(document, "An included file", ["streams"]) else { continue }
                    guard let found = members["streams"] else { continue }
                    streams = found
                }
                readStreams(streams, defaults, folder: Self.folder(of: path), stack: stack + [path])
            }
        }
    }

    /// The files that an include means, sorted. A pattern may match no file; a name must.
    private mutating func paths(_ pattern: String, folder: String, _ place: ConfigurationPlace) -> [String] {
        let path = pattern.hasPrefix("/") ? pattern : folder + pattern
        let parent = Self.folder(of: path)
        let name = NamePattern(text: String(path.dropFirst(parent.count)))
        if name.isLiteral, NamePattern(text: parent).isLiteral { return [path] }
        guard NamePattern(text: parent).isLiteral else {
            report(place, "`include` must have `*` and `?` only after the last `/` (found `\(pattern.excerpt())`).")
            return []
        }
        let searched = parent.isEmpty ? "." : parent
        guard let names = documents.names(in: searched) else {
            report(place, "Cannot read the folder of `\(pattern.excerpt())`; it must exist and be readable.")
            return []
        }
        return names.filter(name.matches).sorted().map { parent + $0 }
    }

    private mutating func readStream(_ value: ConfigurationValue, _ defaults: StreamSettings) {
        let keys = ["name", "url", "page", "include"] + Self.settingKeys
        guard let members = map(value, "A stream", keys) else { return }
        guard configuration.streams.count < Self.mostStreams else {
            if configuration.streams.count == Self.mostStreams, error.problems.last?.place.file != value.place.file {
                report(value.place, "A configuration must have at most \(Self.mostStreams) streams.")
            }
            return
        }
        let name = members["name"].flatMap { text($0, "name") }
        let url = address(members, value.place)
        if members["name"] == nil {
            report(value.place, "A stream must have a `name`; add one that no other stream has.")
        }
        let settings = settings(members, defaults, value.place)
        if let name, let problem = LabelRules.problem(withValue: name, of: "name") {
            report(members["name"]?.place ?? value.place, problem)
        }
        if let name, let first = streamPlaces.updateValue(value.place, forKey: name) {
            streamPlaces[name] = first
            reportRepeated(name, at: value.place, first: first)
            return
        }
        guard let name, let url else { return }
        var stream = WatchedStream(name: name, url: url, place: value.place)
        stream.labels = settings.labels
        stream.headers = settings.headers
        stream.profile = settings.profile
        stream.checks = settings.checks
        choosePlayer(of: &stream, settings, members)
        stream.downDelay = settings.down
        stream.backends = settings.backends ?? []
        stream.schedule = schedule(settings)
        checkIntervals(of: stream)
        checkSegments(of: stream)
        configuration.streams.append(stream)
    }

    /// The address of a stream, or of the web page that plays it.
    private mutating func address(_ members: [String: ConfigurationValue], _ place: ConfigurationPlace) -> HTTPURL? {
        let url = members["url"].flatMap { self.url($0, "url") }
        guard let value = members["page"] else {
            if members["url"] == nil {
                report(
                    place,
                    "A stream must have a `url` or a `page`; add the address of a playlist or MPD as `url`, or of a web page "
                        + "that plays it as `page`."
                )
            }
            return url
        }
        let page = self.url(value, "page")
        if members["url"] != nil {
            report(value.place, "A stream must have either a `url` or a `page` (found both); remove one of them.")
            return nil
        }
        return page
    }

    /// Sets what plays a stream, and reports settings that the player does not have. Those of the defaults are for the
    /// streams that have them.
    private mutating func choosePlayer(
        of stream: inout WatchedStream,
        _ settings: StreamSettings,
        _ members: [String: ConfigurationValue]
    ) {
        stream.player = members["page"] == nil ? settings.player ?? .probe : .page
        guard stream.player.needsTab else { return }
        stream.profile = nil
        if let value = members["profile"] {
            report(value.place, "`profile` is for the probe, and Chromium plays this stream; remove `profile`.")
        }
        stream.headers = []
        if let value = members["headers"] {
            report(value.place, "`headers` are for the probe, and Chromium plays this stream; remove `headers`.")
        }
        guard stream.player == .page else { return }
        if let value = members["player"], settings.player == .probe {
            report(value.place, "`player` of a `page` must be chrome (found `probe`); remove `player`.")
        }
        stream.checks = CheckSettings()
        if let value = members["checks"] {
            report(
                value.place,
                "`checks` need a playlist or an MPD, and a `page` has none; remove `checks`, or check its `url` as a further stream."
            )
        }
    }

    private func schedule(_ settings: StreamSettings) -> WatchedStream.Schedule {
        if settings.continuous == true { return .continuous }
        return .sampled(every: settings.every ?? .seconds(60), for: settings.length ?? .seconds(30))
    }

    private mutating func settings(
        _ members: [String: ConfigurationValue],
        _ defaults: StreamSettings,
        _ place: ConfigurationPlace
    ) -> StreamSettings {
        var settings = defaults
        if let value = members["profile"], let name = text(value, "profile") {
            if !profiles.isEmpty, !profiles.contains(name) {
                report(
                    value.place,
                    "Unknown profile `\(name.excerpt())`.\(Suggestion.sentence(for: name, in: profiles))"
                )
            }
            settings.profile = name
        }
        if let value = members["player"], let name = text(value, "player") {
            switch name {
            case "probe": settings.player = .probe
            case "chrome": settings.player = .chrome
            default: report(value.place, "`player` must be probe or chrome (found `\(name.excerpt())`).")
            }
        }
        if let value = members["every"] { settings.every = duration(value, "every") ?? settings.every }
        if let value = members["for"] { settings.length = duration(value, "for") ?? settings.length }
        if let value = members["continuous"] { settings.continuous = truth(value, "continuous") }
        if let value = members["down"] { settings.down = duration(value, "down") ?? settings.down }
        if let value = members["checks"] { readChecks(value, &settings.checks) }
        if let value = members["labels"] { readLabels(value, &settings.labels) }
        if let value = members["headers"] { readHeaders(value, &settings.headers) }
        if let value = members["backends"] {
            let names = names(value, "backends")
            references += names.map { ("backend", $0.name, $0.place) }
            settings.backends = names.map(\.name)
        }
        contradictions(members, settings, place)
        return settings
    }

    private mutating func contradictions(
        _ members: [String: ConfigurationValue],
        _ settings: StreamSettings,
        _ place: ConfigurationPlace
    ) {
        if settings.continuous == true {
            for key in ["every", "for"] {
                guard let value = members[key] else { continue }
                report(value.place, "`\(key)` contradicts `continuous: true`; remove one of them.")
            }
        } else if let every = settings.every ?? (settings.length == nil ? nil : .seconds(60)),
            let length = settings.length,
            length > every, let value = members["for"] ?? members["every"]
        {
            report(value.place, "`for` must be at most `every`; lengthen `every`, or use `continuous: true`.")
        }
    }

    /// Reports an interval that no session of a sampled stream is long enough for.
    mutating func checkIntervals(of stream: WatchedStream) {
        guard case .sampled(_, let length) = stream.schedule else { return }
        let checks = stream.checks
        for (key, interval) in [("black", checks.black), ("freeze", checks.freeze), ("silence", checks.silence)] {
            guard let interval, interval >= length else { continue }
            report(
                stream.place,
                "`\(key)` of `\(stream.name.excerpt())` must be shorter than a session (`for`), or it is never found; lengthen `for`, or use `continuous: true`."
            )
        }
    }

    /// Reports segments that no rule looks at.
    private mutating func checkSegments(of stream: WatchedStream) {
        guard stream.checks.segments ?? 0 > 0, stream.checks.rules != true else { return }
        report(
            stream.place,
            "`segments` of `\(stream.name.excerpt())` fetches segments for the rules on them; add `rules: true`, or remove `segments`."
        )
    }

    private mutating func readChecks(_ value: ConfigurationValue, _ checks: inout CheckSettings) {
        let keys = ["black", "freeze", "silence", "stale", "loudness", "allPictures", "rules", "segments", "ignore"]
        guard let members = map(value, "`checks`", keys) else { return }
        if let value = members["black"] { checks.black = duration(value, "black") }
        if let value = members["freeze"] { checks.freeze = duration(value, "freeze") }
        if let value = members["silence"] { checks.silence = duration(value, "silence") }
        if let value = members["loudness"] { checks.loudness = truth(value, "loudness") }
        if let value = members["allPictures"] { checks.allPictures = truth(value, "allPictures") }
        if let value = members["rules"] { checks.rules = truth(value, "rules") }
        if let value = members["segments"] { checks.segments = count(value, "segments", 0...Self.mostSegments) }
        if let value = members["stale"] {
            if case .scalar(let text, _) = value.content, let ratio = DurationText.ratio(text),
                (1...1_000_000).contains(ratio)
            {
                checks.stale = ratio
            } else {
                report(
                    value.place,
                    "`stale` must be a multiple of the target duration such as `1.5x` (found \(value.kindName))."
                )
            }
        }
        if let value = members["ignore"] { readIgnoredRules(value, &checks) }
    }

    private mutating func readIgnoredRules(_ value: ConfigurationValue, _ checks: inout CheckSettings) {
        let known = Self.ruleNames
        checks.ignoredRules = names(value, "ignore").map { name, place in
            if !known.contains(name) {
                report(place, "Unknown rule `\(name.excerpt())`.\(Suggestion.sentence(for: name, in: known))")
            }
            return name
        }
    }

    /// A reload rarely lists more new segments.
    private static let mostSegments = 100
    private static let ruleNames = Set(Rule.all.map(\.id.description))
    /// What a check may find.
    static let findings = ruleNames.union(["black", "freeze", "silence", "stale", "manifest-unavailable"])

    private mutating func readLabels(_ value: ConfigurationValue, _ labels: inout [String: String]) {
        guard case .map(let members) = value.content else {
            report(value.place, "`labels` must be a mapping (found \(value.kindName)).")
            return
        }
        for member in members {
            if let problem = LabelRules.problem(withName: member.key) {
                report(member.place, problem)
            } else if let text = text(member.value, member.key) {
                if let problem = LabelRules.problem(withValue: text, of: member.key) {
                    report(member.value.place, problem)
                }
                labels[member.key] = text
                noteLabel(member)
            }
        }
        if labels.count > LabelRules.mostLabels {
            report(
                value.place,
                "A stream must have at most \(LabelRules.mostLabels) labels, those of `defaults` among them (found \(labels.count)); remove some."
            )
        }
    }

    private mutating func readHeaders(_ value: ConfigurationValue, _ headers: inout [StreamHeader]) {
        guard case .map(let members) = value.content else {
            report(value.place, "`headers` must be a mapping of names and values (found \(value.kindName)).")
            return
        }
        for member in members {
            guard let header = header(member) else { continue }
            headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
            headers.append(header)
        }
        if headers.count > StreamHeader.most {
            report(
                value.place,
                "A stream must have at most \(StreamHeader.most) headers, those of `defaults` among them (found \(headers.count)); remove some."
            )
        }
    }

    /// A value that the name says is secret must be elsewhere.
    private mutating func header(_ member: ConfigurationValue.Member) -> StreamHeader? {
        let isElsewhere = if case .map = member.value.content { true } else { false }
        let literal = isElsewhere ? "" : text(member.value, "headers")
        guard let literal else { return nil }
        let (problem, isSecret) = StreamHeader.check(member.key, literal)
        if let problem {
            report(member.place, problem)
            return nil
        }
        guard isElsewhere || isSecret else { return StreamHeader(name: member.key, value: .literal(literal)) }
        return secret(member.value, member.key).map { StreamHeader(name: member.key, value: .secret($0)) }
    }

    /// Reports the first name of a label that is one too many in the whole configuration.
    private mutating func noteLabel(_ member: ConfigurationValue.Member) {
        guard labelNames.count <= LabelRules.mostNames, labelNames.insert(member.key).inserted,
            labelNames.count > LabelRules.mostNames
        else { return }
        report(
            member.place,
            "A configuration must have at most \(LabelRules.mostNames) different names of labels (found one more: `\(member.key)`); give labels of one meaning one name."
        )
    }

    /// Reads the place of the monitor.
    mutating func readLocation(_ value: ConfigurationValue) {
        guard let text = text(value, "location") else { return }
        if let problem = LabelRules.problem(withValue: text, of: "location") { report(value.place, problem) }
        configuration.location = text
    }
}
