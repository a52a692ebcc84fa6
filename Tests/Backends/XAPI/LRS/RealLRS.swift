import Foundation
import Instrument
import InstrumentTransport
import InstrumentXAPI
import LoopbackServers

/// An LRS in a separate process, over an empty directory. It ends with this value, at the latest after five minutes.
final class RealLRS: Sendable {
    static let directory: String = {
        let root = packageRoot
        return ProcessInfo.processInfo.environment["LRS_DIRECTORY"] ?? root.appendingPathComponent(".build/lrs").path
    }()
    static let isInstalled = FileManager.default.isExecutableFile(atPath: directory + "/bin/ralph")

    let configuration: XAPIConfiguration
    private let process: Process
    private let input = Pipe.forChild()
    private let scratch: String

    init() throws {
        let scratch = NSTemporaryDirectory() + "instrument-lrs-\(UUID().uuidString)"
        self.scratch = scratch
        try FileManager.default.createDirectory(atPath: scratch + "/data", withIntermediateDirectories: true)
        let environment = [
            "RALPH_APP_DIR": scratch, "RALPH_AUTH_FILE": scratch + "/auth.json", "RALPH_RUNSERVER_BACKEND": "fs",
            "RALPH_BACKENDS__LRS__FS__DEFAULT_DIRECTORY_PATH": scratch + "/data", "LRS_LIFE": "300",
        ]
        let credentials = "auth -u key -p the-secret -s all -M mailto:tests@example.org -w".split(separator: " ")
        try Self.run("ralph", credentials.map(String.init), environment)
        let server = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("serve.py")
        let output = Pipe.forChild()
        process = Self.process("python", [server.path], environment)
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = line.trimmingCharacters(in: .whitespacesAndNewlines)
        configuration = XAPIConfiguration(
            endpoint: try HTTPURL("http://127.0.0.1:\(port)/xAPI"),
            credentials: .basic(user: "key", password: "the-secret")
        )
    }

    deinit {
        process.terminate()
        try? FileManager.default.removeItem(atPath: scratch)
    }

    func client() throws -> XAPIClient { XAPIClient(configuration, transport: try SystemTransport()) }

    /// The findings of `ralph validate` about statements; empty for valid ones.
    static func complaints(about statements: [[UInt8]]) throws -> String {
        let (process, input, errors) = (
            process("ralph", ["validate", "-f", "xapi", "-F"], [:]), Pipe.forChild(), Pipe.forChild()
        )
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.start()
        input.fileHandleForWriting.write(Data(statements.joined(separator: [10])))
        try input.fileHandleForWriting.close()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus != 0 || text.contains("ERROR") ? text : ""
    }

    private static func process(_ name: String, _ arguments: [String], _ environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: directory + "/bin/" + name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return process
    }

    private static func run(_ name: String, _ arguments: [String], _ environment: [String: String]) throws {
        let process = process(name, arguments, environment)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
    }
}

/// A transport that forwards requests, and loses the first responses.
final class LosingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let losses: Lock<Int>
    private let sent = Lock<[[UInt8]]>([])

    init(_ transport: any HTTPTransport, losses: Int) {
        self.transport = transport
        self.losses = Lock(losses)
    }

    /// The bodies that were sent.
    var bodies: [[UInt8]] { sent.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if !request.body.isEmpty { sent.withLock { $0.append(request.body) } }
        let response = try await transport.send(request)
        let isLost = losses.withLock { left in
            left -= 1
            return left >= 0
        }
        if isLost { throw HTTPError(.connection, "the answer was lost", url: request.url) }
        return response
    }
}
