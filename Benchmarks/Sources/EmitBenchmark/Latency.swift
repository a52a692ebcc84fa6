import CMeasure
import Foundation
import Instrument
import Logging

/// Times of calls on the caller's thread.
struct Latencies {
    private var times: [UInt64] = []
    private let clockCost: UInt64

    init(capacity: Int, clockCost: UInt64) {
        times.reserveCapacity(capacity)
        self.clockCost = clockCost
    }

    @inline(__always)
    mutating func measure(_ body: () -> Void) {
        let start = nanoseconds()
        body()
        times.append(nanoseconds() - start)
    }

    mutating func append(_ other: Latencies) { times += other.times }

    /// The time in µs that a share of the calls did not exceed, without the cost of reading the clock.
    func percentile(_ share: Double) -> Double {
        let sorted = times.sorted()
        let raw = sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
        return Double(raw - min(raw, clockCost)) / 1000
    }

    var line: String {
        [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)]
            .map { "\($0) " + String(format: "%.2f", percentile($1)) }.joined(separator: "  ")
    }

    /// The median time between two readings of the clock.
    static func costOfClock() -> UInt64 {
        let costs = (0..<10_000).map { _ -> UInt64 in
            let start = nanoseconds()
            return nanoseconds() - start
        }
        return costs.sorted()[costs.count / 2]
    }
}

/// The time of an emit beside that of a line of swift-log, in turns of 1,000 calls, so that what else the machine does
/// disturbs both. As in an app, calls come in bursts, and others take what was written between two bursts.
func latency(count: Int) {
    let (instrument, tracker) = makeInstrument()
    let lines = ArrayHandler.Lines()
    let logger = Logger(label: "peer") { _ in ArrayHandler(lines) }
    for number in 0..<count / 10 { instrument.emit(.ping, from: tracker, attributes: attributes(number)) }
    let clockCost = Latencies.costOfClock()
    var emits = Latencies(capacity: count, clockCost: clockCost)
    var logs = Latencies(capacity: count, clockCost: clockCost)
    for burst in 0..<max(1, count / 1000) {
        for number in burst * 1000..<(burst + 1) * 1000 {
            emits.measure { instrument.emit(.ping, from: tracker, attributes: attributes(number)) }
        }
        usleep(200)
        for number in burst * 1000..<(burst + 1) * 1000 {
            logs.measure { logger.info("ping", metadata: metadata(number)) }
        }
        lines.removeAll()
        usleep(200)
    }
    print("emit, µs           " + emits.line)
    print("swift-log, µs      " + logs.line)
}

/// What the slowest hundredth of the emits did: the events of the system that fell into each call.
func tail(count: Int) {
    struct Call {
        let time: UInt64
        let pages: Int64
        let waits: Int64
        let preemptions: Int64
        let place: Int
    }
    let (instrument, tracker) = makeInstrument()
    for number in 0..<count / 10 { instrument.emit(.ping, from: tracker, attributes: attributes(number)) }
    var calls: [Call] = []
    calls.reserveCapacity(count)
    for number in 0..<count {
        let before = measure_interruptions()
        let start = nanoseconds()
        instrument.emit(.ping, from: tracker, attributes: attributes(number))
        let time = nanoseconds() - start
        let after = measure_interruptions()
        calls.append(
            Call(
                time: time,
                pages: after.pages - before.pages,
                waits: after.waits - before.waits,
                preemptions: after.preemptions - before.preemptions,
                place: number % 1000
            )
        )
        if number % 1000 == 999 { usleep(200) }
    }
    let slowest = calls.sorted { $0.time > $1.time }.prefix(max(1, count / 100))
    func share(_ isCounted: (Call) -> Bool) -> String {
        let counted = slowest.filter(isCounted)
        let time = counted.reduce(0) { $0 + $1.time } / UInt64(max(1, counted.count))
        return "\(counted.count * 100 / slowest.count) % (mean \(Double(time) / 1000) µs)"
    }
    print("of the slowest hundredth, from \(Double(slowest.last?.time ?? 0) / 1000) µs:")
    print("  waited for a lock          " + share { $0.waits > 0 })
    print("  preempted                  " + share { $0.waits == 0 && $0.preemptions > 0 })
    print("  new pages of memory        " + share { $0.waits == 0 && $0.preemptions == 0 && $0.pages > 0 })
    let calm = { (call: Call) in call.waits == 0 && call.preemptions == 0 && call.pages == 0 }
    print("  first ten of a burst       " + share { calm($0) && $0.place < 10 })
    print("  none of these              " + share { calm($0) && $0.place >= 10 })
    let pages = calls.reduce(0) { $0 + $1.pages }
    print("  pages per thousand emits, of all: \(pages * 1000 / Int64(max(1, count)))")
}
