internal import Foundation

/// The output and the exit status of a program.
package struct CommandResult: Sendable {
    package var status: Int32
    package var output: String
    package var errors: String
}

/// Runs a program, looked for in the path, to its end, on a dedicated thread.
package func command(_ arguments: [String], environment: [String: String]? = nil) async throws -> CommandResult {
    try await blocking {
        let process = Process()
        let (output, errors) = (Pipe.forChild(), Pipe.forChild())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let complaints = DataBeingRead(errors.fileHandleForReading)
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return CommandResult(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints.wait(), as: UTF8.self)
        )
    }
}

/// The path of a program of this package: in the folder that the variable `PROGRAMS` of the environment names, so that
/// tests start what users run, or beside the tests.
package func siblingProgram(_ name: String) -> String {
    if let folder = ProcessInfo.processInfo.environment["PROGRAMS"], !folder.isEmpty {
        let program = URL(fileURLWithPath: folder).appendingPathComponent(name).path
        if FileManager.default.isExecutableFile(atPath: program) { return program }
    }
    let tests = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
    return tests.appendingPathComponent(name).path
}

/// Reads a pipe to its end on another thread, so that the pipe does not fill up.
///
/// Unchecked: `data` is written before `done` is signalled and read after it.
private final class DataBeingRead: @unchecked Sendable {
    private var data = Data()
    private let done = DispatchSemaphore(value: 0)

    init(_ handle: FileHandle) {
        Thread.detachNewThread { [self] in
            data = handle.readDataToEndOfFile()
            done.signal()
        }
    }

    func wait() -> Data {
        done.wait()
        return data
    }
}
