import Instrument
import InstrumentCheck
import InstrumentHTTP
import InstrumentRules
import TestTraits
import Testing

@Suite("Checks of MPDs that name a clock", .ownThread, .timeLimit(.minutes(30)))
struct ClockCheckTests {
    /// Checks a live MPD whose clock answers, at the start of the check, with a text.
    private func check(_ kind: String, answer: @escaping @Sendable (inout HTTPResponse) -> Void) async throws
        -> [String]
    {
        let report = try await RuleTableTests.check("live/dash/number.mpd") { response in
            if response.url.path.hasSuffix(".mpd") {
                let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
                let timing =
                    "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:http-\(kind):2014\" value=\"http://time.example/now\"/>"
                let text = lines.flatMap { line in
                    line.contains("UTCTiming") ? [] : line.contains("</MPD>") ? [timing, String(line)] : [String(line)]
                }
                response.body = Array(text.joined(separator: "\n").utf8)
            } else if response.url.path == "/now" {
                answer(&response)
            }
        } configure: { configuration in
            configuration.segmentCount = 0
            configuration.duration = .seconds(4)
        }
        return report.findings.map(\.rule.description)
    }

    @Test("The body of a clock tells the time", arguments: [("xsdate", "00", false), ("iso", "09", true)])
    func body(kind: String, second: String, isWrong: Bool) async throws {
        let broken = try await check(kind) { response in
            (response.status, response.body) = (200, Array("2026-01-01T00:00:\(second)Z\n".utf8))
        }
        #expect(broken == (isWrong ? ["utc-timing-wrong"] : []))
    }

    @Test("The date of a clock's response tells the time", arguments: [("00", false), ("30", true)])
    func header(second: String, isWrong: Bool) async throws {
        let headers = try HTTPHeaders(["Date": "Thu, 01 Jan 2026 00:00:\(second) GMT"])
        let broken = try await check("head") { response in (response.status, response.headers) = (200, headers) }
        #expect(broken == (isWrong ? ["utc-timing-wrong"] : []))
    }

    @Test("A clock that does not answer is a fault")
    func silence() async throws {
        #expect(try await check("xsdate") { $0.status = 404 } == ["utc-timing-wrong"])
    }
}
