import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers

/// The path of a program of this machine; nil without it.
func installedProgram(_ name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { $0 + "/" + name }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}

/// Runs `body` with an origin that serves the fixtures.
func withOrigin(faults: [FaultRule] = [], _ body: (Origin) async throws -> Void) async throws {
    let origin = try await Origin.start(
        media: [.fixtures(try await Fixtures.make(in: MediaCache.origin))],
        faults: faults
    )
    do { try await body(origin) } catch {
        await origin.stop()
        throw error
    }
    await origin.stop()
}

extension Scratch {
    /// Writes a file and returns its path.
    func write(_ text: String, _ name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }
}

/// A process of `player-monitor watch`, and what it prints.
final class RunningWatch: Sendable {
    private struct State {
        var output = ""
        var waiters: [(text: String, count: Int, gate: Gate)] = []
        var ended = Gate()
    }

    private let process: Lock<Process>
    private let state = Lock(State())

    /// - Parameter directory: the working directory; nil for that of the test.
    init(_ arguments: [String], environment: [String: String] = [:], in directory: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: siblingProgram("player-monitor"))
        process.arguments = ["watch"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let pipe = Pipe.forChild()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        try process.start()
        self.process = Lock(process)
        let reader = pipe.fileHandleForReading
        Thread.detachNewThread { [self] in
            while case let data = reader.availableData, !data.isEmpty { take(String(decoding: data, as: UTF8.self)) }
            state.withLock { $0.ended }.open()
            for waiter in state.withLock({ $0.waiters }) { waiter.gate.open() }
        }
    }

    deinit { process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } } }

    private func take(_ text: String) {
        let gates = state.withLock { state in
            state.output += text
            let output = state.output
            let ready = state.waiters.filter { output.components(separatedBy: $0.text).count > $0.count }
            state.waiters.removeAll { waiter in ready.contains { $0.gate === waiter.gate } }
            return ready.map(\.gate)
        }
        for gate in gates { gate.open() }
    }

    var output: String { state.withLock { $0.output } }

    /// Waits until the process has printed a text this many times, or has ended.
    func wait(for text: String, times: Int = 1) async {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.output.components(separatedBy: text).count > times { return true }
            state.waiters.append((text, times, gate))
            return false
        }
        if isThere { return }
        if process.withLock({ !$0.isRunning }) { return }
        _ = await gate.wait()
    }

    var isRunning: Bool { process.withLock { $0.isRunning } }

    func send(_ signal: Int32) { process.withLock { _ = kill($0.processIdentifier, signal) } }

    /// Waits for the end of the process and returns its exit code.
    func waitUntilExit() async -> Int32 {
        _ = await state.withLock { $0.ended }.wait()
        let process = process.withLock { $0 }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
        }
    }

    /// The port that the process listens on.
    func port() async -> Int {
        await wait(for: "listening on http://")
        let line = output.components(separatedBy: "listening on http://").dropFirst().first ?? ""
        return Int(line.prefix { $0 != "\n" }.split(separator: ":").last ?? "") ?? 0
    }
}

extension RunningWatch {
    /// The page of metrics, once it fulfils a condition; the last page if the process has ended.
    func metrics(port: Int, until isComplete: (MetricsPage) -> Bool) async throws -> MetricsPage {
        while true {
            let page = MetricsPage(text: try RawClient.get("/metrics", port: port).body)
            if isComplete(page) { return page }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
    }
}

/// A page of metrics.
struct MetricsPage {
    let text: String

    /// The value of a sample by its name and labels, as they are written; nil without one.
    subscript(_ sample: String) -> Double? {
        guard let start = text.range(of: "\n" + sample + " ")?.upperBound else { return nil }
        return Double(text[start...].prefix { $0 != "\n" })
    }
}
