internal import InstrumentFiles

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

    /// A file that describes a system is small: a larger one is something else.
    private static let maxSize = 1 << 20

    private let root: String

    init(root: String) { self.root = root == "/" ? "" : root }

    func path(_ path: String) -> String { root + path }

    /// A file's text without the white space and zeros around it; one that is empty or not UTF-8 is unreadable.
    func text(_ path: String) -> Text {
        let bytes: [UInt8]
        do throws(FileError) {
            // The kernel describes itself through links.
            guard let read = try SmallFile.read(root + path, atMost: Self.maxSize, followsLinks: true) else {
                return .missing
            }
            bytes = read
        } catch {
            return error.isMissing ? .missing : .unreadable
        }
        guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 }),
            let text = String(validating: bytes[first...last], as: UTF8.self)
        else { return .unreadable }
        return .text(text)
    }

    /// The text, if there is one.
    func string(_ path: String) -> String? { if case .text(let text) = text(path) { text } else { nil } }

    func lines(_ path: String) -> [Substring] {
        string(path)?.split(whereSeparator: \.isNewline) ?? []
    }

    func integer(_ path: String) -> Int? { string(path).flatMap { Int($0) } }

    /// The names in a directory, sorted; `x10` comes after `x9`. None if the directory cannot be read.
    func names(in path: String) -> [String] {
        let names = (try? Folder.names(in: root + path)) ?? []
        return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    /// Whether any user may write to a directory, and not only to their own files in it.
    func isWritableByAnybody(_ path: String) -> Bool {
        var status = stat()
        guard stat(root + path, &status) == 0 else { return false }
        return status.st_mode & 0o002 != 0 && status.st_mode & 0o1000 == 0
    }
}
