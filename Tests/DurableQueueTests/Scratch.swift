import Foundation

/// A directory that is gone after the test.
final class Scratch: Sendable {
    let path: String
    init() throws {
        path = NSTemporaryDirectory() + "instrument-queue-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The files below it with one of the endings.
    func files(_ endings: String...) -> [String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in endings.contains { name.hasSuffix($0) } }.sorted().map { path + "/" + $0 }
    }
}
