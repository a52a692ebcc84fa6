import Foundation
import LoopbackServers

/// A program that a test runs, line by line.
final class Child {
    /// The child program, beside the test bundle.
    static var program: String {
        var folder = Bundle.main.bundleURL
        #if os(macOS)
        folder.deleteLastPathComponent()
        #endif
        if folder.pathExtension == "xctest" { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("SensorsChild").path
    }

    private let process = Process()
    private let output = Pipe.forChild()
    private let input = Pipe.forChild()
    private var said = Data()

    /// Starts a program of the system's, or one with a path.
    convenience init(_ program: String, _ arguments: String...) throws { try self.init(program, arguments) }

    /// The same.
    init(_ program: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = input
        try process.start()
    }

    var id: Int32 { process.processIdentifier }

    /// The next line; nil once it has ended.
    func nextLine() -> String? {
        while true {
            if let end = said.firstIndex(of: 0x0A) {
                defer { said = Data(said[said.index(after: end)...]) }
                return String(decoding: said[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            said += more
        }
    }

    /// All the lines that it says.
    func lines() -> [String] {
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        return lines
    }

    /// Reads until all of these lines were said; false if it ended before.
    func waits(for lines: Set<String>) -> Bool {
        var missing = lines
        while !missing.isEmpty {
            guard let line = nextLine() else { return false }
            missing.remove(line)
        }
        return true
    }

    /// Whether it ends well.
    func succeeds() -> Bool {
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Asks it to end, and waits for it.
    func end() {
        try? input.fileHandleForWriting.close()
        // Threads of the test's runtime block signals, and children inherit that: only this one arrives.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
