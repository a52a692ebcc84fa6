import CostMeasurement
import Foundation
import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

@testable import InstrumentAds

@Suite("Signals of ad breaks")
struct AdSignalTests {
    private static let second: Int64 = 1_000_000_000
    private static let insert = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="

    /// A section in hexadecimal of a splice insert.
    private func section(event: UInt32 = 1, isOut: Bool, duration: UInt64? = nil) -> String {
        var insert = SpliceInsert(eventID: event)
        (insert.isOutOfNetwork, insert.isImmediate) = (isOut, true)
        insert.breakDuration = duration.map { BreakDuration(isAutoReturn: true, duration: SpliceTicks($0 * 90_000)) }
        var section = SpliceInfoSection()
        section.command = .insert(insert)
        return "0x" + section.encoded.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A playlist of two-second segments; `lines` come before the segments with their numbers.
    private func signals(
        _ lines: [Int: [String]],
        segments: Int = 10,
        isLive: Bool = false,
        sequence: Int = 0
    ) throws -> AdSignals {
        var text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(sequence)\n#EXT-X-PROGRAM-DATE-TIME:2026-11-22T10:00:00Z\n"
        for number in 0...segments {
            text += (lines[number] ?? []).map { $0 + "\n" }.joined()
            if number < segments { text += "#EXTINF:2,\n\(number).ts\n" }
        }
        if !isLive { text += "#EXT-X-ENDLIST\n" }
        guard
            case .media(let playlist) = try HLSPlaylist(parsing: Array(text.utf8), at: HTTPURL("https://m.test/x.m3u8"))
        else {
            throw CancellationError()
        }
        return AdSignals(playlist)
    }

    private func range(_ id: String, _ second: Int, _ attributes: String) -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-11-22T10:00:\(second < 10 ? "0" : "")\(second)Z\",\(attributes)"
    }

    @Test("Tags of one date range merge into a begin and an end at their positions")
    func dateRange() throws {
        let found = try signals([
            0: [range("a", 4, "PLANNED-DURATION=6,SCTE35-OUT=\(section(isOut: true, duration: 6))")],
            5: [range("a", 4, "DURATION=6,SCTE35-IN=\(section(isOut: false))")],
        ])
        #expect(found.findings.isEmpty, "\(found.findings)")
        #expect(found.signals.map(\.kind) == [.breakBegin, .breakEnd])
        #expect(found.signals.map(\.position) == [4 * Self.second, 10 * Self.second])
        #expect(found.signals.map(\.id) == ["a", "a"])
        #expect(found.signals.first?.duration == 6 * Self.second)
        #expect(found.signals.first?.source == .dateRange)
    }

    @Test("A date range whose tags contradict each other is invalid")
    func contradiction() throws {
        let found = try signals([
            0: [range("a", 4, "DURATION=6,SCTE35-OUT=\(section(isOut: true))")], 5: [range("a", 4, "DURATION=7")],
        ])
        #expect(found.signals.isEmpty)
        #expect(found.findings.count == 1)
        #expect(found.findings.first?.message.contains("DURATION") == true)
    }

    @Test("SCTE35-CMD has the meaning of its section; a malformed section is an error")
    func command() throws {
        let found = try signals([
            0: [range("a", 2, "SCTE35-CMD=\(section(isOut: true, duration: 5))"), range("b", 3, "SCTE35-CMD=0xFC00")]
        ])
        #expect(found.signals.map(\.kind) == [.breakBegin])
        #expect(found.signals.first?.duration == 5 * Self.second)
        #expect(found.findings.map(\.severity) == [.error])
    }

    @Test("Warnings of date ranges: orphaned ends, open breaks, durations that disagree")
    func dateRangeWarnings() throws {
        func messages(_ attributes: String, isLive: Bool = false) throws -> [String] {
            try signals([0: [range("a", 2, attributes)]], isLive: isLive).findings.map(\.message)
        }
        #expect(try messages("SCTE35-IN=\(section(isOut: false))").count == 1)
        #expect(try messages("SCTE35-OUT=\(section(isOut: true))").count == 1)
        #expect(try messages("SCTE35-OUT=\(section(isOut: true))", isLive: true).isEmpty)
        #expect(
            try messages("DURATION=4,SCTE35-OUT=\(section(isOut: true, duration: 9))").first?.contains("disagree")
                == true
        )
    }

    @Test("A signal of a date range without programme dates in the playlist is a warning")
    func undated() throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + range("a", 2, "DURATION=4,SCTE35-OUT=\(section(isOut: true))")
            + "\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
        let playlist = try HLSPlaylist(parsing: Array(text.utf8), at: HTTPURL("https://m.test/x.m3u8"))
        guard case .media(let media) = playlist else { throw CancellationError() }
        let found = AdSignals(media)
        #expect(found.signals.map(\.position) == [nil])
        #expect(found.findings.contains { $0.message.contains("EXT-X-PROGRAM-DATE-TIME") })
    }

    @Test("Times at the ends of their range are warned of like other times")
    func extremeTimes() throws {
        for time in ["-99999999999", "99999999999", "-9223372036.854775808", "1e300", "-1e300", "NaN"] {
            _ = try signals([
                0: ["#EXT-X-CUE-OUT-CONT:\(time)/30"], 1: ["#EXT-X-CUE-OUT-CONT:30/\(time)"],
                2: ["#EXT-X-CUE-OUT-CONT:\(time)/\(time)"], 3: ["#EXT-X-CUE-IN"], 4: ["#EXT-X-CUE-OUT:\(time)"],
                5: ["#EXT-X-CUE-OUT-CONT:2/-\(time)"], 6: ["#EXT-X-CUE-IN"],
                7: [range("a", 2, "DURATION=\(time),SCTE35-OUT=\(section(isOut: true, duration: 95_000))")],
            ])
        }
        let found = try signals([
            2: ["#EXT-X-CUE-OUT:6"], 3: ["#EXT-X-CUE-OUT-CONT:-99999999999/6"], 5: ["#EXT-X-CUE-IN"],
        ])
        #expect(found.findings.contains { $0.message.contains("elapsed") }, "\(found.findings)")
    }

    @Test(
        "Legacy tags give a break with its duration and no warning",
        arguments: [
            "#EXT-X-CUE-OUT:6", "#EXT-X-CUE-OUT:6.000", "#EXT-X-CUE-OUT:DURATION=6",
            "#EXT-X-CUE-OUT:DURATION=6.0,ID=\"x\"",
        ]
    )
    func legacy(out: String) throws {
        let found = try signals([
            2: [out], 3: ["#EXT-X-CUE-OUT-CONT:2/6"], 4: ["#EXT-X-CUE-OUT-CONT:ElapsedTime=4,Duration=6"],
            5: ["#EXT-X-CUE-IN"],
        ])
        #expect(found.findings.isEmpty, "\(found.findings)")
        #expect(
            found.signals.map(\.kind) == [
                .breakBegin, .breakContinue(elapsed: 2 * Self.second), .breakContinue(elapsed: 4 * Self.second),
                .breakEnd,
            ]
        )
        #expect(found.signals.map(\.position) == [4, 6, 8, 10].map { $0 * Self.second })
        #expect(found.signals.first?.duration == 6 * Self.second)
    }

    @Test(
        "Sections in legacy tags decode",
        arguments: [
            "#EXT-OATCLS-SCTE35:" + insert, "#EXT-X-SCTE35:TYPE=0x34,CUE=\"\(insert)\"",
            "#EXT-X-SPLICEPOINT-SCTE35:" + insert,
        ]
    )
    func sections(line: String) throws {
        let found = try signals([3: [line]])
        #expect(found.findings.isEmpty, "\(found.findings)")
        #expect(found.signals.map(\.kind) == [.breakBegin])
        #expect(found.signals.first?.duration == 60_293_566_666)
        #expect(found.signals.first?.position == 6 * Self.second)
        #expect(found.signals.first?.id == "1207959695")
        #expect(try signals([3: ["#EXT-OATCLS-SCTE35:AAAA"]]).findings.map(\.severity) == [.error])
    }

    @Test(
        "Warnings of legacy tags name the defect",
        arguments: [
            ([2: ["#EXT-X-CUE-IN"]], "follows no EXT-X-CUE-OUT"), ([2: ["#EXT-X-CUE-OUT:4"]], "has no EXT-X-CUE-IN"),
            ([2: ["#EXT-X-CUE-OUT:4"], 3: ["#EXT-X-CUE-OUT:4"], 5: ["#EXT-X-CUE-IN"]], "without EXT-X-CUE-IN"),
            ([2: ["#EXT-X-CUE-OUT:6"], 5: ["#EXT-X-CUE-IN"]], "have no EXT-X-CUE-OUT-CONT"),
            ([2: ["#EXT-X-CUE-OUT:20"], 3: ["#EXT-X-CUE-IN"]], "announces"),
            ([2: ["#EXT-X-CUE-OUT:4"], 3: ["#EXT-X-CUE-OUT-CONT:9/4"], 4: ["#EXT-X-CUE-IN"]], "elapsed"),
            ([2: ["#EXT-X-CUE-OUT:4"], 3: ["#EXT-X-CUE-OUT-CONT:2/40"], 4: ["#EXT-X-CUE-IN"]], "states a duration"),
            ([3: ["#EXT-X-CUE-OUT-CONT:2/4"], 4: ["#EXT-X-CUE-IN"]], "follows no EXT-X-CUE-OUT"),
            ([2: ["#EXT-X-CUE-OUT:abc"], 3: ["#EXT-X-CUE-IN"]], "number of seconds"),
        ] as [([Int: [String]], String)]
    )
    func legacyWarnings(lines: [Int: [String]], text: String) throws {
        let found = try signals(lines)
        #expect(found.findings.contains { $0.message.contains(text) }, "\(found.findings)")
        #expect(found.findings.allSatisfy { $0.severity == .warning && $0.line != nil })
    }

    @Test("In a live window, a break that began before the window and one that has not ended are no defects")
    func window() throws {
        let joined = try signals(
            [
                1: ["#EXT-X-CUE-OUT-CONT:4/8"], 2: ["#EXT-X-CUE-IN"], 8: ["#EXT-X-CUE-OUT:30"],
                9: ["#EXT-X-CUE-OUT-CONT:2/30"],
            ],
            isLive: true,
            sequence: 50
        )
        #expect(
            joined.findings.allSatisfy {
                !$0.message.contains("follows") && !$0.message.contains("has no EXT-X-CUE-IN")
            },
            "\(joined.findings)"
        )
        #expect(try signals([1: ["#EXT-X-CUE-IN"]], isLive: true, sequence: 50).findings.isEmpty)
    }

    @Test("Events out of order, and an end of another event, are warnings")
    func identifiers() throws {
        func tag(_ event: UInt32, _ isOut: Bool) -> String {
            "#EXT-X-SCTE35:CUE=\"\(section(event: event, isOut: isOut))\""
        }
        #expect(
            try signals([1: [tag(5, true)], 2: [tag(5, false)], 3: [tag(6, true)], 4: [tag(6, false)]]).findings.isEmpty
        )
        let unordered = try signals([1: [tag(5, true)], 2: [tag(5, false)], 3: [tag(4, true)]]).findings.map(\.message)
        #expect(unordered.contains("event 4 follows event 5"), "\(unordered)")
        let other = try signals([1: [tag(5, true)], 2: [tag(7, false)]]).findings.map(\.message)
        #expect(other == ["event 7 ends a break that event 5 began"])
    }

    @Test("An end of a break that did not begin is one warning, whatever carries it")
    func oneWarning() throws {
        func range(_ id: String, _ second: Int, _ attribute: String, _ event: UInt32, isOut: Bool) -> String {
            self.range(id, second, "\(attribute)=\(section(event: event, isOut: isOut))")
        }
        func messages(_ lines: [String], isLive: Bool = false) throws -> [String] {
            try signals([0: lines], isLive: isLive).findings.map(\.message)
        }
        let begin = self.range("a", 2, "DURATION=4,SCTE35-OUT=\(section(event: 4, isOut: true))")
        let orphan = range("b", 8, "SCTE35-IN", 5, isOut: false)
        #expect(try messages([orphan]) == ["a date range has SCTE35-IN and no SCTE35-OUT"])
        #expect(try messages([begin, orphan]) == ["a date range has SCTE35-IN and no SCTE35-OUT"])
        // In a live window, the tag of the begin leaves before the tag of the end.
        let old =
            "#EXT-X-DATERANGE:ID=\"c\",START-DATE=\"2026-11-22T09:59:58Z\",DURATION=4,SCTE35-IN="
            + section(event: 5, isOut: false)
        #expect(try messages([old], isLive: true).isEmpty && messages([old]).count == 1)
        // The begin and the end of a break as two date ranges.
        let commands = [range("a", 2, "SCTE35-CMD", 4, isOut: true), range("b", 8, "SCTE35-CMD", 4, isOut: false)]
        #expect(try messages(commands).isEmpty)
        #expect(try messages([commands[1]]) == ["event 4 ends a break that did not begin"])
        #expect(try messages([commands[1]], isLive: true).isEmpty)
        let wrong = range("b", 8, "SCTE35-CMD", 5, isOut: false)
        #expect(try messages([commands[0], wrong]) == ["event 5 ends a break that event 4 began"])
    }

    @Test("A playback that joins in a placement opportunity takes its end for no orphan")
    func joinedOpportunity() throws {
        let lines = [1: [segmentation(2, 0x30)], 2: [segmentation(2, 0x31)], 3: [segmentation(1, 0x35)]]
        #expect(try signals(lines, isLive: true, sequence: 50).findings.isEmpty)
        #expect(try signals(lines).findings.map(\.message) == ["event 1 ends a break that did not begin"])
    }

    /// Tags of splices: event, whether it leaves the network, seconds of the break, whether it returns by itself.
    private func splice(_ event: UInt32, _ isOut: Bool, _ duration: UInt64? = nil, returns: Bool = true) -> String {
        var insert = SpliceInsert(eventID: event)
        (insert.isOutOfNetwork, insert.isImmediate) = (isOut, true)
        insert.breakDuration = duration.map { BreakDuration(isAutoReturn: returns, duration: SpliceTicks($0 * 90_000)) }
        var section = SpliceInfoSection()
        section.command = .insert(insert)
        return "#EXT-X-SCTE35:CUE=\"" + Data(section.encoded).base64EncodedString() + "\""
    }

    /// The tag of a segmentation.
    private func segmentation(_ event: UInt32, _ type: UInt8) -> String { segmentations([(event, type)]) }

    /// The tag of a section with segmentations.
    private func segmentations(_ all: [(event: UInt32, type: UInt8)]) -> String {
        "#EXT-OATCLS-SCTE35:" + Data(section(all).encoded).base64EncodedString()
    }

    private func section(_ segmentations: [(event: UInt32, type: UInt8)]) -> SpliceInfoSection {
        var section = SpliceInfoSection()
        section.command = .timeSignal(SpliceTicks(90_000))
        section.descriptors = segmentations.map { event, type in
            var descriptor = SegmentationDescriptor(eventID: event)
            descriptor.type = SegmentationType(type)
            return SpliceDescriptor(
                tag: 2,
                length: 0,
                identifier: SpliceDescriptor.standardIdentifier,
                content: .segmentation(descriptor)
            )
        }
        return section
    }

    @Test("A section that ends an ad and begins the next one gives a signal of each, in every carrier")
    func severalSegmentations() throws {
        let both = [(event: UInt32(2), type: UInt8(0x30)), (event: UInt32(1), type: UInt8(0x31))]
        let found = try signals([
            1: [segmentation(1, 0x30)], 3: [segmentations(both)], 5: [segmentation(2, 0x31)],
        ])
        let expected: [AdSignal.Kind] = [.breakBegin, .breakEnd, .breakBegin, .breakEnd]
        #expect(found.signals.map(\.kind) == expected && found.findings.isEmpty, "\(found.findings)")
        #expect(found.signals.map(\.id) == ["1", "1", "2", "2"])
        // A placement and the ad in it count apart.
        let (begins, ends) = (segmentations([(9, 0x34), (2, 0x30)]), segmentations([(2, 0x31), (9, 0x35)]))
        let nested = try signals([1: [begins], 3: [ends]])
        #expect(nested.signals.count == 4 && nested.findings.isEmpty, "\(nested.findings)")
        let bytes = section(both).encoded
        let carried = AdSignals(transportStreamSections: [bytes])
        #expect(carried.signals.map(\.kind) == [.breakEnd, .breakBegin] && carried.signals.map(\.id) == ["1", "2"])
        let message = try #require(EventMessage(box: box(version: 1, data: bytes)))
        #expect(AdSignals(message, segmentStart: 0).signals.map(\.kind) == [.breakEnd, .breakBegin])
        let hexadecimal = "0x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let range = try signals([0: [range("a", 2, "SCTE35-CMD=\(hexadecimal)")]])
        #expect(range.signals.map(\.kind) == [.breakEnd, .breakBegin])
        // In XML.
        let event =
            "<TimeSignal/>"
            + both.map { event, type in
                "<SegmentationDescriptor segmentationEventId=\"\(event)\" segmentationTypeId=\"\(type)\"/>"
            }.joined()
        let events = try presentation(Self.manifest(event)).events
        #expect(AdSignals(events).signals.map(\.kind) == [.breakEnd, .breakBegin])
    }

    @Test("Tags of sections: a begin without an end and an end without a begin are orphans")
    func orphanedTags() throws {
        func orphans(_ lines: [Int: [String]], isLive: Bool = false) throws -> [String] {
            try signals(lines, isLive: isLive).findings.map { String($0.message.prefix(45)) }
        }
        let noEnd = "the break of event 1 has no signal of its end"
        let noBegin = "event 1 ends a break that did not begin"
        #expect(try orphans([1: [splice(1, true)], 3: [splice(1, false)]]).isEmpty)
        #expect(try orphans([1: [splice(1, true)]]) == [noEnd])
        #expect(try orphans([1: [splice(1, true)]], isLive: true).isEmpty)
        #expect(try orphans([3: [splice(1, false)]]) == [noBegin])
        #expect(try orphans([3: [splice(1, false)]], isLive: true).isEmpty)
        // A break that returns by itself ends at its planned duration; another one should say so.
        #expect(try orphans([1: [splice(1, true, 4)]]).isEmpty)
        #expect(try orphans([1: [splice(1, true, 4, returns: false)]]) == [noEnd])
        #expect(try orphans([1: [splice(1, true, 4, returns: false)], 3: [splice(1, false)]]).isEmpty)
        // The end comes after 12 s instead of 4.
        #expect(try orphans([1: [splice(1, true, 12)], 3: [splice(1, false)]]).count == 1)
        // The next break ends one without a duration.
        #expect(try orphans([1: [splice(1, true)], 3: [splice(2, true, 2)]]) == [noEnd])
        // Commands are repeated before their time.
        let repeated = [1: [splice(1, true)], 2: [splice(1, true)], 3: [splice(1, false), splice(1, false)]]
        #expect(try orphans(repeated).isEmpty)
        // An ad in a placement opportunity.
        let nested = [
            1: [segmentation(1, 0x34), segmentation(2, 0x30)], 3: [segmentation(2, 0x31)], 4: [segmentation(1, 0x35)],
        ]
        #expect(try orphans(nested).isEmpty)
    }

    @Test("Signals of segments: a jump of the playhead makes no orphan")
    func orphansOfSegments() {
        func signal(_ kind: AdSignal.Kind, _ second: Int64) -> AdSignal {
            var signal = AdSignal(.eventMessage, kind)
            (signal.id, signal.position) = ("7", second * Self.second)
            return signal
        }
        var (sequence, found) = (BreakSequence(mayHaveBegun: true), AdSignals())
        found.signals = [signal(.breakEnd, 1), signal(.breakBegin, 2), signal(.breakEnd, 4), signal(.breakEnd, 5)]
        found.check(&sequence)
        #expect(found.findings.isEmpty)
        found.signals = [signal(.breakBegin, 6)]
        found.check(&sequence)
        sequence.jump()
        found.signals = [signal(.breakEnd, 90), signal(.breakBegin, 91)]
        found.check(&sequence)
        #expect(found.findings.isEmpty)
    }

    @Test("Events of an MPD: begin and end belong together by the splice's event, and an end alone is an orphan")
    func orphanedEvents() throws {
        func findings(_ events: String) throws -> [String] {
            let text = """
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT60S"><Period duration="PT60S">
                <EventStream schemeIdUri="urn:scte:scte35:2013:xml">\(events)</EventStream>
                <AdaptationSet contentType="video"><SegmentTemplate media="$Number$.m4s" initialization="i.mp4" duration="2"/>
                <Representation id="v" bandwidth="1" codecs="avc1.4d401f"/></AdaptationSet></Period></MPD>
                """
            return AdSignals(try presentation(text).events, upTo: 60 * Self.second).findings.map(\.message)
        }
        func event(_ id: Int, _ second: Int, _ isOut: Bool, splice: Int) -> String {
            "<Event presentationTime=\"\(second)\" id=\"\(id)\"><SpliceInfoSection><SpliceInsert spliceEventId=\"\(splice)\" "
                + "outOfNetworkIndicator=\"\(isOut)\"/></SpliceInfoSection></Event>"
        }
        #expect(try findings(event(1, 10, true, splice: 9) + event(2, 20, false, splice: 9)).isEmpty)
        let wrong = try findings(event(1, 10, true, splice: 9) + event(2, 20, false, splice: 8))
        #expect(wrong == ["event 8 ends a break that event 9 began"])
        #expect(try findings(event(2, 20, false, splice: 8)) == ["event 8 ends a break that did not begin"])
    }

    private func presentation(_ mpd: String) throws -> Presentation {
        try Presentation(
            parsing: Array(mpd.utf8),
            at: HTTPURL("https://m.test/x.mpd"),
            now: WallTime(milliseconds: 0)
        )
    }

    @Test("Events of an MPD become signals, in binary and in XML")
    func dash() throws {
        let mpd = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:scte35="urn:scte:scte35:2013:xml" type="static" mediaPresentationDuration="PT60S">
            <Period start="PT10S" duration="PT50S">
            <EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="90000" presentationTimeOffset="90000">
            <Event presentationTime="270000" duration="900000" id="7"><scte35:Signal><scte35:Binary>\(Self.insert)</scte35:Binary></scte35:Signal></Event>
            <Event presentationTime="270000"><Signal><Binary>AAAA</Binary></Signal></Event>
            </EventStream>
            <EventStream schemeIdUri="urn:scte:scte35:2013:xml" timescale="1">
            <Event presentationTime="20"><scte35:SpliceInfoSection><scte35:SpliceInsert spliceEventId="9" outOfNetworkIndicator="false"/></scte35:SpliceInfoSection></Event>
            <Event presentationTime="30"><scte35:SpliceInfoSection><scte35:TimeSignal/><scte35:SegmentationDescriptor segmentationEventId="3" segmentationTypeId="52" segmentationDuration="450000"/></scte35:SpliceInfoSection></Event>
            </EventStream>
            <EventStream schemeIdUri="urn:mpeg:dash:event:callback:2015"><Event presentationTime="1">https://t.test/cb</Event></EventStream>
            <EventStream schemeIdUri="urn:mpeg:dash:event:alternativeMPD:replace:2025" timescale="1000">
            <Event presentationTime="5000"><ReplacePresentation uri="ad.mpd" maxDuration="15000" returnOffset="10000" noJump="1" skipAfter="5000"/></Event></EventStream>
            <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="1"><SegmentTemplate media="$Number$.m4s" duration="2"/></Representation></AdaptationSet>
            </Period></MPD>
            """
        let presentation = try presentation(mpd)
        let found = AdSignals(presentation.events)
        #expect(found.signals.map(\.kind) == [.breakBegin, .breakEnd, .breakBegin])
        #expect(found.signals.map(\.position) == [12, 30, 40].map { $0 * Self.second })
        #expect(found.signals.map(\.id) == ["7", "9", "3"])
        #expect(found.signals.map(\.duration) == [10 * Self.second, nil, 5 * Self.second])
        #expect(found.findings.map(\.severity) == [.error, .warning], "\(found.findings)")
        let others = presentation.events.compactMap { ManifestAdEvent($0) }
        #expect(others.first == .callback(AdURL("https://t.test/cb")))
        guard case .alternative(let alternative) = others.last else {
            Issue.record("the last event must be an alternative presentation")
            return
        }
        #expect(alternative.uri == "ad.mpd" && alternative.replacesContent && alternative.forbidsJump)
        #expect(alternative.start == 15 * Self.second)
        #expect(
            [alternative.maximumDuration, alternative.returnOffset, alternative.skipAfter]
                == [15, 10, 5].map { $0 * Self.second }
        )
    }

    @Test(
        "In XML, a cancelled event neither begins nor ends a break, and of several segmentations the one about ads decides",
        arguments: [
            ("<SpliceInsert spliceEventId=\"9\" spliceEventCancelIndicator=\"true\"/>", AdSignal.Kind.other),
            ("<SpliceInsert spliceEventId=\"9\" outOfNetworkIndicator=\"1\"/>", .breakBegin),
            (
                "<TimeSignal/><SegmentationDescriptor segmentationTypeId=\"16\"/>"
                    + "<SegmentationDescriptor segmentationEventId=\"3\" segmentationTypeId=\"52\"/>", .breakBegin
            ),
            (
                "<TimeSignal/><SegmentationDescriptor segmentationTypeId=\"52\" segmentationEventCancelIndicator=\"1\"/>"
                    + "<SegmentationDescriptor segmentationTypeId=\"53\"/>", .breakEnd
            ),
            (
                "<TimeSignal/><SegmentationDescriptor segmentationTypeId=\"52\" segmentationEventCancelIndicator=\"1\"/>",
                .other
            ),
        ]
    )
    func markup(inside: String, kind: AdSignal.Kind) throws {
        let presentation = try presentation(Self.manifest(inside))
        #expect(AdSignals(presentation.events).signals.map(\.kind) == [kind])
    }

    @Test("A stale checksum in a manifest is a warning, and the section is decoded")
    func staleChecksum() throws {
        // As a packager leaves it that has changed the section.
        var bytes = try SpliceInfoSection.bytes(of: Self.insert)
        bytes[bytes.count - 1] ^= 0x5A
        let text = "0x" + bytes.hexadecimal(uppercase: true)
        let range = "#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"2026-11-22T10:00:00Z\",DURATION=6,SCTE35-OUT=\(text)"
        let found = try signals([0: [range]])
        #expect(found.signals.map(\.kind) == [.breakBegin] && found.signals.first?.section != nil)
        #expect(found.findings.count { $0.message.contains("the checksum is not that of the section") } == 1)
        #expect(found.findings.allSatisfy { $0.severity == .warning })
        // A section that cannot be decoded either has the error of its checksum.
        var damaged = bytes
        damaged[34] = 0xFF  // `descriptor_loop_length`
        let broken = "0x" + damaged.hexadecimal()
        let error = #expect(throws: SpliceError.self) { try SpliceInfoSection(ofManifest: broken) }
        #expect(error?.code == .checksum)
    }

    @Test("Every command and descriptor of the schema in XML has the fields of its binary form")
    func schema() throws {
        let section = try SpliceInfoSection(
            xml: """
                <?xml version="1.0"?>
                <scte35:Signal xmlns:scte35="http://www.scte.org/schemas/35/2016">
                <scte35:SpliceInfoSection sapType="3" ptsAdjustment="90000" protocolVersion="0" tier="4095">
                <scte35:TimeSignal><scte35:SpliceTime ptsTime="1924989008"/></scte35:TimeSignal>
                <scte35:SegmentationDescriptor segmentationEventId="1207959694" segmentationEventCancelIndicator="false"
                  segmentationDuration="27630000" segmentationTypeId="52" segmentNum="1" segmentsExpected="2">
                <scte35:DeliveryRestrictions webDeliveryAllowedFlag="0" noRegionalBlackoutFlag="1" archiveAllowedFlag="true"
                  deviceRestrictions="3"/>
                <scte35:SegmentationUpid segmentationUpidType="8" segmentationUpidFormat="hexbinary">000000002CA0A18A</scte35:SegmentationUpid>
                </scte35:SegmentationDescriptor>
                <scte35:AvailDescriptor providerAvailId="309"/><scte35:DTMFDescriptor preroll="50" chars="1234*#"/>
                <scte35:TimeDescriptor taiSeconds="1500000000" taiNs="5" utcOffset="37"/>
                <scte35:AudioDescriptor><scte35:AudioChannel componentTag="1" ISOCode="eng" BitStreamMode="0" NumChannels="2"
                  FullSrvcAudio="true"/></scte35:AudioDescriptor>
                <scte35:PrivateDescriptor descriptorTag="9" identifier="1"><scte35:PrivateBytes>0A0B</scte35:PrivateBytes></scte35:PrivateDescriptor>
                </scte35:SpliceInfoSection></scte35:Signal>
                """
        )
        #expect(section.findings.isEmpty && section.notation == .xml)
        #expect(section.adjustedTime == SpliceTicks(1_925_079_008))
        let segmentation = try #require(section.segmentations.first)
        #expect(segmentation.type.name == "Provider Placement Opportunity Start")
        #expect(segmentation.duration?.seconds == 307 && segmentation.upid.value == .number(748_724_618))
        #expect(
            segmentation.restrictions?.isArchiveAllowed == true && segmentation.restrictions?.deviceRestrictions == 3
        )
        #expect((segmentation.segmentNumber, segmentation.segmentsExpected) == (1, 2))
        #expect(
            section.descriptors.dropFirst().map(\.content) == [
                .avail(309), .dtmf(DTMFDescriptor(preroll: 50, tones: "1234*#")),
                .time(TimeDescriptor(taiSeconds: 1_500_000_000, taiNanoseconds: 5, utcOffset: 37)),
                .audio([AudioComponent(tag: 1, language: "eng", bitStreamMode: 0, channels: 2, isFullService: true)]),
                .other([0x0A, 0x0B]),
            ]
        )
        let insert = try SpliceInfoSection(
            xml: """
                <SpliceInfoSection><SpliceInsert spliceEventId="9" outOfNetworkIndicator="1" uniqueProgramId="22" availNum="1"
                  availsExpected="2"><Program><SpliceTime ptsTime="5"/></Program><BreakDuration autoReturn="1" duration="90"/>
                </SpliceInsert></SpliceInfoSection>
                """
        )
        var expected = SpliceInsert(eventID: 9)
        (expected.isOutOfNetwork, expected.time, expected.uniqueProgramID) = (true, SpliceTicks(5), 22)
        (expected.availNumber, expected.availsExpected) = (1, 2)
        expected.breakDuration = BreakDuration(isAutoReturn: true, duration: SpliceTicks(90))
        #expect(insert.command == .insert(expected))
    }

    @Test(
        "In XML, an identifier has the notation of its format",
        arguments: [
            ("10", "text", "10.5240/7791-8534-2C23-9030-8610-5", "1478779185342c2390308610"),
            ("16", "text", "0123e567-e89b-12d3-a456-426614174000", "0123e567e89b12d3a456426614174000"),
            ("9", nil, "SIGNAL:abc", "5349474e414c3a616263"), ("3", "text", "ABCD01234567", "414243443031323334353637"),
            ("3", nil, "414243443031323334353637", "414243443031323334353637"),
            ("15", "base-64", "aHR0cDovL2E=", "687474703a2f2f61"), ("8", "text", "748724618", "000000002ca0a18a"),
        ]
    )
    func identifiers(type: String, format: String?, text: String, bytes: String) throws {
        let attribute = format.map { " segmentationUpidFormat=\"\($0)\"" } ?? ""
        let section = try SpliceInfoSection(
            xml: "<SpliceInfoSection><TimeSignal/><SegmentationDescriptor segmentationTypeId=\"1\"><SegmentationUpid "
                + "segmentationUpidType=\"\(type)\"\(attribute)>\(text)</SegmentationUpid></SegmentationDescriptor>"
                + "</SpliceInfoSection>"
        )
        #expect(section.segmentations.first?.upid.bytes.hexadecimal() == bytes)
        #expect(section.findings.isEmpty)
    }

    @Test("White space within base64 and hexadecimal text of XML does not count, in an MPD either")
    func wrappedText() throws {
        let lines = stride(from: 0, to: Self.insert.count, by: 20).map { start in
            String(Self.insert.dropFirst(start).prefix(20))
        }
        let wrapped = "\n\t" + lines.joined(separator: "\r\n    ") + "\n"
        let plain = try SpliceInfoSection(text: Self.insert)
        let signal = "<Signal><Binary signalType=\"SpliceInsert\">\(wrapped)</Binary></Signal>"
        #expect(try SpliceInfoSection(xml: signal) == plain)
        #expect(try SpliceInfoSection(text: wrapped) == plain)
        let mpd = Self.manifest("").replacing("urn:scte:scte35:2013:xml", with: "urn:scte:scte35:2014:xml+bin")
            .replacing("<SpliceInfoSection></SpliceInfoSection>", with: signal)
        let found = AdSignals(try presentation(mpd).events)
        #expect(found.signals.first?.section == plain && found.findings.isEmpty, "\(found.findings)")
        let section = try SpliceInfoSection(
            xml: """
                <SpliceInfoSection xmlns="http://www.scte.org/schemas/35"><TimeSignal/>
                <SegmentationDescriptor segmentationTypeId="52" segmentationDuration=" 90000 "
                  segmentationEventIdComplianceIndicator=" true ">
                <SegmentationUpid segmentationUpidType="8" segmentationUpidFormat="hexbinary">
                  00000000
                  2CA0A18A </SegmentationUpid></SegmentationDescriptor>
                <PrivateDescriptor descriptorTag="240" identifier="1094995245"><PrivateBytes>
                  0A0b
                  0C </PrivateBytes></PrivateDescriptor></SpliceInfoSection>
                """
        )
        #expect(section.findings.isEmpty, "\(section.findings)")
        #expect(section.segmentations.first?.upid.value == .number(748_724_618))
        #expect(section.segmentations.first?.duration?.seconds == 1)
        #expect(section.descriptors.last?.tag == 240 && section.descriptors.last?.content == .other([10, 11, 12]))
    }

    /// ISO/IEC 23009-1, section 5.10.2: an event has its message as content or in `messageData`, in base64 with
    /// `contentEncoding`.
    @Test(
        "An event of DASH may carry its section, or its document, as text or as `messageData`, by itself and in an MPD",
        arguments: ["urn:scte:scte35:2013:xml", "urn:scte:scte35:2014:xml+bin", "urn:scte:scte35:2013:bin"]
    )
    func plainEvents(scheme: String) throws {
        let document = "<scte35:Signal><scte35:Binary>\(Self.insert)</scte35:Binary></scte35:Signal>"
        let encoded = Data(document.utf8).base64EncodedString()
        let wrapped = "\n  \(Self.insert.prefix(20))\n  \(Self.insert.dropFirst(20)) "
        let plain = try SpliceInfoSection(text: Self.insert)
        for event in [
            "<Event presentationTime=\"20\">\(document)</Event>", "<Event presentationTime=\"20\">\(wrapped)</Event>",
            "<Event presentationTime=\"20\" messageData=\"\(Self.insert)\"/>",
            "<Event presentationTime=\"20\"><![CDATA[\(document)]]></Event>",
            "<Event presentationTime=\"20\" contentEncoding=\"base64\">\(encoded)</Event>",
        ] {
            #expect(try SpliceInfoSection(xml: event) == plain, "\(event)")
            let mpd = Self.manifest("").replacing("urn:scte:scte35:2013:xml", with: scheme)
            let from = try #require(mpd.range(of: "<Event ")), to = try #require(mpd.range(of: "</Event>"))
            let presentation = try presentation(
                mpd.replacingCharacters(in: from.lowerBound..<to.upperBound, with: event)
            )
            let found = AdSignals(presentation.events)
            #expect(found.findings.isEmpty, "\(event): \(found.findings)")
            #expect(found.signals.map(\.section) == [plain] && found.signals.first?.position == 20 * Self.second)
        }
        for text in ["", "<Event/>", "<Event><![CDATA[<Event>x</Event>]]></Event>", "<Event>AAAA</Event>"] {
            #expect(throws: SpliceError.self) { try SpliceInfoSection(xml: text) }
        }
    }

    @Test(
        "An event whose time cannot be read gives no signal; one without a time is at the start",
        arguments: [
            ("presentationTime=\"20\"", 20), ("presentationTime=\" 20.0 \"", 20), ("", 0),
            ("presentationTime=\"20.5\"", nil), ("presentationTime=\"x\"", nil), ("presentationTime=\"\"", nil),
        ] as [(String, Int64?)]
    )
    func eventTimes(attribute: String, second: Int64?) throws {
        let section = "<SpliceInsert spliceEventId=\"1\" outOfNetworkIndicator=\"true\"/>"
        let mpd = Self.manifest(section).replacing("presentationTime=\"20\"", with: attribute)
        let found = AdSignals(try presentation(mpd).events, upTo: nil)
        #expect(found.signals.map(\.position) == (second.map { [$0 * Self.second] } ?? []))
    }

    @Test("A document of XML without a section, or with malformed values, says so and stops nothing")
    func malformedMarkup() throws {
        for text in ["<SpliceInfoSection", "<MPD/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><SpliceInfoSection/>"] {
            #expect(throws: SpliceError.self) { try SpliceInfoSection(xml: text) }
        }
        let section = try SpliceInfoSection(
            xml: "<SpliceInfoSection tier='x'><SpliceInsert spliceEventId='-1' outOfNetworkIndicator='yes'/>"
                + "</SpliceInfoSection>"
        )
        #expect(section.tier == 0xFFF && section.findings.count == 3)
        #expect(try SpliceInfoSection(xml: "<Signal><Binary>\(Self.insert)</Binary></Signal>").command != nil)
    }

    /// An MPD with one event of SCTE-35 in XML.
    private static func manifest(_ section: String) -> String {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT60S"><Period duration="PT50S">
        <EventStream schemeIdUri="urn:scte:scte35:2013:xml"><Event presentationTime="20">
        <SpliceInfoSection>\(section)</SpliceInfoSection></Event></EventStream>
        <AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="1"><SegmentTemplate media="$Number$.m4s" duration="2"/></Representation></AdaptationSet>
        </Period></MPD>
        """
    }

    /// An `emsg` box.
    private func box(
        version: UInt8,
        scheme: String = EventMessage.spliceScheme,
        data: [UInt8],
        timescale: UInt32 = 1_000
    ) -> [UInt8] {
        var body = BitWriter()
        let texts = Array(scheme.utf8) + [0] + Array("1".utf8) + [0]
        body.put(8, version)
        body.put(24, 0)
        if version == 0 { body.put(bytes: texts) }
        body.put(32, timescale)
        body.put(version == 0 ? 32 : 64, 2_500)
        body.put(32, 6_000)
        body.put(32, 77)
        if version != 0 { body.put(bytes: texts) }
        body.put(bytes: data)
        var box = BitWriter()
        box.put(32, body.bytes.count + 8)
        box.put(bytes: Array("emsg".utf8) + body.bytes)
        return box.bytes
    }

    @Test("An event message box of version 0 counts from its segment, one of version 1 from the presentation's start")
    func eventMessages() throws {
        let data = try SpliceInfoSection.bytes(of: Self.insert)
        for (version, position) in [(UInt8(0), 12_500_000_000), (1, 2_500_000_000)] as [(UInt8, Int64)] {
            let message = try #require(EventMessage(box: box(version: version, data: data)))
            #expect(message.id == 77 && message.value == "1" && message.data == data)
            let found = AdSignals(message, segmentStart: 10 * Self.second)
            #expect(found.signals.map(\.position) == [position])
            #expect(found.signals.first?.kind == .breakBegin)
            #expect(found.signals.first?.duration == 6 * Self.second)
            #expect(
                AdSignals(
                    try #require(EventMessage(box: box(version: version, scheme: "urn:x", data: data))),
                    segmentStart: 0
                ).signals.isEmpty
            )
        }
        let damaged = try #require(EventMessage(box: box(version: 1, data: [1, 2, 3])))
        #expect(AdSignals(damaged, segmentStart: 0).findings.count == 1)
    }

    @Test("A box that is cut, or of another kind, is refused")
    func damagedBoxes() throws {
        let data = try SpliceInfoSection.bytes(of: Self.insert)
        for version: UInt8 in [0, 1] {
            let whole = box(version: version, data: data)
            for length in whole.indices { #expect(EventMessage(box: Array(whole.prefix(length))) == nil) }
        }
        #expect(EventMessage(box: box(version: 2, data: data)) == nil)
        #expect(EventMessage(box: box(version: 1, data: data, timescale: 0)) == nil)
    }

    @Test(
        "Reading signals costs time in proportion to the playlist",
        arguments: ["#EXT-X-CUE-OUT:5", "#EXT-X-CUE-IN", "range"]
    )
    func cost(line: String) throws {
        let growth = try CostGrowth.measure(
            from: 100,
            making: { count in
                let body = (0..<count).map { number in
                    let tag =
                        line == "range"
                        ? "#EXT-X-DATERANGE:ID=\"\(number)\",START-DATE=\"2026-11-22T10:00:00Z\",SCTE35-CMD=0xFC" : line
                    return tag + "\n#EXTINF:2,\n\(number).ts\n"
                }
                let text =
                    "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PROGRAM-DATE-TIME:2026-11-22T10:00:00Z\n" + body.joined()
                guard
                    case .media(let playlist) = try HLSPlaylist(
                        parsing: Array(text.utf8),
                        at: HTTPURL("https://m.test/x.m3u8")
                    )
                else {
                    throw CancellationError()
                }
                return playlist
            },
            { _ = AdSignals($0) }
        )
        #expect(growth.isLinear, "\(growth)")
    }
}
