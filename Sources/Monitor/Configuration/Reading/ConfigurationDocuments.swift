/// The documents of a configuration as far as they were read: their bounds, and the files and folders that hold them.
struct ConfigurationDocuments {
    private static let mostFiles = 10_000
    private static let mostFileBytes = 16 << 20
    private static let mostBytes = 128 << 20
    /// A parsed value takes some hundred bytes, however few it has in the file.
    private static let mostFileValues = 1_500_000
    private static let mostValues = 4_000_000

    private let files: any ConfigurationFiles
    /// The files and folders that were read, or looked for.
    private(set) var sources = ConfigurationSources()
    private var fileCount = 0
    private var byteCount = 0
    private var valueCount = 0

    init(_ files: any ConfigurationFiles) { self.files = files }

    /// Reads a file; nil for an empty one that is included.
    /// - Parameters:
    ///   - place: where the file is included; nil for the main file.
    ///   - stack: the files that include the file.
    mutating func read(
        _ path: String,
        from place: ConfigurationPlace?,
        stack: [String]
    ) throws(ConfigurationProblem) -> ConfigurationValue? {
        let here = place ?? ConfigurationPlace(file: path, line: 1, column: 1)
        let bytes = try contents(of: path, here, stack: stack)
        // Before anything is parsed.
        let count = AnchorScan.valueCount(in: bytes)
        valueCount += count
        guard count <= Self.mostFileValues, valueCount <= Self.mostValues else {
            throw ConfigurationProblem(
                here,
                "A file must have at most \(Self.mostFileValues) values, and all files together \(Self.mostValues) (found "
                    + "\(count) in `\(path)`, and \(valueCount) so far); use `defaults`, or watch the streams in several "
                    + "processes."
            )
        }
        if let value = try YAMLDocument.read(bytes, file: path) { return value }
        if place != nil { return nil }
        throw ConfigurationProblem(here, "The configuration must be a mapping with `streams` (found an empty file).")
    }

    private mutating func contents(
        of path: String,
        _ here: ConfigurationPlace,
        stack: [String]
    ) throws(ConfigurationProblem) -> [UInt8] {
        if stack.contains(path) {
            throw ConfigurationProblem(
                here,
                "A file must not include itself (found \((stack + [path]).joined(separator: " → "))); remove one include."
            )
        }
        fileCount += 1
        guard fileCount <= Self.mostFiles, stack.count < 16 else {
            throw ConfigurationProblem(
                here,
                "A configuration must have at most \(Self.mostFiles) files, included at most 16 deep."
            )
        }
        sources.files.insert(path)
        guard let bytes = files.contents(of: path, atMost: Self.mostFileBytes) else {
            throw ConfigurationProblem(
                here,
                "Cannot read `\(path)`: the file must exist, be readable, and have at most 16 MiB."
            )
        }
        byteCount += bytes.count
        guard byteCount <= Self.mostBytes else {
            throw ConfigurationProblem(here, "The files of a configuration must have at most 128 MiB together.")
        }
        return bytes
    }

    /// The names of the files in a folder, in which a pattern of an include looks; nil if it cannot be read.
    mutating func names(in folder: String) -> [String]? {
        sources.folders.insert(folder)
        return files.names(in: folder)
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
