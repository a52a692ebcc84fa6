import Foundation
import InstrumentJSON
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

    @Test("Statements are validated line by line, and an invalid one gives exit code 1")
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
                "invalid",
                "XAPI-00021 $.verb.id `id` must appear only once in its object (found more than once); remove the others.",
                "XAPI-00038 $.actor.mbox `mbox` must be `mailto:` followed by an e-mail address (found \"a\").",
                "XAPI-00047 $.object.id `id` must be an IRI with a scheme, such as https://example.org/film (found \"film\").",
            ].joined(separator: "\t")
            let cut = "The text must be valid JSON; at byte 1: expected a name in quotes (found the end of the text)."
            #expect(
                run.output.split(separator: "\n") == [
                    "1\tvalid", "case 7\tvalid", "5\tinvalid\tXAPI-00014 $ \(cut)", "8\t\(failures)",
                    "7\tinvalid\tXAPI-00014 $ The statement must be an object (found an empty array).",
                    "8\t\(failures)",
                ]
            )
        }
    }

    @Test(
        "A batch, the answer of a learning record store and statements over several lines are validated one by one",
        arguments: [
            ("[GOOD, BAD,\n GOOD]", ["1.1 valid", "1.2 invalid", "2.3 valid"]),
            (#"{"statements": [GOOD], "more": "/xapi/more/\u0031"}"#, ["1.1 valid"]),
            (#"{"more": "", "statements": [BAD, GOOD]}"#, ["1.1 invalid", "1.2 valid"]),
            ("{\n\"id\": 7, \"statement\":\nGOOD}\n\nGOOD", ["7 valid", "5 valid"]),
            ("\n[\n\n  GOOD,\n  GOOD\n]\n[BAD]", ["4.1 valid", "5.2 valid", "7.1 invalid"]),
            // A file whose first line is cut.
            ("{\"actor\":{\nGOOD\nBAD", ["1 invalid", "2 valid", "3 invalid"]), ("[]", []),
            // Not of an answer.
            (#"{"statements": [GOOD], "actor": 1"#, ["1 invalid"]),
        ] as [(String, [String])]
    )
    func validateBatch(text: String, expected: [String]) throws {
        let bad = #"{"actor":{"mbox":"a"},"verb":{"id":"urn:saw"},"object":{"id":"urn:film"}}"#
        let text = text.replacingOccurrences(of: "GOOD", with: Self.good).replacingOccurrences(of: "BAD", with: bad)
        try withFile([text]) { path in
            let run = try Run.playerMonitor("xapi", "validate", path)
            let verdicts = run.output.split(separator: "\n").map { line in
                line.split(separator: "\t").prefix(2).joined(separator: " ")
            }
            #expect(verdicts == expected)
            #expect(run.status == (expected.contains { $0.hasSuffix("invalid") } ? 1 : 0) && run.errors.isEmpty)
        }
    }

    @Test("Valid statements give exit code 0, under the rules of the version")
    func validateVersions() throws {
        let agents =
            #""context":{"contextAgents":[{"objectType":"contextAgent","agent":{"mbox":"mailto:a@example.org"}}]}"#
        try withFile([Self.good.dropLast() + "," + agents + "}"]) { path in
            let second = try Run.playerMonitor("xapi", "validate", path, "--xapi-version", "2.0.0")
            #expect(second.status == 0)
            #expect(second.output == "1\tvalid\n")
            let first = try Run.playerMonitor("xapi", "validate", path)
            #expect(first.status == 1)
            #expect(
                first.output.hasPrefix(
                    "1\tinvalid\tXAPI-00010 $.context.contextAgents `contextAgents` must not appear here"
                )
            )
            #expect(try Run.playerMonitor("xapi", "validate", path, "--xapi-version", "0.9").status == 2)
        }
    }

    @Test("A warning leaves a statement valid and the exit code 0, unless --strict is given")
    func validateWarnings() throws {
        try withFile([Self.good.dropLast() + #","result":{}}"#]) { path in
            let warning =
                "warning XAPI-00001 $.result `result` should be left out when empty: "
                + "outside of extensions, an object is expected to have members"
            let run = try Run.playerMonitor("xapi", "validate", path)
            #expect(run.status == 0)
            #expect(run.output == "1\tvalid\t\(warning) (found an empty object).\n")
            let strict = try Run.playerMonitor("xapi", "validate", "--strict", path)
            #expect(strict.status == 1)
            #expect(strict.output == "1\tinvalid\t\(warning) (found an empty object).\n")
        }
    }

    @Test("The verdict of a line is written before the next line comes")
    func validateLive() throws {
        let path = NSTemporaryDirectory() + "statements-\(UUID().uuidString).fifo"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(mkfifo(path, 0o600) == 0)
        // Opened for both directions, a pipe with a name waits for no reader, and ends with this handle.
        let writer = try #require(FileHandle(forUpdatingAtPath: path))
        let run = try Run.playerMonitor(["xapi", "validate", path], environment: [:]) { _, wait in
            for number in 1...3 {
                writer.write(Data((Self.good + "\n").utf8))
                wait("\(number)\tvalid\n")
            }
            try? writer.close()
        }
        #expect(run.status == 0 && run.output == "1\tvalid\n2\tvalid\n3\tvalid\n")
    }

    @Test("A byte order mark, invalid UTF-8, deep nesting and a huge number each give a rule and a place")
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

    @Test("Seer's payloads are validated by Seer's rules")
    func validateSeer() throws {
        let activity =
            #"{"actor":{"id":"a"},"verb":"watch","object":{"id":"o","objectType":"video"},"generator":{"appId":"p"}}"#
        try withFile([activity, #"{"id":"two","payload":{"verb":"watch"}}"#]) { path in
            let run = try Run.playerMonitor("seer", "validate", "activity", path)
            #expect(run.status == 1)
            #expect(
                run.output.hasPrefix(
                    "1\tvalid\ntwo\tinvalid\tseer-actor-id $.actor.id `id` is missing; it must be a string that is not empty.\t"
                )
            )
            let tinCan = try Run.playerMonitor("seer", "validate", "tincan", path)
            #expect(
                tinCan.output.hasPrefix("1\tinvalid\tseer-tincan-identifier $.actor `actor` must have at least one of")
            )
            let strict = try Run.playerMonitor("seer", "validate", "activity", "--strict", path)
            #expect(
                strict.output.hasPrefix(
                    "1\tinvalid\tseer-published $.published `published` is missing; it must be a date and time"
                )
            )
        }
    }

    @Test("With --format json, each line is an object with the id, the line and all findings")
    func validateJSON() throws {
        let bad = Self.good.dropLast() + #","result":{"score":{"scaled":7},"extensions":{}}}"#
        try withFile([#"{"id":"a\u202Eb","statement":\#(bad)}"#, "", Self.good]) { path in
            let run = try Run.playerMonitor("xapi", "validate", "--format", "json", path)
            #expect(run.status == 1)
            #expect(!run.output.unicodeScalars.contains("\u{202E}"))
            let lines = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            #expect(
                lines == [
                    [
                        "id": "a\u{202E}b", "line": 1, "valid": false,
                        "findings": [
                            [
                                "rule": "XAPI-00083", "path": "$.result.score.scaled", "severity": "error",
                                "message": "`scaled` must be between -1 and 1 (found 7).",
                            ]
                        ],
                    ], ["id": "3", "line": 3, "valid": true, "findings": []],
                ]
            )
            let seer = try Run.playerMonitor("seer", "validate", "--format", "json", "tincan", path)
            #expect(seer.status == 1)
            #expect(
                seer.output.hasPrefix(#"{"findings":[{"message":"`type` is missing; it must be a string"#),
                "\(seer.output)"
            )
        }
    }

    @Test("An unreadable file gives exit code 2, an empty one 0", arguments: ["/no/such/file", "/"])
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
