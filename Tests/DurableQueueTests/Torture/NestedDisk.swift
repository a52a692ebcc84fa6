import Foundation

/// A file system whose power can be cut, and which can hang: an ext4 on a loop device, whose backing file lies in another
/// ext4 on another loop device.
///
/// While the outer file system is frozen, no write reaches the backing file: a copy of it is what a loss of power would
/// leave, with nothing flushed for its sake. Everything lies in a folder of this process, on a separate tmpfs: see
/// ``MountGuard`` for the end.
final class NestedDisk: Sendable {
    /// Why there can be no such disk here.
    struct Unavailable: Error {
        let reason: String
    }

    enum Level: Sendable {
        /// The file system under test.
        case inner
        /// The one in which the block device of the inner one lies.
        case outer
    }

    private let base: String
    private let cleanup: MountGuard
    /// Where the file system under test is mounted.
    let path: String
    /// A folder outside both file systems.
    let files: String

    private var outer: String { base + "/outer" }
    private var image: String { outer + "/disk" }

    init() throws {
        if geteuid() != 0 { throw Unavailable(reason: "mounting needs root") }
        if access("/dev/loop-control", F_OK) != 0 { throw Unavailable(reason: "there are no loop devices") }
        base = NSTemporaryDirectory() + "instrument-torture-\(getpid())-\(UUID().uuidString.prefix(8))"
        (path, files) = (base + "/inner", base + "/files")
        try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: true)
        cleanup = try MountGuard(base)
        do {
            try Shell.run("mount", "-t", "tmpfs", "none", base)
            try Shell.run("mkdir", base + "/outer", base + "/inner", base + "/files")
            try Shell.run("truncate", "-s", "320M", base + "/outer.image")
            try Shell.run("mkfs.ext4", "-q", "-F", base + "/outer.image")
            try Shell.run("mount", "-o", "loop,noatime", base + "/outer.image", outer)
            try Shell.run("truncate", "-s", "96M", image)
            try Shell.run("mkfs.ext4", "-q", "-F", image)
            try Shell.run("mount", "-o", "loop,noatime", image, path)
            try Shell.run("fsfreeze", "--freeze", outer)
            try Shell.run("fsfreeze", "--unfreeze", outer)
        } catch {
            cleanup.end()
            throw Unavailable(reason: "\(error)")
        }
    }

    deinit { cleanup.end() }

    private func mount(_ level: Level) -> String { level == .inner ? path : outer }

    /// Writes wait from now on. Writes what the level itself has cached to the level below.
    func freeze(_ level: Level) throws { try Shell.run("fsfreeze", "--freeze", mount(level)) }

    func thaw(_ level: Level) throws { try Shell.run("fsfreeze", "--unfreeze", mount(level)) }

    /// Copies what a loss of power at this moment would leave, and calls `whileFrozen` at that moment. Returns the copy.
    func cutPower(name: String, whileFrozen: () -> Void) throws -> String {
        let copy = files + "/" + name
        try freeze(.outer)
        do {
            defer { try? thaw(.outer) }
            whileFrozen()
            try Shell.run("cp", "--sparse=always", image, copy)
        }
        return copy
    }

    /// Mounts a copy, which replays its journal, for the time of `body`; then deletes it.
    func withMounted<Value>(copy: String, _ body: (String) throws -> Value) throws -> Value {
        let mount = copy + ".mount"
        try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
        try Shell.run("mount", "-o", "loop,noatime", copy, mount)
        defer {
            try? Shell.run("umount", mount)
            try? FileManager.default.removeItem(atPath: copy)
        }
        return try body(mount)
    }
}
