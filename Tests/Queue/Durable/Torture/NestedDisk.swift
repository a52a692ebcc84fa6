import Foundation

/// A file system whose power can be cut, and which can hang: an ext4 on a loop device, whose backing file lies in
/// another ext4 on another loop device.
///
/// While the outer file system is frozen, no write reaches the backing file: a copy of it is the state after a loss of
/// power, without a flush. All files are in a folder of this process, on a separate tmpfs: see ``MountGuard`` for the
/// end.
final class NestedDisk: Sendable {
    /// The reason for which such a disk is not possible here.
    struct Unavailable: Error {
        let reason: String
    }

    enum Level: Sendable {
        /// The file system under test.
        case inner
        /// The file system that contains the block device of the inner one.
        case outer
    }

    private let base: String
    private let cleanup: MountGuard
    /// The mount point of the file system under test.
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

    /// Flushes the level's cache to the level below, and blocks writes from now on.
    func freeze(_ level: Level) throws { try Shell.run("fsfreeze", "--freeze", mount(level)) }

    func thaw(_ level: Level) throws { try Shell.run("fsfreeze", "--unfreeze", mount(level)) }

    /// Copies the state after a loss of power at this moment, and calls `whileFrozen` at that moment. Returns the copy.
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

    /// Mounts a copy, which replays its journal, runs `body`, and deletes the copy.
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
