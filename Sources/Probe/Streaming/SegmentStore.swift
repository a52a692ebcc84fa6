internal import InstrumentManifests
internal import InstrumentTransport

/// Initialization sections and keys, which serve many segments; the latest few are kept.
struct SegmentStore: Sendable {
    private static let capacity = 16
    /// Initialization sections have kilobytes; a server that sends megabytes of them has to send them again.
    private static let byteCapacity = 32 << 20

    private var initializations: [(segment: InitializationSegment, bytes: [UInt8])] = []
    private var keys: [(url: HTTPURL, bytes: [UInt8])] = []

    func bytes(of segment: InitializationSegment) -> [UInt8]? {
        initializations.last { $0.segment == segment }?.bytes
    }

    func key(at url: HTTPURL) -> [UInt8]? { keys.last { $0.url == url }?.bytes }

    mutating func keep(_ bytes: [UInt8], of segment: InitializationSegment) {
        if initializations.count >= Self.capacity { initializations.removeFirst() }
        initializations.append((segment, bytes))
        // Those of picture and sound are needed at the same time.
        while initializations.count > 2, initializations.reduce(0, { $0 + $1.bytes.count }) > Self.byteCapacity {
            initializations.removeFirst()
        }
    }

    mutating func keep(key: [UInt8], at url: HTTPURL) {
        if keys.count >= Self.capacity { keys.removeFirst() }
        keys.append((url, key))
    }
}
