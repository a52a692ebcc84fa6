internal import Foundation

/// A file of this project that a test compares with what the code makes of it.
public struct ProjectFile: Sendable {
    /// The path.
    public let path: String

    /// Creates a file from its path in the project.
    public init(_ path: String) {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        self.path = root.appending(path: path).standardizedFileURL.path
    }

    /// Returns the text of the file.
    public func text() throws -> String { try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self) }

    /// Returns the text of the file. With `UPDATE_GOLDEN` in the environment, writes `text` first: review the
    /// difference before you commit it.
    public func text(updating text: String) throws -> String {
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try Data(text.utf8).write(to: URL(filePath: path))
        }
        return try self.text()
    }
}
