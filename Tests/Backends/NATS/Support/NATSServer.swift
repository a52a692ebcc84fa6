import Foundation
import Instrument
import LoopbackServers

/// A real nats-server with JetStream on a loopback port. It can be ended, killed, stopped and started again with its
/// streams.
final class NATSServer: Sendable {
    static let program: String? = {
        let root = packageRoot
        let environment = ProcessInfo.processInfo.environment["SERVERS_DIRECTORY"]
        let directory = environment ?? root.appendingPathComponent(".build/servers").path
        return [directory + "/debian/usr/sbin/nats-server", "/usr/sbin/nats-server"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()
    static var isInstalled: Bool { program != nil }

    let port: UInt16
    var address: String { "127.0.0.1:\(port)" }
    private let scratch: Scratch
    private let process = Lock<Process?>(nil)

    /// - Parameter settings: more lines of the configuration file.
    init(_ settings: String = "") async throws {
        port = try TestServer.closedPort()
        scratch = try Scratch()
        let text = """
            listen: "127.0.0.1:\(port)"
            jetstream { store_dir: "\(scratch.path)" }
            \(settings)

            """
        try text.write(toFile: scratch.file("nats.conf"), atomically: true, encoding: .utf8)
        try await start()
    }

    deinit { end(SIGKILL) }

    /// Starts the server, and waits until it accepts connections.
    func start() async throws {
        guard let program = Self.program else { throw NoServer(why: "nats-server is not installed") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Ends by itself, should the tests be killed.
        process.arguments = ["timeout", "-s", "KILL", "1800", program, "-c", scratch.file("nats.conf")]
        let log = scratch.file("log")
        if !FileManager.default.fileExists(atPath: log) {
            _ = FileManager.default.createFile(atPath: log, contents: nil)
        }
        let handle = FileHandle(forWritingAtPath: log)
        _ = try? handle?.seekToEnd()
        process.standardOutput = handle ?? FileHandle.nullDevice
        process.standardError = handle ?? FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.start()
        self.process.withLock { $0 = process }
        for _ in 0..<30_000 {
            if NATSClient.isThere(port) { return }
            guard process.isRunning else { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw NoServer(
            why: "nats-server does not answer: \(String(decoding: scratch.bytes("log").suffix(1000), as: UTF8.self))"
        )
    }

    /// Ends the server with a signal, and waits for its end.
    func end(_ signal: Int32) {
        guard let process = process.withLock({ $0.take() }) else { return }
        self.signal(signal, process)
        process.waitUntilExit()
    }

    /// Sends a signal to the running server.
    func send(_ signal: Int32) { if let process = process.withLock({ $0 }) { self.signal(signal, process) } }

    /// `timeout` is the parent of the server; the server is in its process group.
    private func signal(_ signal: Int32, _ process: Process) {
        for child in Self.children(of: process.processIdentifier) {
            kill(child, signal)
            // A thread on another processor runs a little longer.
            while signal == SIGSTOP, process.isRunning, !Self.isStopped(child) { usleep(1000) }
        }
    }

    private static func isStopped(_ process: Int32) -> Bool {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return tasks.allSatisfy { task in
            let text = (try? String(contentsOfFile: "/proc/\(process)/task/\(task)/stat", encoding: .utf8)) ?? ""
            return text.split(separator: ")").last?.contains(" T ") ?? true
        }
    }

    private static func children(of parent: Int32) -> [Int32] {
        let text = (try? String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)) ?? ""
        return text.split(separator: " ").compactMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
}

struct NoServer: Error { let why: String }
