import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentDurableQueue

/// Files of other programs in a queue's directory: links, pipes, directories, other names.
@Suite("Foreign files in a queue's directory")
struct ForeignFileTests {
    let scratch: Scratch
    let queue: String
    let target: String

    init() throws {
        scratch = try Scratch()
        (queue, target) = (scratch.path + "/queue", scratch.path + "/target")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        for name in Self.targetNames { try Data("precious".utf8).write(to: URL(fileURLWithPath: target + "/" + name)) }
    }

    /// Includes names of the store: a link to such a file does not make it a file of the store.
    static let targetNames = ["diary", "lock", "0000000000000000.segment", "bookkeeping.sqlite", "spare", "held"]

    /// Every path in a directory with its kind, mode, times and contents.
    static func state(_ path: String) -> [String: String] {
        var state: [String: String] = [:]
        for name in FileManager.default.enumerator(atPath: path)?.compactMap({ $0 as? String }) ?? [] {
            var status = stat()
            guard lstat(path + "/" + name, &status) == 0 else { continue }
            let times = (status.st_mtim, status.st_ctim)
            let isFile = status.st_mode & S_IFMT == S_IFREG
            let bytes = isFile ? FileManager.default.contents(atPath: path + "/" + name)?.hashValue ?? 0 : 0
            state[name] = "\(status.st_mode) \(status.st_ino) \(status.st_size) \(times) \(bytes)"
        }
        return state
    }

    func open(_ said: Lock<[Diagnostic]> = Lock([])) throws -> DurableStore {
        try DurableStore(
            directory: queue,
            configuration: DurableConfiguration(segmentSize: 4096),
            randomness: RandomSource(),
            stagingDirectory: scratch.stagingDirectory,
            report: { diagnostic in said.withLock { $0.append(diagnostic) } }
        )
    }

    /// Emits, delivers and drains, so that the store deletes all files that it can delete.
    func use(_ store: DurableStore, _ count: Int = 100) throws {
        store.attach("one")
        for number in 0..<count { _ = try store.append([NumberedSamples.sample(number)]) }
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == Array(0..<count))
        store.close()
    }

    func makeQueue() throws {
        try use(open())
    }

    @Test(
        "A link, a file or a foreign directory named like a folder is left unchanged, and so is its target",
        arguments: [
            "00000001.queue", "0000000a.queue", "ffffffff.queue", "ffffffffffffffff.queue", "x.queue", ".queue",
        ]
    )
    func folders(name: String) throws {
        try FileManager.default.createDirectory(atPath: queue, withIntermediateDirectories: true)
        let path = queue + "/" + name
        for kind in ["link", "dangling", "loop", "file", "pipe", "directory"] {
            switch kind {
            case "link": #expect(symlink(target, path) == 0)
            case "dangling": #expect(symlink(scratch.path + "/nothing", path) == 0)
            case "loop": #expect(symlink(path, path) == 0)
            case "file": try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            case "pipe": #expect(mkfifo(path, 0o600) == 0)
            default:
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/diary"))
            }
            let before = (Self.state(target), Self.state(path), Self.state(queue)[name])
            for _ in 0..<3 { try use(open()) }
            #expect(QueueFolder.folders(in: queue).allSatisfy { $0.path != path } || kind == "directory")
            let after = (Self.state(target), Self.state(path), Self.state(queue)[name])
            #expect(after == before, "\(kind) \(name)")
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/nothing"))
    }

    @Test(
        "A link, a pipe or a directory in the place of a folder's file loses only the content of that file",
        arguments: [
            "lock", "held", "spare", "staging", "moved", "bookkeeping.sqlite", "bookkeeping.sqlite-wal",
            "bookkeeping.sqlite-shm",
            "bookkeeping.sqlite-journal", "0000000000000000.segment", "00000000000003e8.segment",
            "00000000000003e9.segment", "held.new", "held.0123456789abcdef.new",
            "0000000000000000.segment.new", "0000000000000000.segment.0123456789abcdef.new",
            "bookkeeping.sqlite.damaged",
        ]
    )
    func files(name: String) throws {
        for kind in ["link", "dangling", "hard link", "pipe", "directory", "device"] {
            try? FileManager.default.removeItem(atPath: queue)
            let first = try open()
            first.attach("one")
            _ = try first.append([NumberedSamples.sample(0)])
            first.close()
            let folder = try #require(QueueFolder.folders(in: queue).first).path
            let path = folder + "/" + name
            try? FileManager.default.removeItem(atPath: path)
            let precious = target + "/" + (Self.targetNames.contains(name) ? name : "diary")
            switch kind {
            case "link": #expect(symlink(precious, path) == 0)
            case "dangling": #expect(symlink(scratch.path + "/nothing", path) == 0)
            case "hard link": #expect(Foundation.link(precious, path) == 0)
            case "pipe": #expect(mkfifo(path, 0o600) == 0)
            case "device":
                // Needs the permission to create devices.
                if mknod(path, S_IFCHR | 0o600, 0x0103) != 0 { continue }
            default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            let before = Self.contents(target)
            let store = try open()
            store.attach("one")
            // More than a segment, so that every name is needed.
            for number in 1..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
            let numbers = NumberedSamples.numbers(NumberedSamples.drain(store))
            #expect(numbers.suffix(199) == Array(1..<200), "\(kind) \(name): \(numbers)")
            let ledger = store.ledger(of: "one")
            #expect(ledger.emitted == ledger.acknowledged + ledger.queued + ledger.dead + ledger.dropped)
            store.close()
            #expect(Self.contents(target) == before, "\(kind) \(name)")
            #expect(!FileManager.default.fileExists(atPath: scratch.path + "/nothing"))
        }
    }

    @Test(
        "Anything but a file in the place of the consent holds the samples until somebody decides",
        arguments: ["link", "pipe", "directory"]
    )
    func consent(kind: String) throws {
        try makeQueue()
        let path = queue + "/consent"
        switch kind {
        case "link": #expect(symlink(target + "/diary", path) == 0)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let before = Self.contents(target)
        let store = try open()
        #expect(store.consent == .pending)
        try store.release()
        store.close()
        #expect(try open().consent == .granted)
        #expect(Self.contents(target) == before)
    }

    static func contents(_ path: String) -> [String: Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: path + "/" + $0) ?? Data()) }
        )
    }

    @Test("A drained folder with foreign files loses only the store's files")
    func mixedFolder() throws {
        try makeQueue()
        let other = queue + "/00000001.queue"
        let mine = [other + "/diary", other + "/0000.segment", other + "/lock.txt", other + "/deep"]
        for path in mine.dropLast() { try Data("mine".utf8).write(to: URL(fileURLWithPath: path)) }
        try FileManager.default.createDirectory(atPath: other + "/deep", withIntermediateDirectories: true)
        // A second folder, so that the first one is adopted and drained.
        let second = queue + "/00000002.queue"
        try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: true)
        let said = Lock<[Diagnostic]>([])
        let store = try open(said)
        store.attach("one")
        store.forget("two")
        #expect(store.ledger(of: "one").acknowledged == 100)
        store.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: other).sorted() == [
                "0000.segment", "deep", "diary", "lock.txt",
            ]
        )
        #expect(said.withLock { $0 }.contains { "\($0)".contains("it holds files of others") })
        let again = try open()
        #expect(again.ledger(of: "one").acknowledged == 100)
    }

    @Test("The directory of a store may be a link")
    func linkToDirectory() throws {
        let link = scratch.path + "/link"
        #expect(symlink(queue, link) == 0)
        try makeQueue()
        let store = try DurableStore(directory: link)
        #expect(store.ledger(of: "one").acknowledged == 100)
    }

    @Test("A directory that other users can write to is reported, and only the user can access files, with any mask")
    func permissions() throws {
        try FileManager.default.createDirectory(atPath: queue, withIntermediateDirectories: true)
        for (mode, isReported) in [(0o700, false), (0o755, false), (0o770, true), (0o777, true), (0o1777, true)] {
            chmod(queue, mode_t(mode))
            let said = Lock<[Diagnostic]>([])
            let store = try open(said)
            #expect(said.withLock { !$0.isEmpty } == isReported, "\(String(mode, radix: 8))")
            // An earlier version or SQLite may have created files with these permissions.
            for path in FileManager.default.enumerator(atPath: queue)?.compactMap({ $0 as? String }) ?? [] {
                chmod(queue + "/" + path, path.hasSuffix(".queue") ? 0o755 : 0o644)
            }
            store.close()
        }
        chmod(queue, 0o700)
        let store = try open()
        store.attach("one")
        for number in 0..<200 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.hold()
        _ = store.next(for: "one", maxCount: 1, maxBytes: .max)
        for path in FileManager.default.enumerator(atPath: queue)?.compactMap({ $0 as? String }) ?? [] {
            var status = stat()
            #expect(lstat(queue + "/" + path, &status) == 0)
            #expect(status.st_mode & 0o777 == (path.hasSuffix(".queue") ? 0o700 : 0o600), "\(path)")
        }
        #expect(scratch.files("-wal", "held", "lock", ".segment").count >= 4)
        store.close()
    }

    @Test("A folder of another user is left unchanged")
    func otherUser() throws {
        try makeQueue()
        let folder = queue + "/00000001.queue"
        // Needs the permission to change the owner of files.
        guard chown(folder, 12345, 12345) == 0 else { return }
        let before = Self.state(folder)
        let said = Lock<[Diagnostic]>([])
        try use(open(said))
        #expect(Self.state(folder) == before)
        #expect(said.withLock { $0 }.contains { "\($0)".contains("another user") })
    }

    @Test("A name belongs to the store only in the form that the store writes")
    func names() {
        #expect(FolderNames.folderNumber("0000001f.queue") == 31)
        #expect(FolderNames.folderNumber("100000000.queue") == 1 << 32)
        for name in [
            "0000001F.queue", "1f.queue", "000000001.queue", "0000001f.queue2", "ffffffffffffffff.queue",
            "+000001f.queue",
        ] {
            #expect(FolderNames.folderNumber(name) == nil, "\(name)")
        }
        #expect(FolderNames.segmentNumber(FolderNames.segment(77)) == 77)
        for name in [
            "ffffffffffffffff.segment", "0000.segment", "000000000000000A.segment", "-000000000000001.segment",
        ] {
            #expect(FolderNames.segmentNumber(name) == nil, "\(name)")
        }
        let ours = [
            "0000000000000001.segment.damaged", "spare.new", "held", "0000000000000000.segment.damaged-12",
            "bookkeeping.sqlite-wal.damaged-3", "bookkeeping.sqlite-shm", "lock",
        ]
        #expect(
            FolderNames.inOrderOfDeletion(["diary", "lock.txt", "spare.damaged-", "held.damaged.x"] + ours.reversed())
                .count == 7
        )
        #expect(FolderNames.inOrderOfDeletion(ours).last == "lock")
        let replacements = ["held.0123456789abcdef.new", "held.new", "0000000000000001.segment.0123456789abcdef.new"]
        let foreign = ["diary.new", "held.0123456789ABCDEF.new", "diary.0123456789abcdef.new", "held"]
        #expect((replacements + foreign).filter(FolderNames.isReplacement) == replacements)
    }
}
