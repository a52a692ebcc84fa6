internal import Instrument

/// Where a mapping's memory outlives the process: a few hundred bytes under each key, and below keys of their own the statements
/// of dead letters, a few kilobytes each.
///
/// Called from the backend's thread, which may wait. What was saved is kept whole or not at all. A key is of letters and
/// digits.
public protocol XAPIStateStore: Sendable {
    /// What was saved last; nil if nothing was.
    func load(_ key: String) throws(XAPIStateError) -> [UInt8]?
    /// Puts `bytes` in the place of what was saved before.
    func save(_ bytes: [UInt8], under key: String) throws(XAPIStateError)
    /// Removes what was saved under `key`; does nothing if nothing was.
    func remove(_ key: String) throws(XAPIStateError)
    /// Forgets everything, for a person who wants that; the parts of videos that were seen are personal data.
    func removeAll() throws(XAPIStateError)
}

extension XAPIStateStore {
    /// Saves nothing in its place, for a store that cannot remove one key.
    public func remove(_ key: String) throws(XAPIStateError) { try save([], under: key) }
}

/// Why a memory cannot be kept, and what to do.
public struct XAPIStateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, for people.
    public let description: String
    /// Creates an error.
    public init(_ description: String) { self.description = description }
}

/// Keeps memories as long as the process lives.
public final class InMemoryStateStore: XAPIStateStore {
    private let states = Lock<[String: [UInt8]]>([:])

    /// Creates an empty store.
    public init() {}

    /// What was saved last.
    public func load(_ key: String) -> [UInt8]? { states.withLock { $0[key] } }
    /// Keeps it.
    public func save(_ bytes: [UInt8], under key: String) { states.withLock { $0[key] = bytes } }
    /// Removes it.
    public func remove(_ key: String) { states.withLock { $0[key] = nil } }
    /// Forgets everything.
    public func removeAll() { states.withLock { $0 = [:] } }
}
