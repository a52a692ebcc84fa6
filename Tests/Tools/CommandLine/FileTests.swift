import Foundation
import InstrumentBackendKinds
import InstrumentCommandLine
import Testing

@Suite("Files of the command lines")
struct FileTests {
    /// Calls the body with the path of a file that does not exist yet, and deletes the file afterwards.
    private func withPath(_ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "command-line-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test(
        "A line reader returns every line with its number, also an unterminated last line and lines beyond its buffer"
    )
    func lines() throws {
        try withPath { path in
            let long = String(repeating: "x", count: 200_000)
            try write("a\n\n\(long)\r\nlast", to: path)
            var reader = try LineReader(path: path)
            var lines: [String] = []
            var atHand = [reader.hasNextAtHand]
            while let line = try reader.next() {
                lines.append(String(decoding: line, as: UTF8.self))
                atHand.append(reader.hasNextAtHand)
                #expect(reader.lineNumber == lines.count)
            }
            // The first piece completes two lines, a later one the third, and the end the last.
            #expect(atHand == [false, true, false, false, false])
            #expect(lines == ["a", "", long + "\r", "last"])
            #expect(try reader.next() == nil)
        }
    }

    @Test("A line without an end is an error and not a process without memory")
    func endless() throws {
        try withPath { path in
            try write("first\n", to: path)
            // A sparse file: zeros that the disk does not hold.
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.truncate(atOffset: 3 << 20)
            var reader = try LineReader(path: path, longestLine: 2 << 20)
            #expect(try reader.next() == Array("first".utf8))
            let error = #expect(throws: (any Error).self) { try reader.next() }
            #expect(error.map { "\($0)" }?.contains("line 2: a line must have at most 2 MiB") == true)
        }
    }

    @Test("A source list skips comments and empty lines, and trims white space")
    func sources() throws {
        try withPath { path in
            try write("# films\n\n  \t\n  a film.mp4 \r\nhttps://example.org/a#b\n", to: path)
            #expect(try SourceList.read(path) == ["a film.mp4", "https://example.org/a#b"])
            try write("ok\n" + String(repeating: "x", count: 70_000), to: path)
            let error = #expect(throws: (any Error).self) { try SourceList.read(path) }
            #expect(
                error.map { "\($0)" }?.contains("line 2: a source must have at most 65536 bytes (found 70000)") == true
            )
            try write(String(repeating: "x\n", count: 100_001), to: path)
            #expect(throws: (any Error).self) { try SourceList.read(path) }
        }
    }

    @Test("A file that cannot be read gives an error with the path and the reason", arguments: ["/no/such/file", "/"])
    func unreadable(path: String) {
        let error = #expect(throws: (any Error).self) { try SourceList.read(path) }
        #expect(error.map { "\($0)" }?.contains("cannot read \(path): ") == true)
    }

    @Test("A replaced line log contains the lines in order, and only its owner may read it")
    func replacedLog() throws {
        try withPath { path in
            try write("old", to: path)
            try FileManager.default.removeItem(atPath: path)
            let log = try LineLog(path: path, mode: .replace)
            let lines = (0..<10_000).map { "{\"line\":\($0)}" }
            for line in lines { log.append(Array(line.utf8)) }
            #expect(log.finish())
            #expect(try String(contentsOfFile: path, encoding: .utf8) == lines.map { $0 + "\n" }.joined())
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("An appended line log keeps the earlier lines")
    func appendedLog() throws {
        try withPath { path in
            try write("earlier\n", to: path)
            let log = try LineLog(path: path, mode: .append)
            log.append(Array("later".utf8))
            #expect(log.finish())
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "earlier\nlater\n")
        }
    }

    @Test("A line log reports lines that the disk did not accept", arguments: [LineLog.Mode.append, .replace])
    func fullDisk(mode: LineLog.Mode) throws {
        let log = try LineLog(path: "/dev/full", mode: mode)
        log.append([0x61])
        #expect(!log.finish())
        #expect(throws: (any Error).self) { try LineLog(path: "/no/such/folder/log", mode: mode) }
    }

    @Test("A written file replaces an older one, and an unwritable file gives an error")
    func writtenFile() throws {
        try withPath { path in
            try write("a longer old text", to: path)
            try writeFile("new", to: path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        }
        #expect(throws: (any Error).self) { try writeFile("text", to: "/dev/full") }
        #expect(throws: (any Error).self) { try writeFile("text", to: "/no/such/folder/file") }
    }

    @Test(
        "A seek and a pause are two times from 0 s on",
        arguments: [("5=90", true), ("0=0", true), ("1.5=2", true), ("10s=1m", true), ("5", false), ("-1=4", false)]
            + [("1=2=3", false), ("a=b", false), ("1=", false), ("1=inf", false), ("nan=1", false), ("", false)]
    )
    func viewers(argument: String, isValid: Bool) {
        #expect(((try? ViewerOption.seek(argument)) != nil) == isValid)
        #expect(((try? ViewerOption.pause(argument)) != nil) == isValid)
    }

    @Test(
        "A rate is a time and a factor that browsers play at",
        arguments: [("5=2", true), ("0=0.0625", true), ("1s=16", true), ("5=0", false), ("5=-1", false)]
            + [("5=17", false), ("5=nan", false), ("5=inf", false), ("5=2s", false), ("=2", false), ("2", false)]
    )
    func rates(argument: String, isValid: Bool) {
        #expect(((try? ViewerOption.rate(argument)) != nil) == isValid)
    }

    @Test("Credentials are read from a file or the environment, and no error repeats the argument")
    func credentials() throws {
        try withPath { path in
            try write(" name:secret:with colon\n", to: path)
            let names = ["xapi", "seer"]
            let (name, source) = CredentialsOption(argument: "xapi=file:" + path).divided(byPrefixesOf: names)
            #expect(name == "xapi" && source == .file(path))
            let pair = try BackendCredentials(source, namedBy: "--credentials-from", form: "").pair()
            #expect(pair.name == "name" && pair.secret == "secret:with colon")
            try write("no pair", to: path)
            for argument in ["file:" + path, "file:/no/such/secret", "seer=NO_SUCH_secret"] {
                let error = #expect(throws: BackendKindError.self) {
                    let source = CredentialsOption(argument: argument).divided(byPrefixesOf: names).source
                    return try BackendCredentials(source, namedBy: "--credentials-from", form: "").pair()
                }
                let message = error.map { "\($0)" } ?? ""
                #expect(
                    message.contains("--credentials-from") && !message.contains("secret") && !message.contains(path)
                )
            }
        }
    }
}
