import Foundation

/// The cost of one way of playing.
struct Row: CustomStringConvertible {
    static let header =
        "        streams   CPU-s per stream-minute   of it kernel   CPU-s per start   MB per stream   started   "
        + "last start after, s   stalls   origin's CPU-s per stream-minute"

    var name: String
    var count: Int
    var processorSeconds: Double
    /// The kernel's part of it.
    var systemSeconds: Double?
    /// Until a stream has started and filled its buffer.
    var startSeconds: Double?
    var megabytes: Double
    var stalls: Int?
    var started: Int?
    /// Seconds from the first start to the last.
    var lastStart: Double?
    var originSeconds: Double?

    var description: String {
        func text(_ value: Double?) -> String { value.map { String(format: "%.4f", $0) } ?? "–" }
        func text(_ value: Int?) -> String { value.map(String.init) ?? "–" }
        let cells: [(String, Int)] = [
            (text(count), 15 - 8), (text(processorSeconds), 26), (text(systemSeconds), 15), (text(startSeconds), 18),
            (String(format: "%.2f", megabytes), 16), (text(started), 10),
            (lastStart.map { String(format: "%.1f", $0) } ?? "–", 22), (text(stalls), 9), (text(originSeconds), 36),
        ]
        return name.padding(toLength: 8, withPad: " ", startingAt: 0)
            + cells.map { String(repeating: " ", count: max(0, $1 - $0.count)) + $0 }.joined()
    }
}

/// Seconds of processor time that this process has used, and the kernel's part of them.
func processorTime() -> (whole: Double, system: Double) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    let system = seconds(usage.ru_stime)
    return (seconds(usage.ru_utime) + system, system)
}

/// Seconds of processor time of another process, and bytes that are its own, as Linux counts them.
func usage(of process: pid_t) -> (seconds: Double, bytes: Int) {
    let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    // Behind the name, which may have blanks: 14 and 15 in the whole line are user and system time (proc(5)).
    let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = fields.count > 12 ? (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0) : 0
    return (ticks / Double(sysconf(Int32(_SC_CLK_TCK))), privateBytes(of: "\(process)"))
}

/// Bytes that are this process's own.
func memoryInUse() -> Int { privateBytes(of: "self") }

private func privateBytes(of process: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix("Private_") }
        .compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }.reduce(0, +) * 1024
}
