#if !canImport(Darwin)
internal import Instrument

/// The transfers that wait for their bandwidth limit. Touched by the transport's thread alone.
///
/// libcurl's own limit is not used: it lets the first seconds of each transfer pass (7.88), in which a segment arrives
/// whole.
final class CurlPauses {
    /// When each transfer continues, by its number.
    var due: [UInt64: MonotonicInstant] = [:]

    /// When the first transfer continues.
    var next: MonotonicInstant? { due.values.min() }

    /// Removes the transfers that continue now.
    func takeDue(at now: MonotonicInstant) -> [UInt64] {
        let numbers = due.filter { $0.value <= now }.map(\.key)
        for number in numbers { due[number] = nil }
        return numbers
    }
}

/// The instants at which bytes of a body arrive over a link of a constant bandwidth.
struct Pace {
    let bytesPerSecond: Int
    /// The bytes that arrive together: those of a twentieth of a second, or a kibibyte.
    var pieceSize: Int { min(max(bytesPerSecond / 20, 1 << 10), 16 << 10) }
    private var begun: MonotonicInstant?

    init(bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

    /// The instant at which the first `count` bytes have arrived; the first call begins the transfer.
    mutating func due(_ count: Int, at now: MonotonicInstant) -> MonotonicInstant {
        let begun = begun ?? now
        self.begun = begun
        return begun.advanced(by: .seconds(Double(count) / Double(bytesPerSecond)))
    }
}
#endif
