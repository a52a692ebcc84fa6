import Foundation
import LoopbackServers

/// Runs the system's tools.
enum Shell {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A process, with the folders of administrators in its path.
    static func process(_ command: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        var environment = ProcessInfo.processInfo.environment
        environment["PATH", default: "/usr/bin:/bin"] += ":/usr/sbin:/sbin"
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// Runs a tool to its end. Throws its output if it fails.
    static func run(_ command: String...) throws {
        let (process, errors) = (process(command), Pipe.forChild())
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.start()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let line = text.split(separator: "\n").joined(separator: "; ")
            throw Failure(description: "'\(command.joined(separator: " "))' failed: \(line)")
        }
    }
}
