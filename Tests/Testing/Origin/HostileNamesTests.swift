import Foundation
import LoopbackServers
import Testing

extension OriginCommandLineTests {
    @Test("File names and wrong arguments are printed without control characters for the terminal")
    func hostileNames() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/media-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let name = "a\u{1B}[2J\u{202E}\nTest origin at nowhere.mp4"
        #expect(FileManager.default.createFile(atPath: folder + "/" + name, contents: Data()))
        let (process, output) = (Process(), Pipe.forChild())
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["--port", "0", "--no-fixtures", "--media", folder]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let handle = output.fileHandleForReading
        let said = await blocking {
            var said = Data()
            while !String(decoding: said, as: UTF8.self).contains("Ctrl-C") {
                let more = handle.availableData
                if more.isEmpty { break }
                said += more
            }
            return String(decoding: said, as: UTF8.self)
        }
        process.interrupt()
        await blocking { process.waitUntilExit() }
        #expect(said.contains("nowhere.mp4"))
        #expect(said.split(separator: "\n").count { $0.hasPrefix("Test origin at") } == 1)
        let run = try await command([Self.program, "--fault", "explode \u{1B}[2J\u{202E}\nTest origin at x"])
        #expect(run.status == 2 && run.errors.contains("explode \\u{1b}[2J\\u{202e}\\nTest origin at x"))
        for text in [said, run.output + run.errors] {
            let isUnsafe = { (scalar: Unicode.Scalar) in
                scalar != "\n" && [.control, .format].contains(scalar.properties.generalCategory)
            }
            #expect(!text.unicodeScalars.contains(where: isUnsafe))
        }
    }
}
