import Instrument

@testable import InstrumentProbe

/// An independent computation of a playback: as a recurrence over pieces of media, by the buffer level at their
/// arrival, and over a network that is computed period by period. It has no events, and shares no code with the model.
struct ReferencePlayer {
    struct Stall: Hashable {
        var start: Int64
        var duration: Int64
        var position: Int64
    }

    let periods: [(length: Int64, rate: Int64, latency: Int64)]
    /// A distance between timestamps is not more exact.
    private static let rounding: Int64 = 25_000

    let startLevel: Int64
    let resumeLevel: Int64
    let maximum: Int64

    private(set) var start: Int64?
    private(set) var stalls: [Stall] = []
    private(set) var arrivals: [Int64] = []
    private(set) var time: Int64 = 0
    /// The buffer level at `time`.
    private var level: Int64 = 0
    private var fetched: Int64 = 0
    private var isPlaying = false
    private var dry: Int64?

    init(trace: BandwidthTrace, policy: BufferPolicy) {
        periods = trace.periods.map { ($0.duration.nanoseconds, Int64($0.bitrate), $0.latency.nanoseconds) }
        (startLevel, resumeLevel) = (policy.startThreshold.nanoseconds, policy.resumeThreshold.nanoseconds)
        maximum = policy.maximum.nanoseconds
    }

    /// Fetches a segment of the given bytes in pieces of `piece`, after a wait down to `wait`.
    mutating func fetch(bytes: Int64, duration: Int64, wait: Int64?, piece: Int64) {
        if isPlaying, level > maximum { pass(level - maximum) }
        if let wait, isPlaying, level > wait { pass(level - wait) }
        var (index, rest) = place(of: time)
        let first = time + periods[index].latency
        (index, rest) = place(of: first)
        var clock = first
        // The remaining bits times nanoseconds of the piece, less the excess of the previous piece.
        var carried: Int128 = 0
        var done: Int64 = 0
        while done < duration {
            done = min(done + piece, duration)
            let wanted = (Int128(bytes) * 8_000_000_000 * Int128(done) + Int128(duration) - 1) / Int128(duration)
            while carried + Int128(periods[index].rate) * Int128(rest) < wanted {
                carried += Int128(periods[index].rate) * Int128(rest)
                clock += rest
                index = (index + 1) % periods.count
                rest = periods[index].length
            }
            // Within this period, without advancing: later pieces may arrive in the same period.
            let rate = Int128(periods[index].rate)
            let needed = wanted > carried ? (wanted - carried + rate - 1) / rate : 0
            arrive(at: clock + Int64(needed), adding: fetched + done)
        }
        fetched += duration
        arrivals.append(time)
    }

    mutating func end() {
        if !isPlaying {
            if let dry { stalls.append(Stall(start: dry, duration: time - dry, position: fetched - level)) }
            if start == nil { start = time }
        }
        time += level
    }

    private var ready = Int64(0)

    private mutating func arrive(at instant: Int64, adding end: Int64) {
        pass(instant - time)
        level += end - ready
        ready = end
        guard !isPlaying, level >= max(1, (start == nil ? startLevel : resumeLevel) - Self.rounding) else { return }
        isPlaying = true
        if start == nil { start = time }
        if let dry { stalls.append(Stall(start: dry, duration: time - dry, position: ready - level)) }
        dry = nil
    }

    private mutating func pass(_ duration: Int64) {
        if isPlaying {
            if level <= duration, duration > 0 || level == 0 {
                dry = time + level
                isPlaying = false
                level = 0
            } else {
                level -= duration
            }
        }
        time += duration
    }

    private func place(of instant: Int64) -> (index: Int, rest: Int64) {
        var left = instant % periods.reduce(0) { $0 + $1.length }
        for (index, period) in periods.enumerated() {
            if left < period.length { return (index, period.length - left) }
            left -= period.length
        }
        return (0, periods[0].length)
    }
}

/// Fetches the given renditions, and waits by the script.
struct ScriptedRule: AdaptationRule {
    var rungs: [Int]
    var waits: [Duration?]

    mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        AdaptationDecision(rung: rungs[context.segment.index], waitUntilBuffered: waits[context.segment.index])
    }
}
