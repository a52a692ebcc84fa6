import Dispatch
import Foundation
import Instrument
import QueueChildPlan

/// Emits samples of one thread, and notes which of them the queue kept.
struct Emission: Sendable {
    let plan: ChildPlan
    let instrument: Instrument
    let refusals: Refusals
    let notes: ChildNotes?

    /// Emits the samples of all threads; never returns if the plan has no count.
    func run(_ trackers: [TrackerID]) async {
        let group = DispatchGroup()
        for (line, tracker) in trackers.enumerated() {
            group.enter()
            Thread {
                run(line: line, tracker: tracker)
                group.leave()
            }.start()
        }
        notes?.setReady()
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// Emits the samples of one thread; never returns if the plan has no count.
    func run(line: Int, tracker: TrackerID) {
        var number = 0
        while number < plan.count ?? .max {
            number += 1
            emit(number, line, tracker)
            if plan.pause > 0 { usleep(UInt32(plan.pause)) }
        }
    }

    private func emit(_ number: Int, _ line: Int, _ tracker: TrackerID) {
        var attributes: Attributes = [
            "run": .int(plan.run), "thread": .int(line), "number": .int(number), "text": "abcdefgh",
        ]
        // A server never takes this sample.
        if number % 500 == 0 { attributes["isCulprit"] = true }
        let (refused, waits, start) = (refusals.count, Self.waits(), Self.now())
        instrument.emit(.ping, from: tracker, attributes: attributes)
        let elapsed = Self.now() - start
        notes?.note(
            line: line,
            number: number,
            isKept: refusals.count == refused,
            nanoseconds: elapsed,
            waits: Self.waits() - waits
        )
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// How often this thread has waited for something so far; a thread that is preempted does not wait.
    private static func waits() -> Int {
        #if canImport(Glibc)
        var usage = rusage()
        // RUSAGE_THREAD, which the module does not export.
        getrusage(1, &usage)
        return usage.ru_nvcsw
        #else
        return 0
        #endif
    }
}

/// Counts, for each thread, the samples that the queue did not keep.
final class Refusals: Sendable {
    private let counts = Lock<[UInt: Int]>([:])

    private static var thread: UInt { UInt(bitPattern: Int(pthread_self())) }

    /// The queue says so on the thread that emits.
    func note(_ diagnostic: Diagnostic) {
        guard case .notQueued = diagnostic else { return }
        counts.withLock { $0[Self.thread, default: 0] += 1 }
    }

    /// Refused samples of the calling thread.
    var count: Int { counts.withLock { $0[Self.thread] ?? 0 } }
}
