internal import Instrument

/// The path of a file on this machine. The file system is not used, so that a sample gives the same activity on every
/// attempt: the creator of the sample makes the path absolute and resolves its links.
enum LocalFile {
    /// The path of a source, without empty parts, `.` and `..`; nil unless the source is an absolute path or a
    /// `file:` URL of this machine.
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
