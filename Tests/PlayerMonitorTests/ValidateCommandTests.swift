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
            let failures = "invalid\tXAPI-00021 $.verb.id\tXAPI-00038 $.actor.mbox\tXAPI-00047 $.object.id"
            #expect(
                run.output.split(separator: "\n") == [
                    "1\tvalid", "case 7\tvalid", "5\tinvalid\tXAPI-00014 $", "8\t\(failures)",
                    "7\tinvalid\tXAPI-00014 $",
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
            #expect(first.output == "1\tinvalid\tXAPI-00010 $.context.contextAgents\n")
            #expect(try Run.playerMonitor("xapi", "validate", path, "--version", "0.9").status == 2)
        }
    }

    @Test("Seer's payloads are checked by Seer's rules")
    func validateSeer() throws {
        let activity =
            #"{"actor":{"id":"a"},"verb":"watch","object":{"id":"o","objectType":"video"},"generator":{"appId":"p"}}"#
        try withFile([activity, #"{"id":"two","payload":{"verb":"watch"}}"#]) { path in
            let run = try Run.playerMonitor("seer", "validate", "activity", path)
            #expect(run.status == 1)
            #expect(run.output.hasPrefix("1\tvalid\ntwo\tinvalid\tseer-actor-id $.actor.id\t"))
            let tinCan = try Run.playerMonitor("seer", "validate", "tincan", path)
            #expect(tinCan.output.hasPrefix("1\tinvalid\tseer-tincan-identifier $.actor\t"))
            let strict = try Run.playerMonitor("seer", "validate", "activity", "--strict", path)
            #expect(strict.output.hasPrefix("1\tinvalid\tseer-published $.published\n"))
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
