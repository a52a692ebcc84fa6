internal import Foundation
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#endif

/// Tells how busy the machine was while a test measured time or memory.
///
/// A limit on how long something takes holds only on a machine that has time for it. Tests assert lower bounds and
/// order at all times, and upper bounds only where this allows it; otherwise it says on standard output what was not
/// judged.
package final class MachineLoad: Sendable {
    private static let leastIdleShare = 0.25

    private let lateness = Lock(Duration.zero)
    private let before = ProcessorTime.now

    /// Begins to watch, on a thread for each processor that stays there (on Linux), wakes up every few milliseconds,
    /// and notes how late that is: a virtual machine may lack one of its processors for a while, and have the others.
    package init() {
        for processor in 0..<ProcessInfo.processInfo.activeProcessorCount {
            Thread.detachNewThread { [weak self] in
                Self.stay(on: processor)
                let clock = SystemClock()
                while true {
                    let due = clock.now.advanced(by: .milliseconds(5))
                    Thread.sleep(forTimeInterval: 0.005)
                    guard let self else { return }
                    let lateness = due.duration(to: clock.now)
                    self.lateness.withLock { $0 = max($0, lateness) }
                }
            }
        }
    }

    /// Binds the calling thread to one of the processors that the process may use.
    private static func stay(on processor: Int) {
        #if canImport(Glibc)
        // sched_setaffinity(2); the module of the C library leaves out what only GNU has.
        typealias Affinity = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> CInt
        guard let get = dlsym(nil, "sched_getaffinity"), let set = dlsym(nil, "sched_setaffinity") else { return }
        var places = [UInt8](repeating: 0, count: 128)
        guard unsafeBitCast(get, to: Affinity.self)(0, places.count, &places) >= 0 else { return }
        let allowed = (0..<(places.count * 8)).filter { places[$0 / 8] & 1 << ($0 % 8) != 0 }
        guard allowed.indices.contains(processor) else { return }
        places = [UInt8](repeating: 0, count: 128)
        places[allowed[processor] / 8] = 1 << (allowed[processor] % 8)
        // Where the system refuses, the thread stays as free as it was.
        _ = unsafeBitCast(set, to: Affinity.self)(0, places.count, &places)
        #endif
    }

    /// The longest time by which a thread woke late.
    package var longestLateness: Duration { lateness.withLock { $0 } }

    /// False, with a message, if the machine was too busy since it began to judge how long `subject` took.
    ///
    /// - Parameter limit: how late a thread may wake without a change of the result.
    package func allowsJudging(_ subject: String, upTo limit: Duration = .milliseconds(8)) -> Bool {
        let lateness = longestLateness
        let idle = ProcessorTime.now.flatMap { now in before.map { now.idleShare(since: $0) } }
        if lateness <= limit, idle ?? 1 >= Self.leastIdleShare { return true }
        let share = idle.map { ", \(Int($0 * 100)) % of the processors' time was free" } ?? ""
        print("NOT JUDGED: \(subject): the machine was busy (a thread woke \(lateness.milliseconds) ms late\(share))")
        return false
    }

    /// Whether no other test runs in this process, so that its memory can be attributed to the test; says so if not.
    package static func allowsJudgingMemory(of subject: String) -> Bool {
        if CommandLine.arguments.contains("--no-parallel") { return true }
        print("NOT JUDGED: the memory of \(subject): other tests run in the process (run it with --no-parallel)")
        return false
    }
}

/// The processors' time since the start of the machine, from `/proc/stat` (proc(5)).
private struct ProcessorTime {
    var idle: Double
    var total: Double

    /// Nil without such a file.
    static var now: ProcessorTime? {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        // `cpu user nice system idle iowait irq softirq steal …`
        let fields = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
        guard fields.count == 8 else { return nil }
        return ProcessorTime(idle: fields[3] + fields[4], total: fields.reduce(0, +))
    }

    func idleShare(since start: ProcessorTime) -> Double {
        let total = total - start.total
        return total > 0 ? (idle - start.idle) / total : 1
    }
}
