internal import Instrument

/// The first held sample of a directory's log, in a separate small file: it must not be lost with a damaged database.
enum HeldMark {
    private static func path(_ directory: String) -> String { directory + "/" + FolderNames.held }

    /// The mark; nil without a file. An invalid mark holds all samples, so that no held sample is sent.
    /// - Throws: if the file exists and cannot be read.
    static func read(in directory: String) throws(QueueError) -> UInt64? {
        // Not a mark of the store.
        if Directory.isForeign(path(directory)) { return 0 }
        return try Directory.text(of: path(directory), atMost: 64).map { UInt64($0) ?? 0 }
    }

    /// Saves a mark. Once this method returns, the mark survives a loss of power.
    static func write(_ first: UInt64, in directory: String) throws(QueueError) {
        try Directory.replace(path(directory), by: String(first))
    }

    static func remove(in directory: String) throws(QueueError) { try Directory.deleteForGood(path(directory)) }
}
