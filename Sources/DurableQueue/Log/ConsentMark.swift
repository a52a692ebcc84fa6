internal import Instrument

/// The consent that a queue's directory is under, in a small file: it belongs to the directory, whoever opens it next.
enum ConsentMark {
    private static func path(_ directory: String) -> String { directory + "/consent" }

    /// The consent; granted if nobody said anything. A file that makes no sense counts as no answer yet.
    /// - Throws: if there is a file and it cannot be read.
    static func read(in directory: String) throws(QueueError) -> Consent {
        guard let text = try Directory.text(of: path(directory), atMost: 64) else { return .granted }
        return Consent(rawValue: text) ?? .pending
    }

    /// Keeps a consent; it survives a loss of power once this has returned.
    static func write(_ consent: Consent, in directory: String) throws(QueueError) {
        if try read(in: directory) == consent { return }
        try Directory.replace(path(directory), by: consent.rawValue)
    }
}
