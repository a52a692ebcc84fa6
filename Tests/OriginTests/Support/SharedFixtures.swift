import Foundation
import InstrumentOrigin

/// The fixtures, made once for all tests of a run.
enum SharedFixtures {
    static let directory = FileManager.default.temporaryDirectory.path + "/instrument-origin-tests"

    private static let made = Task { try await Fixtures.make(in: directory) }

    static func get() async throws -> Fixtures { try await made.value }
}

/// What a program printed and how it ended.
struct CommandResult: Sendable {
    var status: Int32
    var output: String
    var errors: String
}

/// Runs a program that is looked for in the path.
func command(_ arguments: [String]) async throws -> CommandResult {
    try await blocking {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let said = errors.fileHandleForReading
        let complaints = Thread.reading { said.readDataToEndOfFile() }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return CommandResult(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints(), as: UTF8.self)
        )
    }
}

extension Thread {
    /// Reads on another thread, so that no pipe fills up meanwhile; the result waits for the end.
    fileprivate static func reading(_ body: @escaping @Sendable () -> Data) -> () -> Data {
        let box = Box()
        Thread {
            box.data = body()
            box.done.signal()
        }.start()
        return {
            box.done.wait()
            return box.data
        }
    }

    /// Unchecked: `data` is written before `done` is signalled and read after.
    private final class Box: @unchecked Sendable {
        var data = Data()
        let done = DispatchSemaphore(value: 0)
    }
}
