package import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentRules
internal import InstrumentText

/// Reads a configuration with its includes, and collects all problems.
struct ConfigurationReader {
    static let mostStreams = 100_000

    let profiles: Set<String>
    let kinds: BackendKinds
    /// Whether a configuration without streams is a mistake.
    let needsStreams: Bool
    var documents: ConfigurationDocuments
    var configuration = WatchConfiguration()
    var error = ConfigurationError(problems: [])
    /// The places of streams by name, to report duplicates.
    var streamPlaces: [String: ConfigurationPlace] = [:]
    /// References to names that may be defined later.
    var references: [(kind: String, name: String, place: ConfigurationPlace)] = []
    /// The names of all labels.
    var labelNames: Set<String> = []

    init(files: any ConfigurationFiles, profiles: Set<String>, kinds: BackendKinds, needsStreams: Bool = true) {
        (documents, self.profiles, self.kinds) = (ConfigurationDocuments(files), profiles, kinds)
        self.needsStreams = needsStreams
    }

    mutating func report(_ place: ConfigurationPlace, _ message: String) {
        guard error.problems.count < ConfigurationError.mostProblems else {
            error.omittedCount += 1
            return
        }
        error.problems.append(ConfigurationProblem(place, message))
    }

    /// Reports a name that was used before, at `first`.
    mutating func reportRepeated(_ name: String, at place: ConfigurationPlace, first: ConfigurationPlace) {
        report(place, "The name `\(name.excerpt())` must be unique (also at \(first)); rename one of them.")
    }

    mutating func readMain(_ path: String) {
        guard let value = document(path, from: nil, stack: []) else { return }
        readRoot(value, path, stack: [path])
        checkReferences()
        if needsStreams, error.problems.isEmpty { configuration.warnings = IdleParts(of: configuration).warnings }
    }

    /// Reads a file; nil with a problem that is reported.
    mutating func document(
        _ path: String,
        from place: ConfigurationPlace?,
        stack: [String]
    ) -> ConfigurationValue? {
        do throws(ConfigurationProblem) { return try documents.read(path, from: place, stack: stack) } catch {
            report(error.place, error.message)
            return nil
        }
    }

    private mutating func readRoot(_ value: ConfigurationValue, _ path: String, stack: [String]) {
        let keys = [
            "location", "defaults", "streams", "backends", "alerts", "notify", "link", "incidents", "maintenance",
            "access", "objectives",
        ]
        guard let members = map(value, "The configuration", keys) else { return }
        if let location = members["location"] { readLocation(location) }
        // Names first, whatever the order of the file.
        if let backends = members["backends"] { readBackends(backends) }
        if let notify = members["notify"] { readReceivers(notify) }
        if let link = members["link"] { configuration.link = url(link, "link") ?? configuration.link }
        var defaults = StreamSettings()
        if let value = members["defaults"] { defaults = readDefaults(value) }
        if let streams = members["streams"] {
            readStreams(streams, defaults, folder: Self.folder(of: path), stack: stack)
        } else if needsStreams {
            report(value.place, "The configuration must have `streams`; add the list of streams.")
        }
        if let alerts = members["alerts"] { readAlerts(alerts) }
        if let incidents = members["incidents"] { readIncidents(incidents) }
        if let access = members["access"] { readAccess(access) }
        if let objectives = members["objectives"] { readObjectives(objectives) }
        if let maintenance = members["maintenance"] { readMaintenance(maintenance) }
    }

    private mutating func checkReferences() {
        let (backends, receivers) = (configuration.backends, configuration.receivers)
        for reference in references {
            let isBackend = reference.kind == "backend"
            let known = isBackend ? Array(backends.keys) + Self.builtInBackends : Array(receivers.keys)
            let isKnown =
                isBackend
                ? backends[reference.name] != nil || Self.builtInBackends.contains(reference.name)
                : receivers[reference.name] != nil
            if isKnown { continue }
            let section = isBackend ? "backends" : "notify"
            let hint =
                Suggestion.nearest(to: reference.name, in: known).map { "Did you mean `\($0)`?" }
                ?? "Define it under `\(section)`."
            report(reference.place, "Unknown \(reference.kind) `\(reference.name.excerpt())`. \(hint)")
        }
        error.problems.sort {
            ($0.place.file, $0.place.line, $0.place.column) < ($1.place.file, $1.place.line, $1.place.column)
        }
    }

    /// Backends that need no definition.
    static let builtInBackends = ["prometheus"]

    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}

extension WatchConfiguration {
    /// Reads a configuration with everything that it includes, and returns where it comes from, also without success.
    /// - Parameters:
    ///   - path: the file.
    ///   - kinds: the kinds of backends.
    ///   - profiles: the names of the player profiles; an empty set allows every name.
    ///   - needsStreams: whether a configuration without `streams` is a mistake.
    ///   - files: where files are read.
    package static func read(
        contentsOf path: String,
        kinds: BackendKinds,
        profiles: Set<String> = [],
        needsStreams: Bool = true,
        files: any ConfigurationFiles = SystemConfigurationFiles()
    ) -> (result: Result<WatchConfiguration, ConfigurationError>, sources: ConfigurationSources) {
        var reader = ConfigurationReader(
            files: files,
            profiles: profiles,
            kinds: kinds,
            needsStreams: needsStreams
        )
        reader.readMain(path)
        let isGood = reader.error.problems.isEmpty
        return (isGood ? .success(reader.configuration) : .failure(reader.error), reader.documents.sources)
    }

    /// Reads a configuration with everything that it includes.
    /// - Parameters:
    ///   - path: the file.
    ///   - kinds: the kinds of backends.
    ///   - profiles: the names of the player profiles; an empty set allows every name.
    ///   - files: where files are read.
    /// - Throws: ``ConfigurationError`` with all problems.
    package init(
        contentsOf path: String,
        kinds: BackendKinds,
        profiles: Set<String> = [],
        files: any ConfigurationFiles = SystemConfigurationFiles()
    ) throws(ConfigurationError) {
        self = try Self.read(contentsOf: path, kinds: kinds, profiles: profiles, files: files).result.get()
    }
}

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
