#if os(Linux)
import Foundation
import GStreamerStage
import Instrument

/// What a tracker adds to the processor time and the memory of a process that plays.
struct TrackerCost: CustomStringConvertible {
    /// Each as a share of one core.
    var withTracker: [Double] = []
    var withoutTracker: [Double] = []
    /// Bytes of resident memory that the tracker added.
    var memory = 0

    private static let rounds = 4
    private static let seconds = 15.0

    /// Plays pictures at 60 Hz and sound, which cost nearly nothing themselves, in turn with and without a tracker
    /// whose signals an instrument takes.
    static func measure() async throws -> TrackerCost {
        var cost = TrackerCost()
        for _ in 0..<rounds {
            for isTracked in [false, true] {
                let pipeline = try SilentPipeline()
                pipeline.play()
                try await SystemClock().sleep(until: SystemClock().now.advanced(by: .seconds(1)))
                let before = residentBytes
                let instrument = isTracked ? pipeline.track() : nil
                let (begin, used) = (SystemClock().now, usedSeconds)
                try await SystemClock().sleep(until: begin.advanced(by: .seconds(seconds)))
                let elapsed = begin.duration(to: SystemClock().now) / .seconds(1)
                let share = (usedSeconds - used) / elapsed
                if isTracked {
                    cost.withTracker.append(share)
                    cost.memory = max(cost.memory, residentBytes - before)
                } else {
                    cost.withoutTracker.append(share)
                }
                pipeline.end()
                _ = await instrument?.shutdown(timeout: .seconds(5))
            }
        }
        return cost
    }

    var description: String {
        let (tracked, plain) = (Self.median(withTracker), Self.median(withoutTracker))
        let parts = [plain, tracked, tracked - plain].map { String(format: "%.2f %%", $0 * 100) }
        return "the pipeline \(parts[0]) of a core, with the tracker \(parts[1]): the tracker \(parts[2]),"
            + " and at most \(memory / 1024) KiB of memory"
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static var usedSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
#endif
