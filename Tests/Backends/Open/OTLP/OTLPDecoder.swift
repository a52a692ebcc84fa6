import Foundation
import InstrumentJSON
import LoopbackServers

/// The decoder that is generated from OpenTelemetry's protocol files, in a separate process.
enum OTLPDecoder {
    static let isInstalled = python != nil
    private static let python = RealServer.program("python", in: "otlp")

    enum Kind: String { case logs, metrics, logsJSON = "logs-json", metricsJSON = "metrics-json" }

    /// The canonical JSON of a request.
    static func json(_ body: [UInt8], _ kind: Kind) async throws -> JSONValue {
        guard let python else { throw NoServer(why: "not installed") }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("decode.py")
            .path
        let line =
            "\(kind.rawValue) " + body.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\n"
        let path = NSTemporaryDirectory() + "otlp-\(UUID().uuidString)"
        try line.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let result = try await command([
            "sh", "-c", "exec timeout 300 \"$1\" \"$2\" <\"$3\"", "sh", python, script, path,
        ])
        guard result.status == 0 else { throw Unexpected(result.errors) }
        return try JSONValue(parsing: Array(result.output.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
    }
}
