internal import Instrument

/// The bytes of a resource as they come, filled on one thread and looked at on others.
final class FetchBuffer: Sendable {
    private struct Content {
        var bytes: [UInt8] = []
        var arrivals = ArrivalLog()
        var isWhole = false
    }

    private let content = Lock(Content())

    var count: Int { content.withLock { $0.bytes.count } }
    var arrivals: ArrivalLog { content.withLock { $0.arrivals } }
    /// Whether all has come, so that nothing can be too late any more.
    var isWhole: Bool { content.withLock { $0.isWhole } }

    func append(_ bytes: UnsafeRawBufferPointer, at instant: MonotonicInstant) {
        content.withLock { content in
            content.bytes.append(contentsOf: bytes)
            content.arrivals.add(bytes.count, at: instant)
        }
    }

    /// Notes that all has come.
    func finish() { content.withLock { $0.isWhole = true } }

    /// A copy of what has come.
    func snapshot() -> (bytes: [UInt8], arrivals: ArrivalLog) { content.withLock { ($0.bytes, $0.arrivals) } }
}
