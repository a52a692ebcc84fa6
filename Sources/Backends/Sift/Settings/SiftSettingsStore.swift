/// Stores persistent settings: user, installation, the choice about locations, and the state of the queues. No keys.
///
/// Called on the thread that changes a setting, or a backend's; both methods may block it.
public protocol SiftSettingsStore: Sendable {
    /// The bytes that were saved last; nil if nothing was saved.
    func load() throws(SiftSettingsError) -> [UInt8]?
    /// Replaces the saved bytes as a whole or not at all.
    func save(_ bytes: [UInt8]) throws(SiftSettingsError)
}

/// The reason for which settings could not be read or saved.
public struct SiftSettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The event and the remedy.
    public let description: String

    /// Creates an error.
    package init(_ description: String) { self.description = description }
}
