import CostMeasurement
import Foundation
import InstrumentBackends
import Testing

@Suite("Cost of sample files")
struct LinearTimeTests {
    /// A line with `n` attributes, texts or bytes.
    static let shapes: [(name: String, line: @Sendable (Int) -> String)] = [
        ("attributes", { sample("{" + (0..<$0).map { "\"cost-\($0)\":1" }.joined(separator: ",") + "}") }),
        ("elements of an attribute", { sample("{\"a\":[" + (0..<$0).map(String.init).joined(separator: ",") + "]}") }),
        ("bytes of a text", { sample("{\"a\":\"" + String(repeating: "x", count: $0) + "\"}") }),
    ]

    @Sendable private static func sample(_ attributes: String) -> String {
        """
        {"id":"00000000-0000-4000-8000-000000000000","sequence":0,"type":"event","action":"Start","tracker":2,"time":3,\
        "instant":1,"attributes":\(attributes)}
        """
    }

    @Test("Reading a sample costs time in proportion to its line", arguments: Self.shapes.map(\.name))
    func lines(name: String) throws {
        let shape = try #require(Self.shapes.first { $0.name == name })
        let growth = try CostGrowth.measure(from: 150, making: { Array(shape.line($0).utf8) }) { line in
            _ = try JSONLines.decode(line)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Reading a file costs time in proportion to its size", arguments: ["lines", "one long line", "blank lines"])
    func files(what: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cost-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let growth = try CostGrowth.measure(from: 5_000) { size in
            let line = what == "lines" ? "{}\n" : what == "blank lines" ? "\n" : "xxxx"
            let path = folder.appendingPathComponent("\(size)").path
            try String(repeating: line, count: size).write(toFile: path, atomically: true, encoding: .utf8)
            return path
        } _: { path in
            var reader = try SampleFileReader(path: path)
            while try reader.next() != nil {}
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
