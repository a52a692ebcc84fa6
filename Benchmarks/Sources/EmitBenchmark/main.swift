import CMeasure
import Foundation
import Instrument
import InstrumentDurableQueue
import Synchronization

//   EmitBenchmark [cost | latency | tail | threads | contention] [COUNT] [durable]
//   (default: cost, latency, and 1, 2 and 4 threads, with 200,000 events)
//
// `cost` counts allocations and instructions; `latency` measures five times beside swift-log; `tail` shows what the
// slowest hundredth of the emits waited for; `threads` compares one thread with two; `contention` compares 1 to
// 64 threads beside a plain mutex and swift-log.

/// Takes everything and does nothing.
struct NullBackend: Backend {
    let name: BackendName = "null"
    let policy = DeliveryPolicy(maxCount: 1000, maxAge: .milliseconds(100))
    func deliver(_ batch: Batch) async -> DeliveryOutcome { .acknowledged }
}

final class BenchmarkTracker: Tracker {
    let target: String? = "benchmark"
    let declaredFields = PrivacyCatalogue(Keys.names.map { FieldDeclaration($0, .text, "a field of the tracker") })
    private let context = Mutex<TrackerContext?>(nil)

    func begin(in context: TrackerContext) { self.context.withLock { $0 = context } }

    /// The way of what a tracker collects, which has to be declared.
    func emit(_ attributes: consuming Attributes) {
        context.withLock { $0 }?.emit(.ping, attributes: attributes)
    }
}

/// Keys of an app, made once.
enum Keys {
    static let names: [AttributeName] = (0..<25).map { AttributeName("custom\($0)") }
}

/// 25 attributes of mixed types, created for each event as an app does.
func attributes(_ number: Int) -> Attributes {
    var attributes = Attributes(minimumCapacity: 25)
    for (index, name) in Keys.names.enumerated() {
        switch index % 4 {
        case 0: attributes[name] = .int(number &+ index)
        case 1: attributes[name] = .double(Double(index) * 1.5)
        case 2: attributes[name] = .bool(index % 2 == 0)
        default: attributes[name] = .string("a value")
        }
    }
    return attributes
}

/// Where durable queues are made: `BENCHMARK_DIRECTORY`, else the temporary folder.
let scratch =
    (ProcessInfo.processInfo.environment["BENCHMARK_DIRECTORY"] ?? NSTemporaryDirectory())
    + "/emit-benchmark-\(getpid())"
let isDurable = CommandLine.arguments.contains("durable")
nonisolated(unsafe) var storeCount = 0  // Counted on the main thread alone.

func makeStore() -> any SampleStore {
    guard isDurable else { return InMemoryStore() }
    storeCount += 1
    do {
        return try DurableStore(directory: scratch + "/\(storeCount)")
    } catch {
        print("no durable store: \(error)")
        exit(1)
    }
}

func makeInstrument(_ benchmarkTracker: BenchmarkTracker = BenchmarkTracker()) -> (Instrument, TrackerID) {
    let store = makeStore()
    let instrument = Instrument(hub: CoreHub(), metricalc: CoreMetricalc(), backends: [NullBackend()], store: store)
    let tracker = instrument.add(benchmarkTracker)
    for action: Action in [.trackerInit, .playerSet, .playerReady, .mediaRequest, .streamLoad, .start] {
        instrument.emit(action, from: tracker)
    }
    return (instrument, tracker)
}

func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Emits with several threads, and waits until all is delivered, so that no lane of one measurement works in the next.
func throughput(threads: Int, count: Int) {
    let (instrument, first) = makeInstrument()
    let trackers = [first] + (1..<max(2, threads)).map { _ in instrument.add(BenchmarkTracker()) }
    let start = nanoseconds()
    let group = DispatchGroup()
    for thread in 0..<threads {
        group.enter()
        let worker = Thread {
            for number in 0..<count { instrument.emit(.ping, from: trackers[thread], attributes: attributes(number)) }
            group.leave()
        }
        worker.start()
    }
    group.wait()
    let seconds = Double(nanoseconds() - start) / 1e9
    let rate = Int(Double(threads * count) / seconds)
    let isDelivered = instrument.queue.flushAndWait(timeout: .seconds(300))
    let all = Int(Double(threads * count) * 1e9 / Double(nanoseconds() - start))
    let delivered = isDelivered ? "\(all)" : "not all within 300 s"
    print("events/s           \(threads) thread(s) \(rate), until all is delivered \(delivered)")
}

/// Allocations and instructions of `body`, per call.
func measure(_ label: String, count: Int, _ body: (Int) -> Void) {
    for number in 0..<10_000 { body(number) }
    let (allocations, instructions) = (measure_allocations(), measure_instructions())
    for number in 0..<count { body(number) }
    let made = Double(measure_allocations() - allocations) / Double(count)
    let executed = (measure_instructions() - instructions) / Int64(count)
    let shown = allocations < 0 ? "not counted here" : String(format: "%.2f", made)
    print("\(label): allocations \(shown), instructions \(instructions < 0 ? "not counted here" : "\(executed)")")
}

func cost(count: Int) {
    measure("making 25 attributes          ", count: count) { blackHole = attributes($0).count }
    let (instrument, tracker) = makeInstrument()
    measure("making 25 attributes and emit ", count: count) {
        instrument.emit(.ping, from: tracker, attributes: attributes($0))
    }
    let collecting = BenchmarkTracker()
    let (kept, _) = makeInstrument(collecting)
    measure("making 25 attributes and emit by a tracker", count: count) { collecting.emit(attributes($0)) }
    withExtendedLifetime(kept) {}
}

nonisolated(unsafe) var blackHole = 0  // Written from the main thread alone, so that work is not optimised away.
/// The size of a sample on disk, and the speed of opening and draining a long backlog.
func backlog(count: Int) {
    let directory = scratch + "/backlog"
    do {
        var store: DurableStore? = try DurableStore(directory: directory)
        store?.attach("null")
        let event = Event(
            .ping,
            tracker: TrackerID(0),
            time: SystemClock().timestamp,
            attributes: attributes(7)
        )
        let start = nanoseconds()
        var bytes = 0
        for _ in 0..<count { bytes += try store?.append([.event(event)]) ?? 0 }
        let written = nanoseconds()
        store?.close()
        store = nil
        let closed = nanoseconds()
        let again = try DurableStore(directory: directory)
        let opened = nanoseconds()
        var read = 0
        while case let records = again.next(for: "null", maxCount: 1000, maxBytes: .max), let last = records.last {
            read += records.count
            again.settle("null", through: last.sequence, dead: [:])
        }
        let drained = nanoseconds()
        print("event with 25 attributes on disk  \(bytes / count) bytes")
        print("samples/s stored                  \(Int(Double(count) / (Double(written - start) / 1e9)))")
        print("backlog of \(count) opens in ms  \((opened - closed) / 1_000_000)")
        print("samples/s read and settled        \(Int(Double(read) / (Double(drained - opened) / 1e9)))")
    } catch {
        print("\(error)")
    }
}

let arguments = CommandLine.arguments.dropFirst()
let count = arguments.compactMap { Int($0) }.first ?? 200_000
switch arguments.first {
case "cost": cost(count: count)
case "tail": tail(count: count)
case "threads": for threads in [1, 2, 1, 2, 1, 2] { throughput(threads: threads, count: count) }
case "contention": contention(calls: count)
case "latency": for _ in 0..<5 { latency(count: count) }
default:
    cost(count: count)
    latency(count: count)
    for threads in [1, 2, 4] { throughput(threads: threads, count: count) }
    if isDurable { backlog(count: count * 5) }
}
try? FileManager.default.removeItem(atPath: scratch)
