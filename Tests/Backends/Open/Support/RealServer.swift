import Foundation
import Instrument
import LoopbackServers

/// A server in a separate process on the loopback address, with an empty directory. The server ends with this value,
/// and by itself after half an hour.
final class RealServer: Sendable {
    static let directory: String = {
        let root = packageRoot
        let environment = ProcessInfo.processInfo.environment["SERVERS_DIRECTORY"]
        return environment ?? root.appendingPathComponent(".build/servers").path
    }()

    /// The path of a program that `scripts/install-servers.sh` installed; nil if the program is not there.
    static func program(_ name: String, in environment: String = "carbon") -> String? {
        ["/debian/usr/bin/", "/\(environment)/bin/"].map { directory + $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    let scratch: String
    private let process: Process

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - prepare: writes the program's files into the scratch directory and returns its arguments.
    ///   - isReady: whether the server answers; asked every 50 ms for at most two minutes.
    init(
        _ program: String,
        environment: [String: String] = [:],
        prepare: (String) throws -> [String],
        isReady: @escaping @Sendable () async -> Bool
    ) async throws {
        let scratch = NSTemporaryDirectory() + "instrument-server-\(UUID().uuidString)"
        self.scratch = scratch
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "1800", program] + (try prepare(scratch))
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let log = scratch + "/log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let handle = FileHandle(forWritingAtPath: log)
        process.standardOutput = handle ?? FileHandle.nullDevice
        process.standardError = handle ?? FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        self.process = process
        let started = Started(process)
        try await blocking { try started.process.start() }
        for _ in 0..<2400 {
            if await isReady() { return }
            guard process.isRunning else { throw NoServer(why: "\(program) has ended: \(Self.end(of: log))") }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NoServer(why: "\(program) does not answer: \(Self.end(of: log))")
    }

    /// The last lines of a server's log: they say why it ended.
    private static func end(of log: String) -> Substring {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "no log").suffix(600)
    }

    /// Sends a signal to the server. `timeout` leads the server's process group.
    func send(_ signal: Int32) { kill(-process.processIdentifier, signal) }

    deinit {
        send(SIGCONT)
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: scratch)
    }
}

/// Unchecked: one other thread starts the process before any other use.
private struct Started: @unchecked Sendable {
    let process: Process
    init(_ process: Process) { self.process = process }
}
