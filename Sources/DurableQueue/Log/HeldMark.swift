internal import Instrument

/// The first held sample of a directory's log, in a separate small file: it must not be lost with a damaged database.
enum HeldMark {
    private static func path(_ directory: String) -> String { directory + "/" + FolderNames.held }

    /// The mark; nil if no mark was written. An unreadable mark holds everything: too much is better than too little here.
    /// - Throws: if there is a mark and the file cannot be read.
    static func read(in directory: String) throws(QueueError) -> UInt64? {
        // What is no file says nothing, and was put there for something.
        if let status = Directory.status(of: path(directory)), !Directory.isFile(status) { return 0 }
        return try Directory.text(of: path(directory), atMost: 64).map { UInt64($0) ?? 0 }
    }

    /// Keeps a mark; it survives a loss of power once this has returned.
    static func write(_ first: UInt64, in directory: String) throws(QueueError) {
        try Directory.replace(path(directory), by: String(first))
    }

    static func remove(in directory: String) throws(QueueError) { try Directory.deleteForGood(path(directory)) }
}
