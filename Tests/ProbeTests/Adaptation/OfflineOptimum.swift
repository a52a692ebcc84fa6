import Instrument

@testable import InstrumentProbe

/// The most that could have been made of a trace by somebody who knows it beforehand: the largest sum of utilities
/// without a stall, by dynamic programming over segments and times.
///
/// Times are rounded down to the grid, in favour of the optimum: the result is an upper bound.
struct OfflineOptimum {
    let media: SegmentedMedia
    let trace: BandwidthTrace
    /// ns.
    let grid: Int64
    /// What may be buffered when a segment is requested, ns.
    let room: Int64
    let utilities: [Double]

    /// The first segment is of the lowest rung, and playback starts when it is there.
    func sum() -> Double {
        let first = media.segments[0]
        let start = Transfer(first.sizes[0], requested: 0, over: trace).time(ofShare: 1, of: 1)
        var best: [Int64: Double] = [start: utilities[0]]
        var ready = first.duration.nanoseconds
        for segment in media.segments.dropFirst() {
            var next: [Int64: Double] = [:]
            for (time, value) in best {
                // The level is what is ready less what was played.
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

    /// A state that is later and has no larger value can be left out.
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
