import Foundation
import Testing

@Suite("Server shutdown")
struct ServerTests {
    @Test(
        "The server delivers its last events on a signal, the end event last, and its process continues until it exits",
        arguments: [SIGTERM, SIGINT]
    )
    func ended(signal: Int32) throws {
        let path = NSTemporaryDirectory() + "server-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = Self.program
        process.arguments = [path]
        process.standardOutput = output
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        var said = Data()
        while !said.contains(Data("ready\n".utf8)) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            said += more
        }
        let before = try String(contentsOfFile: path, encoding: .utf8)
        #expect(before.isEmpty)
        kill(process.processIdentifier, signal)
        said += output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        #expect(String(decoding: said, as: UTF8.self) == "ready\nended with 0 samples waiting\n")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let actions = ["Visit", "AppActive", "AppTerminating", "Farewell"].filter { action in
            lines.contains { $0.contains("\"\(action)\"") }
        }
        #expect(actions.count == 4)
        #expect(lines.last?.contains("\"AppTerminating\"") == true)
    }

    private static var program: URL {
        var folder = Bundle.main.bundleURL
        if folder.pathExtension == "xctest" { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("ServerExample")
    }
}

extension Data {
    fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}
