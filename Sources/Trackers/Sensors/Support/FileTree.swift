internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The files that describe a system, below a root that tests replace.
struct FileTree: Sendable {
    enum Text: Hashable, Sendable {
        case text(String)
        case missing
        case unreadable
    }

    /// The limit of a file: files that describe a system are small.
    private static let maxSize = 1 << 20

    private let root: String

    init(root: String) { self.root = root == "/" ? "" : root }

    func path(_ path: String) -> String { root + path }

    /// Returns a file's text without surrounding white space and zeros; an empty file or one that is not UTF-8 is
    /// unreadable.
    func text(_ path: String) -> Text {
        let bytes: [UInt8]
        do throws(FileError) {
            // The kernel's description contains links.
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

    /// The text; nil without one.
    func string(_ path: String) -> String? { if case .text(let text) = text(path) { text } else { nil } }

    func lines(_ path: String) -> [Substring] {
        string(path)?.split(whereSeparator: \.isNewline) ?? []
    }

    func integer(_ path: String) -> Int? { string(path).flatMap { Int($0) } }

    /// Returns the names in a directory, sorted, `x10` after `x9`; empty if the directory cannot be read.
    func names(in path: String) -> [String] {
        let names = (try? Folder.names(in: root + path)) ?? []
        return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    /// Whether every user may write to a directory, and not only to their own files in it.
    func isWritableByAnybody(_ path: String) -> Bool {
        var status = stat()
        guard stat(root + path, &status) == 0 else { return false }
        return status.st_mode & 0o002 != 0 && status.st_mode & 0o1000 == 0
    }
}
