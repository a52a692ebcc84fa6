import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentInflux

@Suite("Line protocol")
struct LineProtocolTests {
    private func line(
        _ sample: Sample,
        _ mapping: InfluxMapping = InfluxMapping(),
        maxTextLength: Int = 65_535
    ) -> (text: String, alterations: AlterationCounts) {
        var encoder = LineProtocol(maxTextLength: maxTextLength)
        let record = Samples.record(sample)
        guard let point = mapping(record) else { return ("", [:]) }
        _ = encoder.append(point, subMillisecond: 17)
        return (String(decoding: encoder.bytes, as: UTF8.self), encoder.alterations)
    }

    @Test("An event is one line with action and target as tags and every other attribute as a field")
    func event() {
        let sample = Samples.event(
            .start,
            [
                "trackerTarget": "mpv", "isAdsTracker": false, "position": 12, "fps": 23.976, "isMuted": true,
                "title": #"The "Big" \ Film, part = 2"#, "list": [1, "a"],
            ]
        )
        let expected =
            "OAVT_EVENTS,action=Start,trackerTarget=mpv,isAdsTracker=false "
            + #"position=12i,fps=23.976,isMuted=t,title="The \"Big\" \\ Film, part = 2",list="[1,\"a\"]","#
            + "sampleId=\"\(Samples.id(0))\",tracker=0i 1767225600000000017\n"
        #expect(line(sample) == (expected, [:]))
    }

    @Test("A metric is one line with its name as a tag and its value as a float")
    func metric() {
        let sample = Samples.metric(.startTime, 850, ["streamId": "s"])
        let expected =
            "OAVT_METRICS,metric=StartTime "
            + "streamId=\"s\",sampleId=\"\(Samples.id(0))\",tracker=0i,value=850.0,kind=\"gauge\",unit=\"ms\" "
            + "1767225600000000017\n"
        #expect(line(sample) == (expected, [:]))
    }

    @Test("The labels of a metric are tags, and its identifiers are fields")
    func labels() {
        let name = MetricName("NumAdErrors", .counter)
        let sample = Samples.metric(name, 1, ["streamId": "s", "adErrorCode": 402, "ratio": 0.5])
        let fields =
            "streamId=\"s\",ratio=0.5,sampleId=\"\(Samples.id(0))\",tracker=0i,value=1.0,kind=\"counter\",unit=\"count\" "
        let expected = "OAVT_METRICS,metric=NumAdErrors,adErrorCode=402 " + fields + "1767225600000000017\n"
        #expect(line(sample) == (expected, [:]))
        var mapping = InfluxMapping()
        mapping.omitted = ["adErrorCode"]
        #expect(line(sample, mapping).text.hasPrefix("OAVT_METRICS,metric=NumAdErrors streamId"))
    }

    @Test("Stream, location and labels of a monitor are tags of events and metrics, and no label hides a field")
    func monitor() {
        let labels = ["cdn": "al pha", "title": "of the label", "value": "v"]
        var attributes = Samples.stream("news", labels)
        attributes["title"] = "Film"
        let tags =
            #",monitorStream=news,monitorLocation=oslo,cdn=al\ pha,label_title=of\ the\ label,label_value=v "#
        let event = line(Samples.event(.start, attributes)).text
        #expect(event.hasPrefix("OAVT_EVENTS,action=Start\(tags)title=\"Film\","))
        attributes["title"] = nil
        let metric = line(Samples.metric(.playTime, 5, attributes)).text
        #expect(metric.hasPrefix("OAVT_METRICS,metric=PlayTime\(tags)sampleId=") && metric.contains(",value=5.0,"))
        var mapping = InfluxMapping()
        mapping.omitted = ["monitorLabels", "monitorLocation"]
        #expect(
            line(Samples.metric(.playTime, 5, attributes), mapping).text
                .hasPrefix("OAVT_METRICS,metric=PlayTime,monitorStream=news sampleId=")
        )
    }

    @Test("Measurements, tags and omitted attributes are those of the mapping")
    func configuredMapping() {
        var mapping = InfluxMapping()
        (mapping.eventMeasurement, mapping.tags, mapping.omitted) = ("my events,all", ["language"], ["secret"])
        let sample = Samples.event(.end, ["language": "de", "secret": "x", "a": 1])
        let expected =
            #"my\ events\,all,action=End,language=de a=1i,sampleId="\#(Samples.id(0))",tracker=0i "#
            + "1767225600000000017\n"
        #expect(line(sample, mapping) == (expected, [:]))
    }

    @Test(
        "A name is escaped, or changed and counted",
        arguments: [
            ("plain", "plain", []), ("a b", #"a\ b"#, []), ("a,b=c", #"a\,b\=c"#, []), ("é😀", "é😀", []),
            (#"a\b"#, #"a\b"#, []), (#"a\"#, "a/", [.replacedCharacters]), (#"a\,b"#, #"a/\,b"#, [.replacedCharacters]),
            ("a\nb\u{0}", "a_b_", [.replacedCharacters]), ("#a", "_a", [.replacedCharacters]),
            (#"\\"#, #"//"#, [.replacedCharacters]), ("say \"x\"", #"say\ "x""#, []),
        ] as [(String, String, [Alteration])]
    )
    func names(name: String, expected: String, alterations: [Alteration]) {
        let escaped = EscapedName(name, escapesEquals: true)
        #expect(String(decoding: escaped.bytes, as: UTF8.self) == expected)
        #expect(escaped.alterations == alterations)
    }

    @Test("Empty tags are not written, reserved names are renamed, names without a letter are left out")
    func awkwardNames() {
        var mapping = InfluxMapping()
        mapping.tags = ["language"]
        let (text, alterations) = line(Samples.event(.end, ["language": "", "time": 1, "": 2, "_field": 3]), mapping)
        #expect(text.hasPrefix("OAVT_EVENTS,action=End time_=1i,_field_=3i,sampleId="))
        #expect(alterations == [.renamedAttributes: 2, .omittedAttributes: 1])
    }

    @Test("Long texts and names are cut between scalars, and counted")
    func cuts() {
        let sample = Samples.event(
            .end,
            ["text": .string("1234567é"), AttributeName(String(repeating: "n", count: 2000)): 1]
        )
        let (text, alterations) = line(sample, maxTextLength: 8)
        #expect(text.contains("text=\"1234567\","))
        #expect(text.contains(String(repeating: "n", count: 1024) + "=1i"))
        // The sample's identifier is longer than 8 bytes, too.
        #expect(alterations == [.shortenedTexts: 2, .shortenedNames: 1])
    }

    @Test("Times outside of the range of nanoseconds become the nearest accepted time")
    func times() {
        for (time, expected) in [(Int64.max, "9223372036854775806"), (Int64.min, "-9223372036854775806")] {
            let (text, alterations) = line(Samples.event(.end, at: time))
            #expect(text.hasSuffix(" \(expected)\n"))
            #expect(alterations == [.clampedTimes: 1])
        }
    }

    @Test("Every awkward sample is one line: quotes in fields are the only place of a line feed")
    func oneLine() {
        for sample in AwkwardSamples.all {
            let text = line(sample).text
            var (isQuoted, isEscaped, ends) = (false, false, 0)
            let start = text.utf8.firstIndex(of: UInt8(ascii: "=")) ?? text.startIndex
            for byte in text.utf8[start...] {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isQuoted.toggle()
                } else if byte == UInt8(ascii: "\n"), !isQuoted {
                    ends += 1
                }
            }
            #expect(ends == 1 && !isQuoted && text.hasSuffix("\n"), "\(text.prefix(200))")
        }
    }
}
