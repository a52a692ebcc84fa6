internal import Instrument

/// The bytes of a resource during its arrival: one thread appends, others read.
final class FetchBuffer: Sendable {
    private struct Content: ~Copyable {
        var bytes = GrowingBytes()
        var arrivals = ArrivalLog()
        var announced: Int?
        var isWhole = false
    }

    private static let maxReservation = 1 << 20

    private let content = Lock(Content())

    var count: Int { content.withLock { $0.bytes.count } }
    var arrivals: ArrivalLog { content.withLock { $0.arrivals } }
    /// Whether all bytes have arrived, so that a timeout no longer applies.
    var isWhole: Bool { content.withLock { $0.isWhole } }

    /// The size of the whole resource as the server announced it with the first byte; nil if it did not.
    var announcedCount: Int? { content.withLock { $0.announced } }

    /// Makes room for the announced size, so that the buffer neither moves nor has room that it does not need. A server
    /// that announces more than it sends gets little.
    func expect(_ count: Int) {
        content.withLock { content in
            content.announced = count
            content.bytes.reserve(min(count, Self.maxReservation))
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer, at instant: MonotonicInstant) {
        content.withLock { content in
            content.bytes.append(bytes)
            content.arrivals.add(bytes.count, at: instant)
        }
    }

    /// Records that all bytes have arrived.
    func finish() { content.withLock { $0.isWhole = true } }

    /// The bytes that have arrived.
    func snapshot() -> (bytes: FetchedBytes, arrivals: ArrivalLog) {
        content.withLock { ($0.bytes.fetched, $0.arrivals) }
    }
}
