internal import Instrument

/// Measures a link over which several downloads run at the same time: a sample ends with each download, and has the
/// bytes of all that were under way since the sample before.
///
/// Media3's `DefaultBandwidthMeter`: `onTransferStart`, `onBytesTransferred`, `onTransferEnd`.
struct LinkMeter: Hashable, Sendable {
    /// A download.
    struct Transfer: Sendable {
        /// The number of the request.
        var number: Int
        var begun: MonotonicInstant
        var arrivals: ArrivalLog
    }

    /// The bytes of the downloads under way that are in samples already.
    private var counted: [Int: Int] = [:]
    /// The bytes of samples that took no time.
    private var carried = 0
    /// The end of the last sample, if a download was under way then.
    private var start: MonotonicInstant?

    /// Takes a complete download.
    ///
    /// - Parameter others: the downloads that run.
    /// - Returns: the sample that ends with it; nil if it took no time.
    mutating func sample(endOf transfer: Transfer, beside others: [Transfer]) -> ThroughputSample? {
        guard let end = transfer.arrivals.last, let first = transfer.arrivals.first else { return nil }
        let open = others.filter { $0.arrivals.first.map { $0 <= end } ?? false }
        let begin = start ?? ([transfer] + open).compactMap(\.arrivals.first).min() ?? first
        var bytes = carried
        for part in [transfer] + open {
            let count = part.arrivals.count(at: end)
            bytes = bytes.saturatingAdd(max(0, count - counted[part.number, default: 0]))
            counted[part.number] = count
        }
        counted = counted.filter { count in open.contains { $0.number == count.key } }
        let time = begin.duration(to: end)
        guard time > .zero else {
            (carried, start) = (bytes, open.isEmpty ? nil : begin)
            return nil
        }
        (carried, start) = (0, open.isEmpty ? nil : end)
        return ThroughputSample(
            bytes: Int64(bytes),
            transferTime: time,
            timeToFirstByte: transfer.begun.duration(to: first),
            end: end
        )
    }
}
