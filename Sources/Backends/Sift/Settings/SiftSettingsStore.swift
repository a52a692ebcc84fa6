/// Keeps what outlives a run: user, installation, the choice about locations, and what the queues remember. No keys.
///
/// Called on the thread that changes a setting, or a backend's; both methods may block it.
public protocol SiftSettingsStore: Sendable {
    /// What was saved last; nil if nothing was.
    func load() throws(SiftSettingsError) -> [UInt8]?
    /// Replaces what was saved, wholly or not at all.
    func save(_ bytes: [UInt8]) throws(SiftSettingsError)
}

/// Why settings could not be read or saved.
public struct SiftSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened and what to do.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}
