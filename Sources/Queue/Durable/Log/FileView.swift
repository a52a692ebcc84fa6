internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What a process sees of the file systems: its mount namespace (mount_namespaces(7)) and its root.
///
/// In a container, in a chroot or in a service with a private `/tmp`, a path is another folder than outside, or is
/// missing.
struct FileView: Equatable {
    /// The inode of the mount namespace.
    let namespace: UInt64
    let root: FileIdentity

    /// The view of this process; nil on a system that does not tell.
    static var current: FileView? {
        guard let namespace = identity(of: "/proc/self/ns/mnt"), let root = identity(of: "/") else { return nil }
        return FileView(namespace: namespace.inode, root: root)
    }

    private static func identity(of path: String) -> FileIdentity? {
        var status = stat()
        return stat(path, &status) == 0 ? FileIdentity(status) : nil
    }
}
