internal import Instrument

/// Keeps settings until the process ends: for tests, and where nothing may be kept.
public final class SiftSettingsMemory: SiftSettingsStore {
    private let bytes: Lock<[UInt8]?>

    /// Creates a store that holds `bytes`.
    public init(_ bytes: [UInt8]? = nil) { self.bytes = Lock(bytes) }

    /// The bytes that were saved last.
    public func load() -> [UInt8]? { bytes.withLock { $0 } }
    /// Replaces it.
    public func save(_ new: [UInt8]) { bytes.withLock { $0 = new } }
}
