import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentFiles

@Suite("Small files")
struct SmallFileTests {
    private func random(_ seed: UInt64) -> RandomSource { RandomSource(SeededGenerator(seed: seed)) }

    @Test("A write replaces the whole file, for the user alone, and leaves nothing beside it")
    func replacing() throws {
        let scratch = try Scratch()
        let path = scratch.file("state")
        #expect(try SmallFile.read(path, atMost: 10) == nil)
        let mask = umask(0)
        try SmallFile.write(Array("a longer text".utf8), to: path)
        umask(0o777)
        try SmallFile.write([1], to: path)
        umask(mask)
        #expect(try SmallFile.read(path, atMost: 1) == [1])
        #expect(scratch.names == ["state"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try SmallFile.write([], to: path)
        #expect(try SmallFile.read(path, atMost: 0) == [])
    }

    @Test("A write goes through no link, and takes another name when its temporary name is taken")
    func takenName() throws {
        let scratch = try Scratch()
        let (path, precious) = (scratch.file("state"), scratch.file("precious"))
        try Data("precious".utf8).write(to: URL(fileURLWithPath: precious))
        try SmallFile.write([1], to: path, randomness: random(7))
        // The name that the same generator gives first.
        let digits = String(random(7).next(), radix: 16)
        let temporary = path + "." + String(repeating: "0", count: 16 - digits.count) + digits + ".new"
        #expect(symlink(precious, temporary) == 0)
        try SmallFile.write([2], to: path, randomness: random(7))
        #expect(try SmallFile.read(path, atMost: 9) == [2])
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
        #expect(scratch.names.count == 3)
        // The write replaces a link in the place of the file, not the link's target.
        try FileManager.default.removeItem(atPath: path)
        #expect(symlink(precious, path) == 0)
        try SmallFile.write([3], to: path)
        #expect(try SmallFile.read(path, atMost: 9) == [3])
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
    }

    @Test("A write in pieces replaces the file once every piece is there")
    func pieces() throws {
        let scratch = try Scratch()
        let path = scratch.file("state")
        try SmallFile.write([9, 9, 9], to: path)
        var left: [[UInt8]] = [[1, 2], [], [3]]
        try SmallFile.write(to: path) {
            #expect((try? SmallFile.read(path, atMost: 9)) == [9, 9, 9])
            return left.isEmpty ? nil : left.removeFirst()
        }
        #expect(try SmallFile.read(path, atMost: 9) == [1, 2, 3])
        #expect(scratch.names == ["state"])
    }

    @Test("A write that fails leaves the old file and nothing beside it")
    func failing() throws {
        let scratch = try Scratch()
        let path = scratch.file("state")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let error = #expect(throws: FileError.self) { try SmallFile.write([1], to: path) }
        #expect(error?.number == EISDIR && error?.description.contains(path) == true)
        #expect(scratch.names == ["state"])
        let missing = #expect(throws: FileError.self) { try SmallFile.write([1], to: scratch.file("no/such")) }
        #expect(missing?.isMissing == true)
    }

    @Test("Of two hundred writers at once one wins with a whole file", arguments: 0..<4)
    func atOnce(round: Int) async throws {
        let scratch = try Scratch()
        let path = scratch.file("state")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in UInt8(0)..<200 {
                group.addTask { try SmallFile.write([UInt8](repeating: writer, count: 10_000), to: path) }
            }
            try await group.waitForAll()
        }
        let bytes = try #require(try SmallFile.read(path, atMost: 10_000))
        #expect(bytes.count == 10_000 && Set(bytes).count == 1)
        #expect(scratch.names == ["state"])
    }

    @Test("A file that is too large is an error, and its beginning can be read")
    func tooLarge() throws {
        let scratch = try Scratch()
        let path = scratch.file("state")
        try SmallFile.write([UInt8](repeating: 7, count: 100_000), to: path)
        #expect(try SmallFile.read(path, atMost: 100_000)?.count == 100_000)
        let error = #expect(throws: FileError.self) { try SmallFile.read(path, atMost: 99_999) }
        #expect(error?.isTooLarge == true)
        #expect(try SmallFile.prefix(of: path, count: 70_000)?.count == 70_000)
        #expect(try SmallFile.prefix(of: path)?.count == 100_000)
    }

    @Test(
        "Something else in the place of a file is an error and never waited for",
        arguments: ["pipe", "folder", "link"]
    )
    func foreign(kind: String) throws {
        let scratch = try Scratch()
        let (path, precious) = (scratch.file("state"), scratch.file("precious"))
        try SmallFile.write([5], to: precious)
        switch kind {
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: #expect(symlink(precious, path) == 0)
        }
        #expect(throws: FileError.self) { try SmallFile.read(path, atMost: 10) }
        if kind == "link" {
            #expect(try SmallFile.read(path, atMost: 10, followsLinks: true) == [5])
        } else {
            #expect(throws: FileError.self) { try SmallFile.read(path, atMost: 10, followsLinks: true) }
        }
        #expect(SystemFile.openRegular(path, O_RDWR | O_CREAT) == -1)
    }

    @Test("Leftovers of a file are recognised by their names and deleted, and nothing else is")
    func leftovers() throws {
        let scratch = try Scratch()
        let kept = ["other.0123456789abcdef.new", "state", "state.0123456789ABCDEF.new", "state.new.txt", "state.old"]
        for name in kept + ["state.new", "state.0123456789abcdef.new"] {
            try SmallFile.write([1], to: scratch.file(name))
        }
        try SmallFile.removeLeftovers(of: scratch.file("state"))
        #expect(scratch.names == kept)
        #expect(SmallFile.replaced(by: ".new") == nil && SmallFile.replaced(by: "new") == nil)
        #expect(SmallFile.replaced(by: ".0123456789abcdef.new") == ".0123456789abcdef")
    }

    @Test("A file that will be replaced gets a second name, a new one for each content, and at most nine")
    func keptAside() throws {
        let scratch = try Scratch()
        let path = scratch.file("state")
        #expect(throws: FileError("keep \(path)", number: ENOENT)) { try SmallFile.keepAside(path) }
        try SmallFile.write([1], to: path)
        #expect(try SmallFile.keepAside(path) == path + ".unreadable")
        #expect(try SmallFile.keepAside(path) == path + ".unreadable")
        try SmallFile.write([2], to: path)
        #expect(try SmallFile.read(path + ".unreadable", atMost: 9) == [1])
        for number in 2...9 {
            #expect(try SmallFile.keepAside(path) == path + ".unreadable-\(number)")
            try SmallFile.write([UInt8(number + 1)], to: path)
        }
        #expect(throws: FileError("keep \(path)", number: EEXIST)) { try SmallFile.keepAside(path) }
        #expect(try SmallFile.read(path + ".unreadable-9", atMost: 9) == [9])
        #expect(try SmallFile.read(path, atMost: 9) == [10])
    }

    @Test("A pipe is special, and a file, a link to a file and nothing are not")
    func special() throws {
        let scratch = try Scratch()
        try SmallFile.write([], to: scratch.file("file"))
        try FileManager.default.createSymbolicLink(atPath: scratch.file("link"), withDestinationPath: "file")
        #expect(mkfifo(scratch.file("pipe"), 0o600) == 0)
        #expect(SystemFile.isSpecial(scratch.file("pipe")))
        for name in ["file", "link", "no"] { #expect(!SystemFile.isSpecial(scratch.file(name))) }
    }

    @Test("The names of a folder are all listed, sorted; a folder that cannot be listed is an error")
    func names() throws {
        let scratch = try Scratch()
        let names = (0..<300).map { "name-\($0)" } + [".hidden", "é"]
        for name in names { try SmallFile.write([], to: scratch.file(name), synchronizesFolder: false) }
        #expect(try Folder.names(in: scratch.path) == names.sorted())
        try Folder.synchronize(scratch.path)
        #expect(throws: FileError("list \(scratch.path)/no", number: ENOENT)) {
            try Folder.names(in: scratch.path + "/no")
        }
        #expect(throws: FileError("list \(scratch.path)/é", number: ENOTDIR)) {
            try Folder.names(in: scratch.path + "/é")
        }
        // A descriptor that cannot be listed is an error, too, and is closed.
        let file = open(scratch.file("é"), O_RDONLY)
        #expect(throws: FileError("list x", number: ENOTDIR)) { try Folder.names(inOpened: file, path: "x") }
        #expect(fcntl(file, F_GETFD) == -1)
    }

    @Test(
        "The parent of a path is its folder",
        arguments: [("/a/b", "/a"), ("/a", "/"), ("a", "."), ("a/b/c", "a/b")]
    )
    func parent(path: String, folder: String) { #expect(Folder.parent(of: path) == folder) }

    @Test("The limit of open files is raised to what the system allows, and never lowered")
    func limit() {
        var before = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
        FileLimit.raise()
        var after = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &after)
        #expect(after.rlim_cur == after.rlim_max && after.rlim_cur >= before.rlim_cur)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
    }
}
