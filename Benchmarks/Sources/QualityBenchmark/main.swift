import CMeasure
import Foundation
import Instrument
import InstrumentQuality

// The cost of quality metrics per event: the metricalc beside the core metricalc, and sessions from a log of many
// devices. Usage: QualityBenchmark [EVENTS]

/// The events of a playback as an instrument records them: a start, pings, stalls, seeks, changes of quality, an end.
struct Script {
    private var hub = CoreHub()
    private var instant = MonotonicInstant(nanoseconds: 0)
    private var remembered: [Action: MonotonicInstant] = [:]
    private let sender: String
    private let environment = Environment()
    private(set) var events: [Event] = []

    final class Environment: HubEnvironment {
        private let number = Lock(0)
        func makeIdentifier() -> String {
            number.withLock { number in
                number += 1
                return "6C2F4E1A-0000-4000-8000-\(String(format: "%012d", number))"
            }
        }
        func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue? { nil }
    }

    /// A lock for a counter, because the library's lock is not public.
    final class Lock: @unchecked Sendable {
        // Sendable: `value` is touched only between lock and unlock.
        private let lock = NSLock()
        private var value: Int
        init(_ value: Int) { self.value = value }
        func withLock<Result>(_ body: (inout Int) -> Result) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body(&value)
        }
    }

    init(device: Int, count: Int) {
        sender = "6C2F4E1A-1111-4000-8000-\(String(format: "%012d", device))-0"
        events.reserveCapacity(count)
        while events.count < count {
            for action: Action in [.mediaRequest, .streamLoad, .bufferBegin, .bufferFinish, .start] {
                add(action, after: 200)
            }
            for round in 0..<20 {
                add(.ping, after: 30_000)
                switch round % 5 {
                case 0: for action: Action in [.bufferBegin, .bufferFinish] { add(action, after: 1500) }
                case 1: add(.qualityChangeDown, after: 4000)
                case 2: add(.qualityChangeUp, after: 4000)
                case 3: for action: Action in [.seekBegin, .seekFinish] { add(action, after: 700) }
                default: for action: Action in [.pauseBegin, .pauseFinish] { add(action, after: 9000) }
                }
            }
            add(.end, after: 1000)
        }
    }

    private mutating func add(_ action: Action, after milliseconds: Int) {
        instant = instant.advanced(by: .milliseconds(milliseconds))
        let time = Timestamp(instant: instant, wallTime: WallTime(milliseconds: instant.milliseconds))
        var event = Event(action, tracker: TrackerID(0), time: time)
        event[.senderId] = sender
        event[.bitrate] = action == .qualityChangeDown ? 800_000 : 2_500_000
        event[.resolutionWidth] = action == .qualityChangeDown ? 640 : 1280
        event[.resolutionHeight] = action == .qualityChangeDown ? 360 : 720
        event[.position] = .milliseconds(Int(instant.milliseconds))
        event[.title] = "a film"
        for (earlier, since) in remembered { event[earlier.timeKey] = since.milliseconds(to: instant) }
        var context = HubContext(content: TrackerID(0), environment: environment)
        guard hub.process(&event, in: &context) == .accepted else { return }
        remembered[action] = instant
        events.append(event)
    }
}

func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Time, allocations and instructions of `work` per event.
func measure(_ label: String, _ events: [Event], _ work: ([Event]) -> Int) {
    blackHole = work(Array(events.prefix(10_000)))
    let (allocations, instructions, start) = (measure_allocations(), measure_instructions(), nanoseconds())
    blackHole = work(events)
    let elapsed = Double(nanoseconds() - start) / Double(events.count)
    let made =
        allocations < 0
        ? "not counted" : String(format: "%.2f", Double(measure_allocations() - allocations) / Double(events.count))
    let executed = instructions < 0 ? "not counted" : "\((measure_instructions() - instructions) / Int64(events.count))"
    print("\(label)  \(String(format: "%.0f", elapsed)) ns an event, allocations \(made), instructions \(executed)")
}

func metrics(_ events: [Event], by metricalc: some Metricalc) -> Int {
    var (metricalc, metrics, count) = (metricalc, [Metric](), 0)
    for event in events {
        metricalc.process(event, into: &metrics)
        count += metrics.count
        metrics.removeAll(keepingCapacity: true)
    }
    return count
}

nonisolated(unsafe) var blackHole = 0  // Written on the main thread alone, so that work is not optimised away.
let count = CommandLine.arguments.dropFirst().compactMap { Int($0) }.first ?? 200_000
let events = Script(device: 0, count: count).events
measure("CoreMetricalc                 ", events) { metrics($0, by: CoreMetricalc()) }
measure("QualityMetricalc              ", events) { metrics($0, by: QualityMetricalc()) }
measure("SessionReader, sums           ", events) { events in
    var reader = SessionReader()
    return events.reduce(0) { $0 + reader.observe($1).closed.count } + reader.finish().count
}
measure("SessionReader, trace          ", events) { events in
    var reader = SessionReader(recording: .trace)
    return events.reduce(0) { $0 + reader.observe($1).closed.count } + reader.finish().count
}
let logs = (0..<1000).map { Script(device: $0, count: count / 1000).events }
let mixed = (0..<(logs.map(\.count).max() ?? 0)).flatMap { index in
    logs.compactMap { index < $0.count ? $0[index] : nil }
}
measure("SessionReader, 1000 devices   ", mixed) { events in
    var reader = SessionReader()
    return events.reduce(0) { $0 + reader.observe($1).closed.count } + reader.finish().count
}
measure("Seven dialects of each session", events) { events in
    var reader = SessionReader()
    var aggregates = Dialect.all.map { QualityAggregate($0) }
    for event in events {
        for session in reader.observe(event).closed {
            for index in aggregates.indices { aggregates[index].add(session) }
        }
    }
    return aggregates.reduce(0) { $0 + $1.sessionCount }
}
