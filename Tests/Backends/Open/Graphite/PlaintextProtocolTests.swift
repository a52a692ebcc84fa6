import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentGraphite

@Suite("Graphite's plaintext protocol")
struct PlaintextProtocolTests {
    private func lines(
        _ samples: [Sample],
        _ mapping: GraphiteMapping = GraphiteMapping(),
        after earlier: GraphiteSums = GraphiteSums()
    ) -> (text: String, alterations: AlterationCounts) {
        var encoder = PlaintextProtocol()
        for record in Samples.records(samples) { if let point = mapping(record) { encoder.append(point) } }
        encoder.finish(adding: earlier)
        return (String(decoding: encoder.bytes, as: UTF8.self), encoder.alterations)
    }

    @Test("Readings are one line each, counts of one second are added, events are left out")
    func metrics() {
        let samples = [
            Samples.metric(.startTime, 850, ["trackerTarget": "mpv"]), Samples.metric(.numPlays, 1),
            Samples.metric(.startTime, 12.5, at: Samples.time + 1999),
            Samples.metric(.numPlays, 2, at: Samples.time + 999),
            Samples.metric(.numPlays, 1, at: Samples.time + 1000), Samples.event(.start),
        ]
        let expected = """
            instrument.mpv.metrics.StartTime 850 1767225600
            instrument.unknown.metrics.StartTime 12.5 1767225601
            instrument.unknown.metrics.NumPlays 3 1767225600
            instrument.unknown.metrics.NumPlays 1 1767225601

            """
        #expect(lines(samples) == (expected, [:]))
    }

    @Test(
        "The labels of a metric are tags, and each combination of labels has a separate sum",
        arguments: [false, true]
    )
    func labels(usesTags: Bool) {
        let name = MetricName("TimeInQuality", .counter, unit: .milliseconds)
        let samples = [("640x360", 1000), ("1280x720", 2000), ("640x360", 500)].map { rendition, value in
            Samples.metric(name, .int(value), ["rendition": .string(rendition), "playbackId": "p", "userId": "u"])
        }
        let path = usesTags ? "instrument.metrics.TimeInQuality" : "instrument.unknown.metrics.TimeInQuality"
        let expected = """
            \(path);rendition=640x360 1500 1767225600
            \(path);rendition=1280x720 2000 1767225600

            """
        var mapping = GraphiteMapping(usesTags: usesTags)
        #expect(lines(samples, mapping) == (expected, [:]))
        mapping.omitted = ["rendition"]
        #expect(lines(samples, mapping).text == "\(path) 3500 1767225600\n")
    }

    @Test("The samples of each stream have a separate path, with labels and location as tags")
    func monitor() {
        var samples = ["a", "b"].map { name in
            var attributes = Samples.stream(name)
            attributes["trackerTarget"] = "probe"
            return Samples.metric(.numPlays, 1, attributes)
        }
        samples.append(Samples.event(.start, samples[0].attributes))
        var mapping = GraphiteMapping(sendsEvents: true)
        #expect(
            lines(samples, mapping).text == """
                instrument.a.metrics.NumPlays;monitorLocation=oslo;cdn=alpha 1 1767225600
                instrument.b.metrics.NumPlays;monitorLocation=oslo;cdn=alpha 1 1767225600
                instrument.a.events.Start;monitorLocation=oslo;cdn=alpha 1 1767225600

                """
        )
        mapping.omitted = ["monitorLabels", "monitorLocation"]
        #expect(lines([samples[1]], mapping).text == "instrument.b.metrics.NumPlays 1 1767225600\n")
        mapping.usesTags = true
        #expect(lines([samples[1]], mapping).text == "instrument.metrics.NumPlays;monitorStream=b 1 1767225600\n")
        mapping.nodes = []
        #expect(lines([samples[1]], mapping).text == "instrument.metrics.NumPlays;monitorStream=b 1 1767225600\n")
    }

    @Test("Streams whose names Graphite writes alike have different series", arguments: [false, true])
    func similarNames(usesTags: Bool) {
        let long = String(repeating: "n", count: 300)
        let names = ["news hd", "news_hd", "news.hd", "news;hd", "news/hd", "Zürich", long + "1", long + "2"]
        let mapping = GraphiteMapping(usesTags: usesTags)
        let samples = names.map { Samples.metric(.numPlays, 1, ["monitorStream": .string($0)]) }
        let text = lines(samples, mapping).text
        let series = Set(text.split(separator: "\n").map { $0.prefix { $0 != " " } })
        #expect(series.count == names.count, "\(text)")
        #expect(text.contains("news_hd") && text.contains("Zürich"))
        #expect(!text.contains("Zürich-"))
    }

    @Test("Events are counts, and attributes are tags, where the mapping says so")
    func tagsAndEvents() {
        let mapping = GraphiteMapping(
            prefix: ["a", "b"],
            nodes: ["trackerTarget", "language"],
            usesTags: true,
            sendsEvents: true
        )
        let samples = [
            Samples.event(.start, ["trackerTarget": "mpv", "language": ""]),
            Samples.event(.start, ["trackerTarget": "mpv"]),
            Samples.metric(.startTime, 1, ["language": "de"]),
        ]
        let expected = """
            a.b.metrics.StartTime;language=de 1 1767225600
            a.b.events.Start;trackerTarget=mpv 2 1767225600

            """
        #expect(lines(samples, mapping) == (expected, [:]))
    }

    @Test(
        "A node keeps plain characters and letters of any script, and has an underscore for others",
        arguments: [
            ("plain-1:2_x", "plain-1:2_x", []), ("é文😀", "é文😀", []), ("a b", "a_b", [.replacedCharacters]),
            ("../etc", "___etc", [.replacedCharacters]),
            ("a/b.c;d=e~*?{}[]\"'", "a_b_c_d_e_________", [.replacedCharacters]),
            ("n\nl\u{0}\u{85}\u{A0}\u{2028}\u{202E}", "n_l_____", [.replacedCharacters]),
            ("", "_", [.replacedCharacters]),
            (String(repeating: "é", count: 200), String(repeating: "é", count: 100), [.shortenedNames]),
        ] as [(String, String, [Alteration])]
    )
    func nodes(node: String, expected: String, alterations: [Alteration]) {
        let (text, counts) = lines([Samples.metric(MetricName(node, .gauge), 1)])
        #expect(text == "instrument.unknown.metrics.\(expected) 1 1767225600\n")
        #expect(Set(counts.keys) == Set(alterations))
    }

    @Test("Times that Graphite cannot store become the nearest time that it can")
    func times() {
        for (time, expected) in [(Int64.min, "0"), (-1, "0"), (.max, "4294967295")] {
            let (text, counts) = lines([Samples.metric(.startTime, 1, at: time)])
            #expect(text.hasSuffix(" 1 \(expected)\n"))
            #expect(counts == [.clampedTimes: 1])
        }
    }

    @Test("Every awkward metric is one line of three words")
    func awkward() {
        for sample in AwkwardSamples.all {
            let text = lines([sample], GraphiteMapping(sendsEvents: true)).text
            let words = text.split(whereSeparator: \.isWhitespace)
            #expect(words.count == 3 && text.filter { $0.isNewline }.count == 1, "\(text)")
            #expect(words.count == 3 && Double(words[1]) != nil)
        }
    }

    @Test("Counts of a second add to those that were sent before, and old seconds are forgotten")
    func sums() {
        var sums = GraphiteSums()
        let key = { (second: Int64) in
            GraphiteSums.Key(path: Array("instrument.unknown.metrics.NumPlays".utf8), seconds: second)
        }
        sums.commit([key(1_767_225_600): 4])
        sums.commit([key(1_767_225_600): 1])
        #expect(lines([Samples.metric(.numPlays, 2)], after: sums).text.hasSuffix(" 7 1767225600\n"))
        for second in Int64(0)..<20_000 { sums.commit([key(1_767_225_601 + second): 1]) }
        #expect(sums[key(1_767_225_600)] == 0 && sums[key(1_767_245_600)] == 1)
    }

    @Test(
        "An address is read from its text",
        arguments: [
            ("h", "h", 2003), ("h:1", "h", 1), ("[::1]:2004", "::1", 2004), ("[::1]", "::1", 2003),
            ("127.0.0.1:65535", "127.0.0.1", 65_535),
        ] as [(String, String, UInt16)]
    )
    func addresses(text: String, host: String, port: UInt16) {
        #expect(GraphiteAddress(text) == GraphiteAddress(host: host, port: port))
    }

    @Test(
        "A text that is no address is refused",
        arguments: ["", ":1", "h:", "h:0", "h:65536", "h:x", "[::1", "[::1]x", "a b", "h/x"]
    )
    func noAddresses(text: String) { #expect(GraphiteAddress(text) == nil) }
}
