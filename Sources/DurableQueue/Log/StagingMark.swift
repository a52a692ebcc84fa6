internal import Instrument

/// Where a folder's staged records are, in a small file: it stands while a process writes to the folder, and after a crash.
enum StagingMark {
    private static func path(_ folder: String) -> String { folder + "/" + FolderNames.staging }

    /// The path of the staging file; empty if the records were in the process's own memory, nil without a mark.
    static func read(in folder: String) throws(QueueError) -> String? {
        try Directory.text(of: path(folder), atMost: 4096)
    }

    static func write(_ area: StagingArea, in folder: String) throws(QueueError) {
        try Directory.replace(path(folder), by: area.path ?? "")
    }

    static func remove(in folder: String) { Directory.delete(path(folder)) }
}
