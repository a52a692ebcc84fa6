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
        guard let namespace = try? FileIdentity(of: "/proc/self/ns/mnt"), let root = try? FileIdentity(of: "/") else {
            return nil
        }
        return FileView(namespace: namespace.inode, root: root)
    }
}
