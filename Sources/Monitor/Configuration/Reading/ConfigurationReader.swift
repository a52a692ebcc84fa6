package import InstrumentBackendKinds
internal import InstrumentHTTP
internal import InstrumentRules
internal import InstrumentText

/// Reads a configuration with its includes, and collects all problems.
struct ConfigurationReader {
    static let mostFiles = 10_000
    static let mostFileBytes = 16 << 20
    static let mostBytes = 128 << 20
    static let mostStreams = 100_000
    /// A parsed value takes some hundred bytes, however few it has in the file.
    static let mostFileValues = 1_500_000
    static let mostValues = 4_000_000

    let files: any ConfigurationFiles
    let profiles: Set<String>
    let kinds: BackendKinds
    /// Whether a configuration without streams is a mistake.
    let needsStreams: Bool
    /// The files and folders that were read, or looked for.
    var sources = ConfigurationSources()
    var configuration = WatchConfiguration()
    var error = ConfigurationError(problems: [])
    /// The places of streams by name, to report duplicates.
    var streamPlaces: [String: ConfigurationPlace] = [:]
    /// References to names that may be defined later.
    var references: [(kind: String, name: String, place: ConfigurationPlace)] = []
    /// The names of all labels.
    var labelNames: Set<String> = []
    private var fileCount = 0
    private var byteCount = 0
    private var valueCount = 0

    init(files: any ConfigurationFiles, profiles: Set<String>, kinds: BackendKinds, needsStreams: Bool = true) {
        (self.files, self.profiles, self.kinds) = (files, profiles, kinds)
        self.needsStreams = needsStreams
    }

    mutating func report(_ place: ConfigurationPlace, _ message: String) {
        guard error.problems.count < ConfigurationError.mostProblems else {
            error.omittedCount += 1
            return
        }
        error.problems.append(ConfigurationProblem(place, message))
    }

    mutating func readMain(_ path: String) {
        guard let value = document(path, from: nil, stack: []) else { return }
        readRoot(value, path, stack: [path])
        checkReferences()
    }

    /// Reads a file; nil with a problem that is reported.
    mutating func document(
        _ path: String,
        from place: ConfigurationPlace?,
        stack: [String]
    ) -> ConfigurationValue? {
        let here = place ?? ConfigurationPlace(file: path, line: 1, column: 1)
        if stack.contains(path) {
            report(
                here,
                "A file must not include itself (found \((stack + [path]).joined(separator: " → "))); remove one include."
            )
            return nil
        }
        fileCount += 1
        guard fileCount <= Self.mostFiles, stack.count < 16 else {
            report(here, "A configuration must have at most \(Self.mostFiles) files, included at most 16 deep.")
            return nil
        }
        sources.files.insert(path)
        guard let bytes = files.contents(of: path, atMost: Self.mostFileBytes) else {
            report(here, "Cannot read `\(path)`: the file must exist, be readable, and have at most 16 MiB.")
            return nil
        }
        byteCount += bytes.count
        guard byteCount <= Self.mostBytes else {
            report(here, "The files of a configuration must have at most 128 MiB together.")
            return nil
        }
        // Before anything is parsed.
        let count = AnchorScan.valueCount(in: bytes)
        valueCount += count
        guard count <= Self.mostFileValues, valueCount <= Self.mostValues else {
            report(
                here,
                "A file must have at most \(Self.mostFileValues) values, and all files together \(Self.mostValues) (found "
                    + "\(count) in `\(path)`, and \(valueCount) so far); use `defaults`, or watch the streams in several "
                    + "processes."
            )
            return nil
        }
        do throws(ConfigurationProblem) {
            if let value = try YAMLDocument.read(bytes, file: path) { return value }
            if place == nil {
                report(here, "The configuration must be a mapping with `streams` (found an empty file).")
            }
        } catch {
            report(error.place, error.message)
        }
        return nil
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

/// Where a configuration comes from: the files and folders of which a change may change the configuration.
package struct ConfigurationSources: Hashable, Sendable {
    /// The files that were read, with those that have problems or do not exist.
    package var files: Set<String> = []
    /// The folders in which patterns of includes were looked for.
    package var folders: Set<String> = []

    /// Creates sources without files.
    package init() {}
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
        return (isGood ? .success(reader.configuration) : .failure(reader.error), reader.sources)
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
