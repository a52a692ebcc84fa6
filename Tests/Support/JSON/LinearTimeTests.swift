import CostMeasurement
import InstrumentJSON
import Testing

@Suite("Cost of JSON")
struct LinearTimeTests {
    private static func list(_ separator: String = ",", _ part: @escaping @Sendable (Int) -> String)
        -> @Sendable (Int) -> String
    {
        { count in (0..<count).map(part).joined(separator: separator) }
    }

    static let shapes: [CostShape] = [
        CostShape(name: "members") { "{" + list { "\"\($0)\":1" }($0) + "}" },
        CostShape(name: "members of one name") { "{" + list { _ in "\"a\":1" }($0) + "}" },
        CostShape(name: "elements") { "[" + list { "\($0)" }($0) + "]" },
        CostShape(name: "objects inside one another, again and again") { count in
            let deep = String(repeating: "{\"a\":", count: 100) + "1" + String(repeating: "}", count: 100)
            return "[" + list { _ in deep }(count / 100) + "]"
        },
        CostShape(name: "bytes of a string") { "\"" + String(repeating: "aé", count: $0) + "\"" },
        CostShape(name: "escapes") { "\"" + String(repeating: "\\u00e9\\ud83d\\ude00\\n", count: $0) + "\"" },
        CostShape(name: "digits") { String(repeating: "7", count: $0) },
        CostShape(name: "digits behind a point and in an exponent") { count in
            let digits = String(repeating: "7", count: count)
            return "[0.\(digits),1.\(digits)e-\(digits)]"
        },
        CostShape(name: "white space") { String(repeating: " \n\t\r", count: $0) + "1" },
        CostShape(name: "combining marks of a name") {
            "{\"a" + String(repeating: "\u{301}\u{316}", count: $0) + "\":1}"
        },
        CostShape(name: "flags in a name") { "{\"" + String(repeating: "\u{1F1E6}", count: $0) + "\":1}" },
        CostShape(name: "strings that are not closed") { String(repeating: "[\"", count: $0) },
        CostShape(name: "bytes that are not UTF-8 at the end") { "\"" + String(repeating: "é", count: $0) + "\\u0g" },
    ]

    @Test("Reading JSON costs time in proportion to its length", arguments: Self.shapes)
    func reading(shape: CostShape) {
        let growth = CostGrowth.measure(from: 250, making: { Array(shape.text($0).utf8) }) { bytes in
            if let value = try? JSONValue(parsing: bytes) { _ = value.bytes }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("A name with more combining marks than text has is refused, with its place")
    func combiningMarks() {
        let name = { (count: Int) in Array("{\"a\(String(repeating: "\u{301}", count: count))\":1}".utf8) }
        #expect(throws: Never.self) { try JSONValue(parsing: name(30)) }
        #expect { try JSONValue(parsing: name(31)) } throws: { error in
            (error as? JSONError)?.code == .combiningMarks && (error as? JSONError)?.offset == 1
        }
    }
}
