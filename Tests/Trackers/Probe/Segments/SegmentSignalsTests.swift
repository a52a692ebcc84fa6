import InstrumentAds
import Testing

@testable import InstrumentProbe

@Suite("Signals of ad breaks in segments")
struct SegmentSignalsTests {
    private static let section: [UInt8] = [
        0xFC, 0x30, 0x1B, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xF0, 0x0A, 0x05, 0, 0, 0, 1, 0x7F, 0x5F, 0, 1, 0, 0, 0, 0,
        0xE3,
        0xCB, 0xD3, 0x86,
    ]

    /// An event message of version 0 with a timescale, which is followed by a fragment.
    private static func segment(
        scheme: String = "urn:scte:scte35:2013:bin",
        version: UInt8 = 0,
        timescale: UInt8 = 90,
        _ data: [UInt8]
    ) -> [UInt8] {
        let names = Array(scheme.utf8) + [0, 0]
        let numbers: [UInt8] = [0, 0, 0, timescale, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1]
        let message = BoxEditor.box("emsg", [version, 0, 0, 0] + names + numbers + data)
        let other = BoxEditor.box("emsg", [0, 0, 0, 0] + Array("urn:other".utf8) + [0, 0] + numbers)
        return BoxEditor.box("styp", Array("msdh0000".utf8)) + other + message + BoxEditor.box("moof", [])
    }

    private static func changed(_ place: Int) -> [UInt8] {
        var copy = section
        copy[place] ^= 1
        return copy
    }

    @Test("A section without a defect, and messages of other schemes, have no findings")
    func sound() {
        #expect(SegmentSignals.findings(in: Self.segment(Self.section)).isEmpty)
        #expect(SegmentSignals.findings(in: Self.segment(scheme: "urn:other", Self.changed(4))).isEmpty)
        // What a later version has is not known.
        #expect(SegmentSignals.findings(in: Self.segment(version: 2, Self.section)).isEmpty)
        #expect(SegmentSignals.findings(in: []).isEmpty)
        #expect(SegmentSignals.findings(in: Array("urn:scte:scte35:2013:bin".utf8)).isEmpty)
    }

    @Test(
        "A damaged section is found at the place of its message",
        arguments: [
            (changed(4), "checksum: "), (changed(0), "tableID: "), (Array(section.dropLast(3)), "truncated: "),
            ([], "truncated: "),
        ]
    )
    func damaged(data: [UInt8], words: String) {
        let found = SegmentSignals.findings(in: Self.segment(data))
        #expect(found.map(\.rule) == ["SCTE 214-3, section 7"], "\(found)")
        #expect(
            found.allSatisfy { $0.message.hasPrefix(words) && $0.description.contains("`emsg` number 2") },
            "\(found)"
        )
    }

    @Test("A message of splice information that cannot be read is found, and one of another scheme is not")
    func unreadable() {
        let found = SegmentSignals.findings(in: Self.segment(timescale: 0, Self.section))
        #expect(found.map(\.rule) == ["ISO/IEC 23009-1, section 5.10.3.3"])
        #expect(SegmentSignals.findings(in: Self.segment(scheme: "urn:other", timescale: 0, [])).isEmpty)
    }
}
