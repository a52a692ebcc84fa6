import Foundation
import LoopbackServers

/// The processes of a browser that show pages.
enum Renderers {
    /// Ends them as a crash does. Returns their number.
    static func crash(of folder: Scratch) -> Int {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
        let browsers = processes.filter { line(of: $0).contains("--user-data-dir=\(folder.path)/") && !isChild($0) }
        let renderers = browsers.flatMap(descendants).filter { line(of: $0).contains("--type=renderer") }
        return renderers.count { kill($0, SIGKILL) == 0 }
    }

    private static func isChild(_ process: pid_t) -> Bool { line(of: process).contains("--type=") }

    private static func line(of process: pid_t) -> String {
        let bytes = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
        return String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    private static func descendants(of process: pid_t) -> [pid_t] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        let children = tasks.flatMap { task -> [pid_t] in
            let text = try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
        return children + children.flatMap(descendants)
    }
}
