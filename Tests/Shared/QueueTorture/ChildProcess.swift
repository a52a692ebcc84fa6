package import Foundation
import LoopbackServers
package import QueueChildPlan

/// A process that emits or drains. It is killed when this object is released.
package final class ChildProcess {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The path of the child, beside the test bundle.
    private static let executable: URL = {
        let bundle = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        return bundle.appendingPathComponent("QueueChild")
    }()

    private let process = Process()
    private let outputFile: String
    private let errorFile: String

    /// The stack of the thread that crashed, and nothing else: a crash may be too rare to be repeated.
    private static let backtrace = "enable=yes,color=no,interactive=no,threads=crashed,registers=none,images=none"

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - name: the beginning of the files that the process writes its output to.
    ///   - isRebooted: whether the process has a separate memory for files, empty at its start as after a loss of
    ///     power.
    ///   - user: the number of the user whose process it is; needs root. nil for the user of this process.
    package init(
        _ plan: ChildPlan,
        name: String,
        environment: [String: String] = [:],
        isRebooted: Bool = false,
        user: UInt32? = nil
    ) throws {
        (outputFile, errorFile) = (name + ".out", name + ".err")
        if isRebooted {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let script = "mount -t tmpfs none /dev/shm && exec \"$0\" \"$1\""
            process.arguments = ["unshare", "--mount", "sh", "-c", script, Self.executable.path, try plan.argument()]
        } else if let user {
            // The user may not reach the folder of the build.
            let program = URL(fileURLWithPath: name + ".program")
            try FileManager.default.copyItem(at: Self.executable, to: program)
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let identity = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
            process.arguments = ["setpriv"] + identity + [program.path, try plan.argument()]
        } else {
            process.executableURL = Self.executable
            process.arguments = [try plan.argument()]
        }
        process.environment = ProcessInfo.processInfo.environment
            .merging(["SWIFT_BACKTRACE": Self.backtrace]) { $1 }.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.handle(outputFile)
        process.standardError = try Self.handle(errorFile)
        try process.start()
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    private static func handle(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw Failure(description: "cannot write \(path)") }
        return handle
    }

    package var isRunning: Bool { process.isRunning }

    /// Sends `SIGKILL`. The process may live until the disk responds for which it waits.
    package func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Waits until the process has ended. Returns false after a time that only a hang can reach.
    package func hasEnded(within seconds: Int = 300) -> Bool {
        for _ in 0..<seconds * 500 {
            if !process.isRunning {
                // Foundation keeps a descriptor of a process until a wait for its end.
                process.waitUntilExit()
                return true
            }
            usleep(2000)
        }
        return false
    }

    /// The result of an ended process: its status, or the negative number of its signal.
    package var status: Int32 {
        process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    package var output: Data { FileManager.default.contents(atPath: outputFile) ?? Data() }
    /// The end of the process's standard error.
    package var errors: String {
        String(decoding: (FileManager.default.contents(atPath: errorFile) ?? Data()).suffix(4000), as: UTF8.self)
    }

    /// Waits until the process records that it starts to emit.
    package func waitUntilReady(_ notes: ChildNotes) throws {
        while !notes.isReady {
            if !isRunning { throw Failure(description: "the child ended with \(status) at its start: \(errors)") }
            usleep(1000)
        }
    }

    /// Delivers the remaining samples of a queue, and waits for the end of the delivery.
    package static func drain(_ plan: ChildPlan, name: String, isRebooted: Bool = false) throws -> DrainReport {
        let child = try ChildProcess(plan, name: name, isRebooted: isRebooted)
        guard child.hasEnded(within: 600) else {
            throw Failure(description: "the drain hangs: \(child.errors)")
        }
        guard child.status == 0 else {
            throw Failure(description: "the drain ended with \(child.status): \(child.errors)")
        }
        return try JSONDecoder().decode(DrainReport.self, from: child.output)
    }
}
