import Foundation

/// Thaws, unmounts and deletes the content of a folder, at its own end or at any end of this process.
///
/// A shell waits for the end of a pipe whose other end this process has.
final class MountGuard: Sendable {
    private static let script = """
        cat >/dev/null
        mounts=$(awk -v base="$0/" 'index($2 "/", base) == 1 { print $2 }' /proc/mounts)
        for mount in $mounts; do fsfreeze --unfreeze "$mount" 2>/dev/null; done
        for mount in $(echo "$mounts" | tac); do umount "$mount" 2>/dev/null || umount -l "$mount"; done
        rm -rf --one-file-system "$0"
        """

    private let process: Process
    private let pipe: Int32

    init(_ folder: String) throws {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw Shell.Failure(description: "cannot make a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipe = ends[1]
        process = Shell.process(["sh", "-c", Self.script, folder])
        process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// Cleans up, and waits for the end of the cleanup. Call it once.
    func end() {
        close(pipe)
        process.waitUntilExit()
    }
}
