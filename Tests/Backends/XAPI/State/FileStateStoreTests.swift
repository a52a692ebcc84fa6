import Foundation
import Testing

@testable import InstrumentXAPI

@Suite("File state store")
struct FileStateStoreTests {
    @Test("A state is not read or written through links, and a pipe in its place is an error")
    func foreign() throws {
        let directory = StateDirectory()
        try directory.store.save([1], under: "key")
        let (path, precious) = (
            directory.path + "/" + (try #require(directory.files.first)), directory.path + "/precious"
        )
        try Data("precious".utf8).write(to: URL(fileURLWithPath: precious))
        #expect(symlink(precious, path + ".new") == 0)
        try directory.store.save([2], under: "key")
        #expect(try directory.store.load("key") == [2])
        try FileManager.default.removeItem(atPath: path)
        #expect(symlink(precious, path) == 0)
        #expect(throws: XAPIStateError.self) { try directory.store.load("key") }
        // The write replaces the link, not its target.
        try directory.store.save([3], under: "key")
        #expect(try directory.store.load("key") == [3])
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: XAPIStateError.self) { try directory.store.load("key") }
        // A copy that a crash left is as personal as the state.
        try Data("copy".utf8).write(to: URL(fileURLWithPath: path + ".0123456789abcdef.new"))
        try directory.store.removeAll()
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
        #expect(directory.files == ["precious"])
    }
}
