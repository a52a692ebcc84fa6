import Instrument

@testable import InstrumentProbe

/// The optimum of a trace for a player that knows it in advance: the largest sum of utilities
/// without a stall, by dynamic programming over segments and times.
///
/// Times are rounded down to the grid, in favour of the optimum: the result is an upper bound.
struct OfflineOptimum {
    let media: SegmentedMedia
    let trace: BandwidthTrace
    /// The step of the grid, ns.
    let grid: Int64
    /// The largest buffer level at a request, ns.
    let room: Int64
    let utilities: [Double]

    /// The first segment has the lowest rung, and playback starts at its arrival.
    func sum() -> Double {
        let first = media.segments[0]
        let start = Transfer(first.sizes[0], requested: 0, over: trace).time(ofShare: 1, of: 1)
        var best: [Int64: Double] = [start: utilities[0]]
        var ready = first.duration.nanoseconds
        for segment in media.segments.dropFirst() {
            var next: [Int64: Double] = [:]
            for (time, value) in best {
                // The level is the loaded media less the played media.
                let request = max(time, start + ready - room)
                for rung in utilities.indices {
                    let end = Transfer(segment.sizes[rung], requested: request, over: trace).time(ofShare: 1, of: 1)
                    if end > start + ready { continue }
                    let rounded = max(request, end / grid * grid)
                    next[rounded] = max(next[rounded] ?? 0, value + utilities[rung])
                }
            }
            best = Self.withoutDominated(next)
            ready += segment.duration.nanoseconds
        }
        return best.values.max() ?? 0
    }

    /// Removes states that are later and have no larger value.
    private static func withoutDominated(_ states: [Int64: Double]) -> [Int64: Double] {
        var kept: [Int64: Double] = [:]
        var best = -1.0
        for (time, value) in states.sorted(by: { $0.key < $1.key }) where value > best {
            kept[time] = value
            best = value
        }
        return kept
    }
}
