internal import Instrument
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Deletes the staging areas of ended processes whose folders were deleted: no start would find them.
///
/// Keeps an area in doubt: if its volume is not mounted, if its folder was renamed beside its old place, if the folder
/// that is there now refers to it, or if its process saw other file systems than this one, as in a container.
enum StagingSweep {
    static func run(in directory: String) {
        guard let view = FileView.current else { return }
        for path in StagingArea.paths(in: directory) {
            // An area in use is locked.
            guard let area = try? StagingArea.open(leftAt: path, log: nil, isLocked: false),
                area.view == view, isAbandoned(area, at: path), area.lock()
            else {
                continue
            }
            for sibling in (try? StagingArea.siblings(of: path)) ?? [] { Directory.delete(sibling) }
            area.delete()
        }
    }

    private static func isAbandoned(_ area: StagingArea, at path: String) -> Bool {
        let folder = area.folderPath
        // An earlier version did not write the path.
        if !folder.hasPrefix("/") { return false }
        do throws(SystemError) {
            if let found = try identity(of: folder) {
                // The folder, on a device with another number, or a new one in its place.
                return found.inode == area.folderIdentity.inode
                    ? StagingMark.namesOther(than: path, in: folder) : !StagingMark.mayName(path, in: folder)
            }
            return try isDeleted(folder, area.folderIdentity, path)
        } catch {
            return false
        }
    }

    /// Whether a folder that is missing was on a volume that is mounted, and was not renamed. A new folder may have got
    /// its number: then it has a separate mark.
    private static func isDeleted(
        _ folder: String,
        _ identity: FileIdentity,
        _ path: String
    ) throws(SystemError) -> Bool {
        var (missing, parent) = (folder, Folder.parent(of: folder))
        while try Self.identity(of: parent) == nil, parent != "/" {
            (missing, parent) = (parent, Folder.parent(of: parent))
        }
        guard try Self.identity(of: parent)?.device == identity.device else { return false }
        guard let names = try? Directory.entries(of: parent) else { return false }
        let rest = folder.dropFirst(missing.count)
        for found in names.map({ parent + "/" + $0 + rest }) where try Self.identity(of: found) == identity {
            if !StagingMark.namesOther(than: path, in: found) { return false }
        }
        return true
    }

    /// The identity of the file at a path; nil if the path does not exist.
    private static func identity(of path: String) throws(SystemError) -> FileIdentity? {
        var status = stat()
        if lstat(path, &status) == 0 { return FileIdentity(status) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw SystemError(errno)
    }
}
