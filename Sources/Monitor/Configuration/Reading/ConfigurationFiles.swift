internal import InstrumentFiles

/// The files of a configuration.
package protocol ConfigurationFiles: Sendable {
    /// Returns the content of a file; nil if the file cannot be read or is larger than `limit`.
    func contents(of path: String, atMost limit: Int) -> [UInt8]?
    /// Returns the names of the files in a folder; nil if the folder cannot be read.
    func names(in folder: String) -> [String]?
}

/// Files of the system.
package struct SystemConfigurationFiles: ConfigurationFiles {
    /// Creates an access to the files.
    package init() {}

    /// Returns the content of a file; symbolic links are followed, as service managers use them.
    package func contents(of path: String, atMost limit: Int) -> [UInt8]? {
        try? SmallFile.read(path, atMost: limit, followsLinks: true)
    }

    /// Returns the names of the files in a folder.
    package func names(in folder: String) -> [String]? { try? Folder.names(in: folder) }
}

/// A pattern of file names: `*` matches any text, `?` one character.
struct NamePattern {
    let text: String

    var isLiteral: Bool { !text.contains { $0 == "*" || $0 == "?" } }

    func matches(_ name: String) -> Bool {
        // A hidden file needs a pattern that names the point.
        if name.hasPrefix("."), !text.hasPrefix(".") { return false }
        let (pattern, letters) = (Array(text), Array(name))
        var (p, n, star, mark) = (0, 0, -1, 0)
        while n < letters.count {
            if p < pattern.count, pattern[p] != "*", pattern[p] == letters[n] || pattern[p] == "?" {
                (p, n) = (p + 1, n + 1)
            } else if p < pattern.count, pattern[p] == "*" {
                (star, mark, p) = (p, n, p + 1)
            } else if star >= 0 {
                (p, mark) = (star + 1, mark + 1)
                n = mark
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }
}
