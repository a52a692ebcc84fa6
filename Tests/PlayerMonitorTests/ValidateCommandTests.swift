import Foundation
import Testing

extension CommandLineTests {
    private static let good = #"""
        {"actor":{"mbox":"mailto:a@example.org"},"verb":{"id":"urn:saw"},"object":{"id":"urn:film"}}
        """#

    /// A file of these lines, deleted afterwards.
    private func withFile(_ lines: [String], _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "statements-\(UUID().uuidString).ndjson"
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("Statements are checked line by line, and one that is invalid ends with 1")
    func validateStatements() throws {
        let bad = #"{"actor":{"mbox":"a"},"verb":{"id":"urn:saw","\u0069d":"urn:saw"},"object":{"id":"film"}}"#
        let lines = [
            Self.good, "", #"{"id":"case 7","statement":\#(Self.good)}"#, "  \r", "{", #"{"id":8,"statement":\#(bad)}"#,
            #"{"id":"a\tb","statement":[]}"#, bad,
        ]
        try withFile(lines) { path in
            let run = try Run.playerMonitor("xapi", "validate", path)
            #expect(run.status == 1)
            #expect(run.errors.isEmpty)
            let failures = [
                "invalid", "XAPI-00021 $.verb.id `id` stands more than once in its object; keep one of them.",
                "XAPI-00038 $.actor.mbox `mbox` must be `mailto:` and an e-mail address (found \"a\").",
                "XAPI-00047 $.object.id `id` must be an IRI with a scheme, such as https://example.org/film (found \"film\").",
            ].joined(separator: "\t")
            let cut = "The text is not valid JSON at byte 1: expected a name in quotes (found the end of the text)."
            #expect(
                run.output.split(separator: "\n") == [
                    "1\tvalid", "case 7\tvalid", "5\tinvalid\tXAPI-00014 $ \(cut)", "8\t\(failures)",
                    "7\tinvalid\tXAPI-00014 $ The statement must be an object (found an empty array).",
                    "8\t\(failures)",
                ]
            )
        }
    }

    @Test("Valid statements end with 0, and the version decides")
    func validateVersions() throws {
        let agents =
            #""context":{"contextAgents":[{"objectType":"contextAgent","agent":{"mbox":"mailto:a@example.org"}}]}"#
        try withFile([Self.good.dropLast() + "," + agents + "}"]) { path in
            let second = try Run.playerMonitor("xapi", "validate", path, "--version", "2.0.0")
            #expect(second.status == 0)
            #expect(second.output == "1\tvalid\n")
            let first = try Run.playerMonitor("xapi", "validate", path)
            #expect(first.status == 1)
            #expect(
                first.output.hasPrefix("1\tinvalid\tXAPI-00010 $.context.contextAgents `contextAgents` is not a key")
            )
            #expect(try Run.playerMonitor("xapi", "validate", path, "--version", "0.9").status == 2)
        }
    }

    @Test("A warning leaves a statement valid and the exit code 0, unless --strict is given")
    func validateWarnings() throws {
        try withFile([Self.good.dropLast() + #","result":{}}"#]) { path in
            let warning = "warning XAPI-00001 $.result `result` should not be empty outside of extensions; leave it out"
            let run = try Run.playerMonitor("xapi", "validate", path)
            #expect(run.status == 0)
            #expect(run.output == "1\tvalid\t\(warning) (found an empty object).\n")
            let strict = try Run.playerMonitor("xapi", "validate", "--strict", path)
            #expect(strict.status == 1)
            #expect(strict.output == "1\tinvalid\t\(warning) (found an empty object).\n")
        }
    }

    @Test("A byte order mark, bad UTF-8, deep nesting and a huge number each get a rule and a place")
    func validateNotJSON() throws {
        let path = NSTemporaryDirectory() + "statements-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let good = Array(Self.good.utf8)
        let lines: [[UInt8]] = [
            [0xEF, 0xBB, 0xBF] + good, Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8),
            [UInt8](repeating: UInt8(ascii: "["), count: 300), Array("{\"a\":1e400}".utf8), good,
        ]
        try Data(lines.joined(separator: [0x0A])).write(to: URL(fileURLWithPath: path))
        let run = try Run.playerMonitor("xapi", "validate", path)
        let found = run.output.split(separator: "\n").map { $0.split(separator: " ").prefix(1).joined() }
        #expect(
            found == [
                "1\tinvalid\tjson-byte-order-mark", "2\tinvalid\tjson-utf-8", "3\tinvalid\tjson-nesting",
                "4\tinvalid\tjson-number-range", "5\tvalid",
            ]
        )
    }

    @Test("Seer's payloads are checked by Seer's rules")
    func validateSeer() throws {
        let activity =
            #"{"actor":{"id":"a"},"verb":"watch","object":{"id":"o","objectType":"video"},"generator":{"appId":"p"}}"#
        try withFile([activity, #"{"id":"two","payload":{"verb":"watch"}}"#]) { path in
            let run = try Run.playerMonitor("seer", "validate", "activity", path)
            #expect(run.status == 1)
            #expect(run.output.hasPrefix("1\tvalid\ntwo\tinvalid\tseer-actor-id $.actor.id `id` is missing.\t"))
            let tinCan = try Run.playerMonitor("seer", "validate", "tincan", path)
            #expect(tinCan.output.hasPrefix("1\tinvalid\tseer-tincan-identifier $.actor `actor` must have one of"))
            let strict = try Run.playerMonitor("seer", "validate", "activity", "--strict", path)
            #expect(strict.output.hasPrefix("1\tinvalid\tseer-published $.published `published` must be a date"))
        }
    }

    @Test("What cannot be read ends with 2, an empty file with 0", arguments: ["/no/such/file", "/"])
    func validateUnusable(path: String) throws {
        let run = try Run.playerMonitor("xapi", "validate", path)
        #expect(run.status == 2)
        #expect(run.errors.contains("cannot read \(path)"))
        #expect(run.output.isEmpty)
        #expect(try Run.playerMonitor("seer", "validate", "clickstream", "/dev/null").status == 2)
        // Standard input is empty here.
        let empty = try Run.playerMonitor("seer", "validate", "tincan", "-")
        #expect(empty.status == 0 && empty.output.isEmpty)
    }
}
