internal import Instrument

/// The path of a folder's staging file, in a small file that exists while a process writes to the folder, and after a
/// crash.
enum StagingMark: Hashable {
    /// The records were in a file.
    case file(String)
    /// The records were in the process's memory.
    case memory
    /// The mark is damaged, or something else stands in its place.
    case damaged

    private static func path(_ folder: String) -> String { folder + "/" + FolderNames.staging }

    /// The mark of a folder; nil without one. Sets a damaged mark aside.
    /// - Throws: if the mark exists and cannot be read at the moment.
    static func read(in folder: String) throws(QueueError) -> StagingMark? {
        // Not a mark of the store: the process that wrote one, if any, is unknown.
        if Directory.isForeign(path(folder)) {
            Directory.setAside(path(folder))
            return .damaged
        }
        guard let text = try Directory.text(of: path(folder), atMost: 4096) else { return nil }
        if text.isEmpty { return .memory }
        if StagingArea.isPath(text) { return .file(text) }
        Directory.setAside(path(folder))
        return .damaged
    }

    /// Whether the mark of a folder names a file, or cannot be read. Changes nothing.
    static func mayName(_ file: String, in folder: String) -> Bool {
        do throws(QueueError) { return try Directory.text(of: path(folder), atMost: 4096) == file } catch {
            return true
        }
    }

    /// Whether the mark of a folder names another file. Changes nothing.
    static func namesOther(than file: String, in folder: String) -> Bool {
        guard let text = try? Directory.text(of: path(folder), atMost: 4096) else { return false }
        return StagingArea.isPath(text) && text != file
    }

    /// The random number of the log whose records are in the file; nil if the file cannot be read.
    var logNumber: UInt64? {
        guard case .file(let path) = self else { return nil }
        return (try? StagingArea.open(leftAt: path, log: nil, isLocked: false))?.log
    }

    static func write(_ area: StagingArea, in folder: String) throws(QueueError) {
        try Directory.replace(path(folder), by: area.path ?? "")
    }

    static func remove(in folder: String) { Directory.delete(path(folder)) }
}
