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

    /// When `share` of `total` parts of it have arrived.
    func time(ofShare share: Int64, of total: Int64) -> Int64 {
        let work = Int128(bytes) * 8_000_000_000 * Int128(share)
        let total = Int128(max(1, total))
        return max(firstByte, trace.time(ofWork: workBefore + (work + total - 1) / total))
    }

    /// What has arrived by a time, bytes.
    func bytes(until time: Int64) -> Int64 {
        guard time > firstByte else { return 0 }
        return min(bytes, Int64(clamping: (trace.work(until: time) - workBefore) / 8_000_000_000))
    }
}

/// The parts of a segment that become playable one after another.
struct Pieces {
    /// ns.
    let total: Int64
    private let each: Int64
    /// The end of the next part within the segment, ns.
    private(set) var next: Int64

    init(of total: Int64, each: Int64, isProgressive: Bool) {
        self.total = total
        self.each = isProgressive ? max(1, each) : total
        next = min(self.each, total)
    }

    /// Continues with the next part; false after the last.
    mutating func advance() -> Bool {
        if next >= total { return false }
        next = min(next.saturatingAdd(each), total)
        return true
    }
}
