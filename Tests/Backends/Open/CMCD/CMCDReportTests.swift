import Instrument
import InstrumentCMCD
import Testing

@Suite("CMCD report")
struct CMCDReportTests {
    private func report(_ entries: [(CMCDKey, CMCDValue)]) -> CMCDReport {
        var report = CMCDReport()
        for (key, value) in entries { report[key] = value }
        return report
    }

    @Test("Keys are sorted, booleans are bare or ?0, lists have parameters, texts are escaped")
    func text() {
        let report = report([
            (.version, .integer(2)), (.bitrate, .list([.init(5000, .video), .init(320, .audio)])),
            (.isStartup, .boolean(true)),
            (.isBackgrounded, .boolean(false)), (.contentID, .string(#"a"b\c"#)), (.objectType, .token("av")),
            (
                .nextObjects,
                .list([.init(.string("../2.m4s"), [.init("r", .string("0-99"))]), .init(.string("3.m4s"))])
            ),
            ("com.example-cabin", .token("x7")), ("com.example-rate", .decimal(0.25)),
        ])
        let expected =
            #"bg=?0,br=(5000;v 320;a),cid="a\"b\\c",com.example-cabin=x7,com.example-rate=0.25,"#
            + #"nor=("../2.m4s";r="0-99" "3.m4s"),ot=av,su,v=2"#
        #expect(report.text == expected)
        #expect(CMCDReport(expected) == report)
    }

    @Test(
        "Numbers are rounded as the key wants",
        arguments: [
            (CMCDKey.bufferLength, CMCDValue.number(21_349, .video), "bl=(21300;v)"),
            (.bufferLength, .number(21_350), "bl=(21400)"),
            (.deadline, .integer(49), "dl=0"), (.throughput, .number(48_151), "mtp=(48200)"),
            (.requestedThroughput, .integer(12_250), "rtp=12300"),
            (.targetBufferLength, .number(30_001), "tbl=(30000)"),
            (.bitrate, .number(3201), "br=(3201)"), (.playbackRate, .decimal(1.08), "pr=1.08"),
            (.playbackRate, .decimal(2), "pr=2"),
            (.playbackRate, .decimal(0.0625), "pr=0.063"), (.playbackRate, .decimal(1), ""),
            (.playbackRate, .decimal(0), "pr=0"),
            (.timestamp, .integer(.max), "ts=999999999999999"), (.timestamp, .integer(-5), "ts=-5"),
        ]
    )
    func rounding(key: CMCDKey, value: CMCDValue, expected: String) {
        #expect(report([(key, value)]).text == expected)
    }

    @Test("A rate of 1 is written in the event that says so")
    func playbackRateEvent() {
        #expect(report([(.event, .token("pr")), (.playbackRate, .decimal(1))]).text == "e=pr,pr=1")
    }

    @Test("Texts are cut to their limit, other characters are percent-encoded, names that are no keys are left out")
    func limits() throws {
        let long = report([(.sessionID, .string(String(repeating: "s", count: 70)))]).text
        #expect(long == "sid=\"\(String(repeating: "s", count: 64))\"")
        let encoded = report([(.contentID, .string("é\n 100%"))]).text
        #expect(encoded == #"cid="%C3%A9%0A 100%""#)
        #expect(report([("No Key", .integer(1)), (.version, .integer(2))]).text == "v=2")
        #expect(report([(.state, .token("not a token"))]).text == #"sta="not a token""#)
        #expect(CMCDReport(encoded)?[.contentID] == .string("%C3%A9%0A 100%"))
    }

    @Test("Header fields have the keys of their group; keys of event mode are in no field and no query")
    func headers() {
        let report = report([
            (.bitrate, .number(5000, .video)), (.objectType, .token("v")), (.bufferLength, .number(3000, .video)),
            (.sequenceNumber, .integer(42)), (.sessionID, .string("s-1")), (.version, .integer(2)),
            (.playheadTime, .integer(125_000)),
            (.event, .token("t")), (.timestamp, .integer(1)), ("com.example-a", .integer(1)),
        ])
        let fields = report.headerFields.map { "\($0.header.rawValue): \($0.value)" }
        #expect(
            fields == [
                "CMCD-Object: br=(5000;v),ot=v", "CMCD-Request: bl=(3000;v),com.example-a=1,sn=42",
                "CMCD-Session: sid=\"s-1\",v=2",
                "CMCD-Status: pt=125000",
            ]
        )
        #expect(
            report.queryParameter == "CMCD=bl%3D%283000%3Bv%29%2Cbr%3D%285000%3Bv%29%2Ccom.example-a%3D1%2Cot%3Dv%2C"
                + "pt%3D125000%2Csid%3D%22s-1%22%2Csn%3D42%2Cv%3D2"
        )
    }

    @Test("Setting nil removes a key")
    func removal() {
        var report = report([(.version, .integer(2)), (.isStartup, .boolean(true))])
        report[.isStartup] = nil
        report[.bitrate] = nil
        #expect(report.text == "v=2" && report.keys == [.version])
    }
}
