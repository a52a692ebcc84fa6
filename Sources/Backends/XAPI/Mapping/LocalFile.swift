internal import Instrument

/// The path of a file on this machine. Asks no file system, so that a sample gives the same activity wherever and whenever it
/// is sent: that a path is absolute and its links are resolved is for whoever made the sample.
enum LocalFile {
    /// The path that a source means, without empty parts, `.` and `..`; nil if it is no absolute path and no `file:` URL of
    /// this machine.
    static func path(of source: String) -> String? {
        if source.hasPrefix("/") { return withoutDots(source) }
        guard source.prefix(5).lowercased() == "file:" else { return nil }
        var rest = source.dropFirst(5).prefix { $0 != "?" && $0 != "#" }
        if rest.hasPrefix("//") {
            let host = rest.dropFirst(2).prefix { $0 != "/" }
            guard host.isEmpty || host.lowercased() == "localhost" else { return nil }
            rest = rest[host.endIndex...]
        }
        let path = String(decoding: PercentCoding.decoded(rest), as: UTF8.self)
        return path.hasPrefix("/") ? withoutDots(path) : nil
    }

    private static func withoutDots(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
