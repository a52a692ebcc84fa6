package import Instrument
internal import InstrumentFiles
package import InstrumentMonitor

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension ProcessFigures {
    /// The figures of this process from `/proc` (proc(5)); nil where the system has none.
    /// - Parameter startTime: when the process began.
    package static func current(startTime: WallTime) -> ProcessFigures? {
        #if os(Linux)
        guard let bytes = try? SmallFile.read("/proc/self/stat", atMost: 4_096, followsLinks: true) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        // The name of the program, which may hold spaces and parentheses, ends with the last parenthesis.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ").map { Int($0) ?? 0 }
        guard fields.count > 21 else { return nil }
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        let files = (try? Folder.names(in: "/proc/self/fd").count) ?? 0
        return ProcessFigures(
            residentBytes: fields[21] * Int(sysconf(Int32(_SC_PAGESIZE))),
            threads: fields[17],
            openFiles: files,
            cpuSeconds: Double(fields[11] + fields[12]) / ticks,
            startTime: startTime
        )
        #else
        return nil
        #endif
    }
}
