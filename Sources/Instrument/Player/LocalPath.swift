#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The one name of a local file, however it was given: absolute, without `.` and `..`, and with links resolved.
package enum LocalPath {
    /// The canonical path. A relative path counts from `directory`, or from that of this process.
    ///
    /// Asks the file system. Where the file, or its directory, cannot be looked at, links stay unresolved.
    package static func canonical(_ path: String, in directory: String? = nil) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else { return path }
        let absolute = path.hasPrefix("/") ? path : (directory ?? workingDirectory) + "/" + path
        if let resolved = resolved(absolute) { return resolved }
        let plain = withoutDots(absolute)
        guard let slash = plain.lastIndex(of: "/"), let parent = resolved(String(plain[...slash])) else { return plain }
        return (parent == "/" ? "" : parent) + plain[slash...]
    }

    /// The path without empty parts, `.` and `..`, none of which is looked up.
    package static func withoutDots(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    private static var workingDirectory: String {
        guard let buffer = getcwd(nil, 0) else { return "" }
        defer { free(buffer) }
        return String(cString: buffer)
    }

    private static func resolved(_ path: String) -> String? {
        guard let buffer = realpath(path, nil) else { return nil }
        defer { free(buffer) }
        return String(validatingCString: buffer)
    }
}
