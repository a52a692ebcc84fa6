import Foundation
import Instrument
import Logging
import Synchronization

/// The throughput and the latency of many threads that do the same at once.
private struct Contention {
    let perSecond: Double
    let latencies: Latencies

    /// Starts the threads together; `call` gets the number of the thread and of the call.
    init(threads: Int, calls: Int, _ call: @escaping @Sendable (Int, Int) -> Void) {
        let clockCost = Latencies.costOfClock()
        let all = Mutex(Latencies(capacity: calls, clockCost: clockCost))
        let (share, group, gate) = (calls / threads, DispatchGroup(), DispatchSemaphore(value: 0))
        for thread in 0..<threads {
            group.enter()
            let worker = Thread {
                var mine = Latencies(capacity: share, clockCost: clockCost)
                gate.wait()
                for number in 0..<share { mine.measure { call(thread, number) } }
                all.withLock { $0.append(mine) }
                group.leave()
            }
            worker.start()
        }
        let start = nanoseconds()
        for _ in 0..<threads { gate.signal() }
        group.wait()
        perSecond = Double(share * threads) * 1e9 / Double(nanoseconds() - start)
        latencies = all.withLock { $0 }
    }

    func show(_ name: String, threads: Int, beside one: Double) {
        let rate = String(format: "%9.0f/s  %.2f of one thread  ", perSecond, perSecond / one)
        print("\(threads) thread(s)  \(name)  \(rate)" + latencies.line)
    }
}

/// A critical section of the length of the chain's, behind the platform's plain mutex.
private final class PlainMutex: @unchecked Sendable {
    // Sendable: `value` is touched only between lock and unlock of `mutex`, which never moves.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: UInt64 = 1

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func work(_ rounds: Int) {
        pthread_mutex_lock(mutex)
        for _ in 0..<rounds { value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
        pthread_mutex_unlock(mutex)
    }
}

/// Emits of many threads beside a plain mutex and swift-log, in turns, so that what else the machine does disturbs all.
///
/// What a call needs is made before it, the same 25 values for each of the three.
func contention(calls: Int) {
    var one: (emit: Double, mutex: Double, log: Double) = (1, 1, 1)
    for threads in [1, 2, 4, 8, 16, 64] {
        let (instrument, first) = makeInstrument()
        let trackers = [first] + (1..<max(2, threads)).map { _ in instrument.add(BenchmarkTracker()) }
        let emit = Contention(threads: threads, calls: calls) { thread, number in
            instrument.emit(.ping, from: trackers[thread], attributes: attributes(number))
        }
        if !instrument.queue.flushAndWait(timeout: .seconds(300)) { print("not all delivered within 300 s") }
        let plain = PlainMutex()
        let mutex = Contention(threads: threads, calls: calls) { _, number in
            blackHole(attributes(number).count)
            plain.work(400)
        }
        let lines = ArrayHandler.Lines()
        let logger = Logger(label: "peer") { _ in ArrayHandler(lines) }
        let log = Contention(threads: threads, calls: calls) { _, number in
            logger.info("ping", metadata: metadata(number))
            if number % 1000 == 999 { lines.removeAll() }
        }
        if threads == 1 { one = (emit.perSecond, mutex.perSecond, log.perSecond) }
        emit.show("emit        ", threads: threads, beside: one.emit)
        mutex.show("plain mutex ", threads: threads, beside: one.mutex)
        log.show("swift-log   ", threads: threads, beside: one.log)
    }
}

@inline(never)
private func blackHole(_ value: Int) { withExtendedLifetime(value) {} }
