import Dispatch
import Foundation
import Instrument
import InstrumentAds
import InstrumentBeacons
import InstrumentDurableQueue
import QueueChildPlan

/// Emits samples of one thread, and notes which of them the queue kept.
struct Emission: Sendable {
    let plan: ChildPlan
    let instrument: Instrument
    let store: DurableStore
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
        if plan.synchronizes {
            Thread { synchronize() }.start()
        } else if plan.isSynchronizing {
            Thread { noteSynchronization() }.start()
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
        if let multiple = plan.largeMultiple, number % multiple == 0 { attributes["text"] = .string(Self.largeText) }
        // A server never takes this sample.
        if number % 500 == 0 { attributes["isCulprit"] = true }
        let (waits, start) = (Self.waits(), Self.now())
        let result =
            if let address = plan.beaconAddress {
                send(number, line, tracker, address)
            } else {
                instrument.emit(.ping, from: tracker, attributes: attributes)
            }
        let elapsed = Self.now() - start
        notes?.note(
            line: line,
            number: number,
            outcome: Self.outcome(result),
            nanoseconds: elapsed,
            waits: Self.waits() - waits
        )
    }

    /// Appends a beacon; the beacons of one thread are those of one ad.
    private func send(_ number: Int, _ line: Int, _ tracker: TrackerID, _ address: String) -> EmitResult {
        let url = AdURL("\(address)?run=\(plan.run)&thread=\(line)&number=\(number)&cb=[CACHEBUSTING]")
        let beacon = AdBeacon(kind: .event(.progress), url: url, playhead: 0)
        return Beacons(queue: instrument.queue, tracker: tracker).send([beacon], of: "\(plan.run)-\(line)")
    }

    /// Larger than a half of the staging area of small segments (256 KiB).
    private static let largeText = String(repeating: "abcdefgh", count: 40_000)

    private static func outcome(_ result: EmitResult) -> ChildNotes.Outcome {
        switch result {
        case .stored: .kept
        case .deferred: .unsure
        default: .refused
        }
    }

    /// Synchronizes the store repeatedly, and notes which samples each synchronization covered.
    private func synchronize() {
        while true {
            let returned = notes?.returned ?? []
            do { try store.synchronize() } catch { continue }
            notes?.note(synchronized: returned)
            usleep(20_000)
        }
    }

    /// Notes repeatedly which samples the store has synchronized by its own interval.
    private func noteSynchronization() {
        while true {
            // The samples that had returned before the end was read lie before that end.
            let returned = notes?.returned ?? []
            let end = store.progress.end
            while store.progress.synchronizedEnd < end { usleep(2000) }
            notes?.note(synchronized: returned)
            usleep(2000)
        }
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
