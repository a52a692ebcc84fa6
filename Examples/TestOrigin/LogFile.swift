internal import ArgumentParser
internal import Dispatch
internal import Foundation

/// A file that lines are appended to, on a queue of its own: no connection waits for the disk.
final class LogFile: Sendable {
    private let queue = DispatchQueue(label: "test-origin.log")
    /// Used on the queue alone.
    private let file: FileHandle

    init(path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw ValidationError("The log cannot be written to \(path).")
        }
        _ = try file.seekToEnd()
        self.file = file
    }

    func append(_ line: String) { queue.async { try? self.file.write(contentsOf: Data((line + "\n").utf8)) } }

    func close() { queue.sync { try? file.close() } }
}
