import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

// Serialized, because a process that starts at the same time would inherit these pipes and keep them open.
@Suite("test-origin", .ownThread, .serialized, .timeLimit(.minutes(30)))
struct OriginCommandLineTests {
    static let program = siblingProgram("test-origin")

    @Test("test-origin prints its address, keeps the schedule, writes the log, and ends cleanly at Ctrl-C")
    func serving() async throws {
        _ = try await SharedFixtures.get()
        let log = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: log) }
        let (process, output, errors) = (Process(), Pipe.forChild(), Pipe.forChild())
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["--port", "0", "--cache", SharedFixtures.directory, "--log", log]
        process.arguments? += ["--fault", "503 retry-after 1s on *.mpd", "--schedule", "80M latency 1ms"]
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let (handle, rest) = (output.fileHandleForReading, errors.fileHandleForReading)
        let said = await blocking {
            var said = Data()
            while !String(decoding: said, as: UTF8.self).contains("Ctrl-C") {
                let more = handle.availableData
                if more.isEmpty { break }
                said += more
            }
            return String(decoding: said, as: UTF8.self)
        }
        let port = try #require(said.split(separator: "http://127.0.0.1:").dropFirst().first?.prefix { $0.isNumber })
        let number = try #require(Int(port))
        #expect(said.contains("/live/ts/master.m3u8") && !said.contains("\u{1B}"))
        #expect(try await fetch(number, "/s/a/vod/ts/v0/0.ts").body.count == 100_016)
        #expect(try await fetch(number, "/vod/dash/base.mpd").status == 503)
        process.interrupt()
        let complaints = await blocking { String(decoding: rest.readDataToEndOfFile(), as: UTF8.self) }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && complaints == "Stopped after 2 requests.\n")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("\"session\":\"a\"") && lines[1].contains("\"status\":503"))
    }

    @Test(
        "A usage error is explained and ends with status 2",
        arguments: [
            (["--schedule", "fast"], "not a bandwidth"), (["--fault", "explode"], "is not a fault"),
            (["--port", "99999"], "65535"),
            (["--scenario", "/nowhere"], "scenario file"), (["--sharing", "rude"], "sharing"),
        ]
    )
    func wrongUse(arguments: [String], message: String) async throws {
        let run = try await command([Self.program] + arguments)
        #expect(run.status == 2 && run.errors.contains(message) && run.output.isEmpty, "\(run)")
    }

    @Test("The help lists schedules and faults with examples that parse")
    func help() async throws {
        let run = try await command([Self.program, "--help"])
        #expect(run.status == 0)
        var count = 0
        for line in run.output.split(separator: "\n") {
            let parts = line.split(separator: "'")
            if line.contains("--schedule '"), parts.count > 1 { _ = try DeliverySchedule(String(parts[1])) }
            if line.contains("--fault '"), parts.count > 1 {
                _ = try FaultRule(String(parts[1]))
                count += 1
            }
        }
        #expect(count == 12)
    }

    @Test("--version prints the program's version first")
    func version() async throws {
        let run = try await command([Self.program, "--version"])
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(run.output.hasPrefix("test-origin \(InstrumentVersion.current)\nSwift "), "\(run)")
    }

    @Test("The origin ends with status 4 if its address cannot be written")
    func fullOutput() async throws {
        let arguments = ["/bin/sh", "-c", "exec \"$0\" --no-fixtures --port 0 --media \"$1\" > /dev/full"]
        let run = try await command(arguments + [Self.program, #filePath])
        #expect(run.status == 4 && run.errors.contains("cannot write to standard output"), "\(run)")
    }

    @Test("The origin serves files without fixtures")
    func files() async throws {
        let run = try await command([Self.program, "--no-fixtures", "--media", "/nowhere"])
        #expect(run.status == 1 && run.errors.contains("/nowhere does not exist"), "\(run)")
    }
}
