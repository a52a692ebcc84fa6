internal import Instrument

/// The consent that applies to a queue's directory, in a small file. It belongs to the directory, not to a process.
enum ConsentMark {
    private static func path(_ directory: String) -> String { directory + "/consent" }

    /// The consent; granted without a file, pending if the file has an invalid content.
    /// - Throws: if the file exists and cannot be read.
    static func read(in directory: String) throws(QueueError) -> Consent {
        // Not a mark of the store: nothing is sent until somebody decides.
        if Directory.isForeign(path(directory)) { return .pending }
        guard let text = try Directory.text(of: path(directory), atMost: 64) else { return .granted }
        return Consent(rawValue: text) ?? .pending
    }

    /// Saves a consent. Once this method returns, the consent survives a loss of power.
    static func write(_ consent: Consent, in directory: String) throws(QueueError) {
        if Directory.isForeign(path(directory)) {
            Directory.setAside(path(directory))
        } else if try read(in: directory) == consent {
            return
        }
        try Directory.replace(path(directory), by: consent.rawValue)
    }
}
