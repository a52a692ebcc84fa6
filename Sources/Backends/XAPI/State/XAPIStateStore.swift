internal import Instrument

/// Stores the memories of a mapping beyond the end of the process: a few hundred bytes per key, and, under
/// separate keys, the statements of dead letters, a few kilobytes each.
///
/// Called on the backend's thread, which may block. A save must be atomic. Keys consist of letters and digits.
public protocol XAPIStateStore: Sendable {
    /// Returns the bytes that were saved last; nil if nothing was saved.
    func load(_ key: String) throws(XAPIStateError) -> [UInt8]?
    /// Replaces the bytes under a key.
    func save(_ bytes: [UInt8], under key: String) throws(XAPIStateError)
    /// Removes the bytes under a key; does nothing if nothing was saved.
    func remove(_ key: String) throws(XAPIStateError)
    /// Removes all bytes, at a person's request: the played segments of videos are personal data.
    func removeAll() throws(XAPIStateError)
}

extension XAPIStateStore {
    /// Saves an empty array, for a store that cannot remove a single key.
    public func remove(_ key: String) throws(XAPIStateError) { try save([], under: key) }
}

/// The reason why a memory cannot be loaded or saved, and the remedy.
public struct XAPIStateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error in words, for people.
    public let description: String
    /// Creates an error.
    public init(_ description: String) { self.description = description }
}

/// Stores memories in memory, until the end of the process.
public final class InMemoryStateStore: XAPIStateStore {
    private let states = Lock<[String: [UInt8]]>([:])

    /// Creates an empty store.
    public init() {}

    /// Returns the bytes that were saved last.
    public func load(_ key: String) -> [UInt8]? { states.withLock { $0[key] } }
    /// Replaces the bytes under a key.
    public func save(_ bytes: [UInt8], under key: String) { states.withLock { $0[key] = bytes } }
    /// Removes the bytes under a key.
    public func remove(_ key: String) { states.withLock { $0[key] = nil } }
    /// Removes all bytes.
    public func removeAll() { states.withLock { $0 = [:] } }
}
