#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The files in which a system describes itself, below a root that tests put elsewhere.
struct FileTree: Sendable {
    enum Text: Hashable, Sendable {
        case text(String)
        case missing
        case unreadable
    }

    private let root: String

    init(root: String) { self.root = root == "/" ? "" : root }

    func path(_ path: String) -> String { root + path }

    /// A file's text without the white space and zeros around it; one that is empty or not UTF-8 is unreadable.
    func text(_ path: String) -> Text {
        switch SmallFile.read(root + path) {
        case .missing: return .missing
        case .unreadable: return .unreadable
        case .contents(let bytes):
            let isBlank: (UInt8) -> Bool = { $0 <= 0x20 }
            guard let first = bytes.firstIndex(where: { !isBlank($0) }),
                let last = bytes.lastIndex(where: { !isBlank($0) }),
                let text = String(validating: bytes[first...last], as: UTF8.self)
            else { return .unreadable }
            return .text(text)
        }
    }

    /// The text, if there is one.
    func string(_ path: String) -> String? { if case .text(let text) = text(path) { text } else { nil } }

    func lines(_ path: String) -> [Substring] {
        string(path)?.split(whereSeparator: \.isNewline) ?? []
    }

    func integer(_ path: String) -> Int? { string(path).flatMap { Int($0) } }

    /// The names in a directory, sorted; `x10` comes after `x9`.
    func names(in path: String) -> [String] {
        guard let directory = opendir(root + path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: UInt8.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(decodingCString: $0, as: UTF8.self)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    /// Whether everybody may write to a directory, and not only to files of their own in it.
    func isWritableByAnybody(_ path: String) -> Bool {
        var status = stat()
        guard stat(root + path, &status) == 0 else { return false }
        return status.st_mode & 0o002 != 0 && status.st_mode & 0o1000 == 0
    }
}
