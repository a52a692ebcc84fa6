import Foundation
import InstrumentJSON
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

extension CommandLineTests {
    private func withOrigin(_ body: (Origin) async throws -> Void) async throws {
        let origin = try await Origin.start(media: [.fixtures(try await Fixtures.make(in: MediaCache.origin))])
        do {
            try await body(origin)
        } catch {
            await origin.stop()
            throw error
        }
        await origin.stop()
    }

    @Test("A check of a good stream gives exit code 0, and of a broken one 1 with rule, place and advice")
    func checkStreams() async throws {
        try await withOrigin { origin in
            let good = origin.url("break/none/vod/ts/master.m3u8", session: "a")
            let passed = try await command([siblingProgram("player-monitor"), "check", "--segments", "1", good])
            #expect(passed.status == 0, "\(passed)")
            #expect(passed.output.hasSuffix("  no rule is broken\n"))
            let bad = origin.url("break/version-too-low/vod/ts/master.m3u8", session: "b")
            let failed = try await command([siblingProgram("player-monitor"), "check", "--for", "0", bad])
            #expect(failed.status == 1)
            #expect(failed.output.contains("error version-too-low http://127.0.0.1:"))
            #expect(failed.output.contains("RFC 8216bis section 8"))
            #expect(failed.output.hasSuffix("  3 errors, 0 warnings\n"))
            #expect(!failed.output.contains("\u{1B}"))
            let ignored = try await command(
                [siblingProgram("player-monitor"), "check", "--for", "0", "--ignore", "version-too-low", bad]
            )
            #expect(ignored.status == 0)
        }
    }

    @Test("A warning gives exit code 0, and 1 with --strict")
    func checkWarnings() async throws {
        try await withOrigin { origin in
            let url = origin.url("break/gap-listed/vod/ts/v0.m3u8", session: "a")
            let run = try await command([
                siblingProgram("player-monitor"), "check", "--for", "0", "--format", "json", url,
            ])
            #expect(run.status == 0)
            let report = try JSONValue(parsing: run.output)
            #expect(report["failed"] == .bool(false))
            guard case .array(let findings) = report["findings"] else { throw CheckTestError() }
            #expect(findings.compactMap { $0["rule"]?.string } == ["gap-listed"])
            #expect(findings.first?["severity"]?.string == "warning")
            #expect(
                try await command([siblingProgram("player-monitor"), "check", "--for", "0", "--strict", url]).status
                    == 1
            )
        }
    }

    /// The rows of each table of the schema: the cells of a row as lists of the names in them.
    private static func schema() throws -> [[[[String]]]] {
        let lines = try ProjectFile("docs/check-schema.md").text().split(separator: "\n")
        return lines.split { !$0.hasPrefix("| `") }.map { table in
            table.map { row in
                row.split(separator: "|").map { cell in
                    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
                }
            }
        }
    }

    private static func members(_ value: JSONValue?) -> Set<String> {
        if case .object(let members)? = value { Set(members.keys) } else { [] }
    }

    @Test(
        "What a check understood has exactly the members that the documentation describes",
        arguments: ["break/none/vod/ts/master.m3u8", "break/none/vod/dash/timeline.mpd"]
    )
    func checkSchema(path: String) async throws {
        let tables = try Self.schema()
        try #require(tables.count == 4)
        func names(_ table: Int) -> Set<String> { Set(tables[table].flatMap { $0[0] }) }
        try await withOrigin { origin in
            let run = try await command([
                siblingProgram("player-monitor"), "check", "--for", "0", "--format", "json",
                origin.url(path, session: "a"),
            ])
            let report = try JSONValue(parsing: run.output)
            #expect(Self.members(report) == names(0).subtracting(["loudness"]))
            let stream = report["stream"]
            #expect(Self.members(stream) == names(2))
            for (member, expected) in [
                ("renditions", names(3)), ("variants", Set(tables[2].first { $0[0] == ["variants"] }?[2] ?? [])),
                ("periods", Set(tables[2].first { $0[0] == ["periods"] }?[2] ?? [])),
            ] {
                guard case .array(let values)? = stream?[member] else { throw CheckTestError() }
                #expect(values.isEmpty == (member == "periods" && path.hasSuffix("m3u8")))
                for value in values { #expect(Self.members(value) == expected, "\(member)") }
            }
        }
    }

    @Test("Media that browsers refuse fails the check, and a track that they leave out does not")
    func checkBrowsers() async throws {
        try await withOrigin { origin in
            for (rule, path, status) in [
                ("browsers-refuse", "vod/fmp4/master.m3u8", 1), ("browsers-drop-track", "vod/ts/master.m3u8", 0),
            ] {
                let url = origin.url("break/\(rule)/\(path)", session: rule)
                let run = try await command([
                    siblingProgram("player-monitor"), "check", "--for", "0", "--segments", "1", "--format", "json",
                    url,
                ])
                #expect(run.status == status)
                guard case .array(let findings) = try JSONValue(parsing: run.output)["findings"] else {
                    throw CheckTestError()
                }
                #expect(Set(findings.compactMap { $0["rule"]?.string }) == [rule])
            }
        }
    }

    @Test("JUnit output is XML with a case for each rule")
    func checkJUnit() async throws {
        try await withOrigin { origin in
            let url = origin.url("break/rendition-group-missing/vod/fmp4/master.m3u8", session: "a")
            let run = try await command([
                siblingProgram("player-monitor"), "check", "--for", "0", "--format", "junit", url,
            ])
            #expect(run.status == 1)
            let document = try XMLDocument(xmlString: run.output)
            #expect(try document.nodes(forXPath: "//testcase").count >= 40)
            #expect(try document.nodes(forXPath: "//testcase/failure").count == 1)
            #expect(try document.nodes(forXPath: "//testcase[@name='rendition-group-missing']/failure").count == 1)
        }
    }

    @Test("Private addresses are refused on request")
    func checkPrivate() async throws {
        try await withOrigin { origin in
            let url = origin.url("break/none/vod/ts/master.m3u8", session: "a")
            let run = try await command([siblingProgram("player-monitor"), "check", "--refuse-private-addresses", url])
            #expect(run.status == 1)
            #expect(run.output.contains("manifest-unavailable"))
            #expect(run.output.contains("addressRefused"))
        }
    }

    @Test("A server that never answers ends with the time limit")
    func checkSilence() async throws {
        let server = try TestServer { _ in [] }
        let run = try await command([
            siblingProgram("player-monitor"), "check", "--timeout", "0.5", server.url("/a.m3u8"),
        ])
        #expect(run.status == 1)
        #expect(run.output.contains("manifest-unavailable"))
    }

    @Test("Wrong arguments of check and watch give exit code 2")
    func checkArguments() throws {
        for arguments in [
            ["check"], ["check", "ftp://a"], ["check", "--ignore", "nothing", "http://a/"],
            ["check", "--for", "x", "http://a/"],
            ["check", "--checks", "black", "http://a/"],
            ["check", "--checks", "colour", "--segments", "1", "http://a/"],
            ["watch", "--check", "--shard", "6/5", "m.yaml"],
        ] {
            #expect(try Run.playerMonitor(arguments).status == 2, "\(arguments)")
        }
    }

    @Test("A local file in the place of an address gets an advice that works")
    func checkLocalFile() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString).m3u8")
        let (path, folder) = (file.path, file.deletingLastPathComponent().path)
        try Data("#EXTM3U".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let name = file.lastPathComponent
        for (text, served) in [(path, folder), ("file://" + path, folder), (name, "."), ("./" + name, ".")] {
            let run = try Run.playerMonitor(["check", text], directory: folder)
            #expect(run.status == 2)
            #expect(run.errors.contains("'\(text)' is a local file"))
            #expect(run.errors.contains("--directory \(served) 8000', and give http://127.0.0.1:8000/\(name)"))
        }
        let host = try Run.playerMonitor(["check", "example.org/\(name)"], directory: folder)
        #expect(host.status == 2 && host.errors.contains("write https://example.org/\(name)"))
    }

    @Test("Each fault of a playlist's ad signals is printed once")
    func checkAdSignals() async throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-CUE-IN
            #EXTINF:6,
            a.ts
            #EXT-OATCLS-SCTE35:AAAA
            #EXTINF:6,
            b.ts
            #EXT-OATCLS-SCTE35:AAAA
            #EXTINF:6,
            c.ts
            #EXT-X-ENDLIST
            """
        let server = try TestServer { _ in [.respond("200 OK", Array(text.utf8))] }
        let run = try await command([siblingProgram("player-monitor"), "check", "--for", "0", server.url("/a.m3u8")])
        let lines = run.output.split(separator: "\n").filter { $0.contains("ad-signal-wrong") }
        #expect(lines.count == 2 && lines.count { $0.hasSuffix("/a.m3u8:6 (2 times)") } == 1, "\(run.output)")
        #expect(
            lines.contains { $0.hasSuffix("/a.m3u8:3") } && run.output.contains("EXT-X-CUE-IN follows no EXT-X-CUE-OUT")
        )
        #expect(run.output.contains("2 warnings"))
    }

    @Test("All rules are listed with severity and source")
    func checkList() throws {
        let run = try Run.playerMonitor("check", "--list")
        #expect(run.status == 0)
        #expect(run.output.split(separator: "\n").count >= 40)
        #expect(run.output.contains("stale"))
        #expect(run.output.contains("ISO/IEC 23009-1 clause 5.3.9.6"))
    }

    @Test("A configuration is validated: exit code 0 with a summary, or 1 with every problem")
    func watchCheck() throws {
        let path = NSTemporaryDirectory() + "watch-\(UUID().uuidString).yaml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let streams = (1...10).map { "  - { name: s\($0), url: \"http://example.org/\($0).m3u8\" }\n" }.joined()
        try "streams:\n\(streams)".write(toFile: path, atomically: true, encoding: .utf8)
        let run = try Run.playerMonitor("watch", "--check", path)
        #expect(run.status == 0)
        #expect(run.output == "10 streams, 0 backends, 0 alerts, 0 receivers\n")
        let parts = try (1...3).map { try Run.playerMonitor("watch", "--check", "--shard", "\($0)/3", path).output }
        let counts = parts.compactMap { Int($0.prefix { $0.isNumber }) }
        #expect(counts.reduce(0, +) == 10)
        try "streams:\n\(streams)alarms: []\nnotify: []\n".write(toFile: path, atomically: true, encoding: .utf8)
        let bad = try Run.playerMonitor("watch", "--check", path)
        #expect(bad.status == 1)
        #expect(bad.output.split(separator: "\n").count == 2)
        #expect(bad.output.contains(":12:1: Unknown key `alarms`. Did you mean `alerts`?"))
    }
}

private struct CheckTestError: Error {}
