internal import Foundation

/// A directory that is deleted with this value.
public final class Scratch: Sendable {
    /// Where the directory is; short, because the path of a socket may lie in it.
    public let path: String

    /// The temporary directory, or `/tmp/` where the path of a socket in the former would be too long: at most 107
    /// bytes on Linux (unix(7)), 103 on Apple platforms.
    private static let shortFolder = NSTemporaryDirectory().utf8.count <= 60 ? NSTemporaryDirectory() : "/tmp/"

    /// Creates an empty directory.
    public init() throws {
        path = Self.shortFolder + "instrument-\(UUID().uuidString.prefix(12))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a name in the directory.
    public func file(_ name: String) -> String { path + "/" + name }

    /// The bytes of a file in the directory; none if it cannot be read.
    public func bytes(_ name: String) -> [UInt8] { Array(FileManager.default.contents(atPath: file(name)) ?? Data()) }

    /// The names in the directory, sorted.
    public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    /// The paths of all files below the directory that have one of these endings.
    public func files(_ endings: String...) -> [String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in endings.contains { name.hasSuffix($0) } }.sorted().map { path + "/" + $0 }
    }
}
