internal import Instrument

/// One download over a trace, exact to the nanosecond.
struct Transfer {
    let bytes: Int64
    let requested: Int64
    let firstByte: Int64
    private let trace: BandwidthTrace
    private let workBefore: Int128

    init(_ bytes: Int64, requested: Int64, over trace: BandwidthTrace) {
        self.bytes = max(1, bytes)
        self.requested = requested
        self.trace = trace
        firstByte = requested.saturatingAdd(trace.latency(at: requested))
        workBefore = trace.work(until: firstByte)
    }

    /// Returns the time at which `share` of `total` parts have arrived.
    func time(ofShare share: Int64, of total: Int64) -> Int64 {
        let work = Int128(bytes) * 8_000_000_000 * Int128(share)
        let total = Int128(max(1, total))
        return max(firstByte, trace.time(ofWork: workBefore + (work + total - 1) / total))
    }

    /// Returns the bytes that have arrived by a time.
    func bytes(until time: Int64) -> Int64 {
        guard time > firstByte else { return 0 }
        return min(bytes, Int64(clamping: (trace.work(until: time) - workBefore) / 8_000_000_000))
    }
}

/// The parts of a segment, which become playable in sequence.
struct Pieces {
    /// The duration, ns.
    let total: Int64
    private let each: Int64
    /// The end of the next part within the segment, ns.
    private(set) var next: Int64

    init(of total: Int64, each: Int64, isProgressive: Bool) {
        self.total = total
        self.each = isProgressive ? max(1, each) : total
        next = min(self.each, total)
    }

    /// Moves to the next part; false after the last.
    mutating func advance() -> Bool {
        if next >= total { return false }
        next = min(next.saturatingAdd(each), total)
        return true
    }
}
