internal import Instrument

/// From which sample on a directory's log is held, in a small file of its own: it must not be lost with a damaged database.
enum HeldMark {
    private static func path(_ directory: String) -> String { directory + "/" + FolderNames.held }

    /// The mark; nil if there is none. One that cannot be read holds everything: too much is better than too little here.
    static func read(in directory: String) -> UInt64? {
        guard Directory.exists(path(directory)) else { return nil }
        return Directory.contents(of: path(directory)).flatMap { UInt64($0) } ?? 0
    }

    /// Keeps a mark; it survives a loss of power once this has returned.
    static func write(_ first: UInt64, in directory: String) throws(QueueError) {
        try Directory.replace(path(directory), by: String(first))
    }

    static func remove(in directory: String) throws(QueueError) { try Directory.deleteForGood(path(directory)) }
}
