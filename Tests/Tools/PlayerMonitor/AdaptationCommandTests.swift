import Foundation
import InstrumentJSON
import Testing

extension CommandLineTests {
    private static let trace =
        #"[{"duration_ms":4000,"bandwidth_kbps":2500,"latency_ms":40},{"duration_ms":6000,"bandwidth_kbps":500}]"#

    /// A file of this text, deleted afterwards.
    private func withTrace(_ text: String, _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "trace-\(UUID().uuidString).json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("The table of rules is aligned, repeatable, and has means")
    func compareRules() throws {
        let arguments = ["abr", "--ladder", "300,700,1500", "--duration", "40", "--rule", "bola", "--rule", "lowest"]
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == 0 && run.errors.isEmpty)
        let lines = run.output.split(separator: "\n")
        // Seven traces and their mean, two rules, a header.
        #expect(lines.count == 17 && Set(lines.map(\.count)).count == 1)
        #expect(lines.first?.hasPrefix("trace") == true && lines.last?.hasPrefix("all        bola") == true)
        #expect(try Run.playerMonitor(arguments).output == run.output)
    }

    @Test("A trace from a file gives JSON and a plot")
    func jsonAndPlot() throws {
        try withTrace(Self.trace) { path in
            let plot = path + ".svg"
            defer { try? FileManager.default.removeItem(atPath: plot) }
            let run = try Run.playerMonitor([
                "abr", "--trace", path, "--ladder", "400,800", "--duration", "20", "--compare", "profiles", "--format",
                "json",
                "--plot", plot,
            ])
            #expect(run.status == 0)
            let rows = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            #expect(
                rows.map { $0["rule"]?.string } == [
                    "standard", "exoplayer", "avplayer", "hlsjs", "hlsjs-no-worker", "dashjs", "shaka", "mpv",
                ]
            )
            // mpv fetches 800 kbit/s throughout.
            #expect(rows.last?["averageBitrate"]?.int == 800_000 && rows.last?["switches"]?.int == 0)
            let drawing = try String(contentsOfFile: plot, encoding: .utf8)
            #expect(drawing.hasPrefix("<svg ") && drawing.hasSuffix("</svg>\n") && drawing.contains(">hlsjs</text>"))
        }
    }

    @Test(
        "Wrong arguments of 'abr' exit with 2 and list the known values",
        arguments: [
            (["--rule", "best"], "bola-e"), (["--profile", "vlc"], "exoplayer"), (["--ladder", "0,5"], "kbit/s"),
            (["--ladder", "/nonexistent"], "/nonexistent"), (["--trace", "/nonexistent"], "/nonexistent"),
            (["--segment", "nan"], "--segment"), (["--duration", "1"], "--duration"),
            (["--latency", "-1"], "--latency"),
            (["--ladder", "500", "--duration", "4", "--plot", "/nonexistent/x.svg"], "/nonexistent/x.svg"),
        ]
    )
    func wrongUse(arguments: [String], expected: String) throws {
        let run = try Run.playerMonitor(["abr"] + arguments)
        #expect(run.status == 2 && run.errors.contains(expected))
        try withTrace("1 x\n") { path in
            let unreadable = try Run.playerMonitor("abr", "--trace", path)
            #expect(unreadable.status == 2 && unreadable.errors.contains("line 1"))
        }
    }
}
