internal import Instrument

/// The path of a folder's staging file, in a small file that exists while a process writes to the folder, and after a
/// crash.
enum StagingMark {
    private static func path(_ folder: String) -> String { folder + "/" + FolderNames.staging }

    /// The path of the staging file; empty if the records were in the process's memory, nil without a mark.
    static func read(in folder: String) throws(QueueError) -> String? {
        // Not a mark of the store: the process that wrote one, if any, is unknown.
        if Directory.isForeign(path(folder)) {
            Directory.setAside(path(folder))
            return ""
        }
        return try Directory.text(of: path(folder), atMost: 4096)
    }

    static func write(_ area: StagingArea, in folder: String) throws(QueueError) {
        try Directory.replace(path(folder), by: area.path ?? "")
    }

    static func remove(in folder: String) { Directory.delete(path(folder)) }
}
