import CostMeasurement
import Foundation
import InstrumentBackendKinds
import LoopbackServers
import Testing

@testable import InstrumentWatch

/// Files in memory.
struct MemoryFiles: ConfigurationFiles {
    var files: [String: String]

    func contents(of path: String, atMost limit: Int) -> [UInt8]? {
        files[path].map { Array($0.utf8) }.flatMap { $0.count <= limit ? $0 : nil }
    }

    func names(in folder: String) -> [String]? {
        let prefix = folder == "." ? "" : folder
        let found = files.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        return found.isEmpty ? nil : found.filter { !$0.contains("/") }
    }
}

@Suite("The configuration of watch")
struct WatchConfigurationTests {
    private static let full = """
        defaults: { profile: hlsjs, every: 1m, for: 30s, backends: [samples, prometheus] }
        streams:
          - name: news-hd
            url: https://example.org/news/master.m3u8
            labels: { channel: news, cdn: a }
            continuous: true            # plays on, without a pause between sessions
            checks: { black: 5s, silence: 10s, freeze: 5s, stale: 1.5x }
          - include: streams.d/*.yaml
        backends: { samples: { file: samples.ndjson.gz, rotate: 100MB, keep: 7d }, metrics: { influx: "http://127.0.0.1:8086/", credentials: { env: INFLUX } } }
        alerts:
          - name: stalls
            when: rebuffer_ratio > 2% over 5m
            for: 2m
            to: [ops]
        notify: { ops: { webhook: "https://example.org/hook", secret: { env: HOOK } } }
        """
    private static let included = """
        - name: sport
          url: http://example.org/sport.mpd
          every: 5m
          backends: metrics
        """

    private func read(_ text: String, _ more: [String: String] = [:]) throws(ConfigurationError) -> WatchConfiguration {
        let files = MemoryFiles(files: more.merging(["m.yaml": text]) { first, _ in first })
        return try WatchConfiguration(
            contentsOf: "m.yaml",
            kinds: .forms,
            profiles: ["hlsjs", "exoplayer"],
            files: files
        )
    }

    /// The problems of a configuration without the file's name.
    private func problems(_ text: String, _ more: [String: String] = [:]) -> [String] {
        do throws(ConfigurationError) {
            _ = try read(text, more)
            return []
        } catch {
            return error.problems.map { $0.description.replacingOccurrences(of: "m.yaml:", with: "") }
        }
    }

    @Test("The time until a stream counts as down is that of the stream, else of the defaults, and must be a duration")
    func down() throws {
        let streams = "streams: [{ name: a, url: \"http://h/a\" }, { name: b, url: \"http://h/b\", down: 5s }]"
        let both = try read("defaults: { down: 20s }\n" + streams).streams
        #expect(both.map(\.downDelay) == [.seconds(20), .seconds(5)])
        #expect(try read(streams).streams.map(\.downDelay) == [nil, .seconds(5)])
        let wrong = problems("defaults: { down: soon }\n" + streams)
        #expect(wrong.count == 1 && wrong.allSatisfy { $0.contains("`down` must be a duration") }, "\(wrong)")
    }

    @Test("A browser plays the streams whose player it is, and every page; neither has the settings of the probe")
    func players() throws {
        let defaults = "defaults: { profile: hlsjs, checks: { rules: true } }\n"
        let streams = try read(
            defaults + """
                streams:
                  - { name: a, url: "http://h/a.m3u8" }
                  - { name: b, url: "http://h/b.m3u8", player: chrome }
                  - { name: c, page: "http://h/watch" }
                """
        ).streams
        #expect(streams.map(\.player) == [.probe, .chrome, .page])
        #expect(streams.map(\.profile) == ["hlsjs", nil, nil])
        // A page has no playlist that a check could read.
        #expect(streams.map(\.checks.isOn) == [true, true, false])
        let all = try read("defaults: { player: chrome }\nstreams: [{ name: a, url: \"http://h/a\" }]").streams
        #expect(all.map(\.player) == [.chrome])
    }

    @Test(
        "A contradiction between a player and a setting is reported at the setting",
        arguments: [
            ("url: \"http://h/a\", player: vlc", "1:49: `player` must be probe or chrome (found `vlc`)."),
            ("page: \"http://h/a\", player: probe", "1:50: `player` of a `page` must be chrome (found `probe`)"),
            ("page: \"http://h/a\", profile: hlsjs", "1:51: `profile` is for the probe"),
            ("page: \"http://h/a\", headers: { X: a }", "1:51: `headers` are for the probe"),
            ("page: \"http://h/a\", checks: { rules: true }", "1:50: `checks` need a playlist or an MPD"),
            ("page: \"http://h/a\", url: \"http://h/b\"", "1:28: A stream must have either a `url` or a `page`"),
            ("page: ftp", "1:28: `page` must be an http or https URL."),
            ("every: 1m", "1:11: A stream must have a `url` or a `page`"),
        ]
    )
    func playerProblems(text: String, problem: String) {
        let found = problems("streams: [{ name: a, \(text) }]")
        #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
    }

    @Test("The example of the guide is read whole, with its include")
    func example() throws {
        let configuration = try read(Self.full, ["streams.d/a.yaml": Self.included, "streams.d/b.txt": "?"])
        #expect(configuration.streams.map(\.name) == ["news-hd", "sport"])
        let (news, sport) = (configuration.streams[0], configuration.streams[1])
        #expect(news.schedule == .continuous)
        #expect(news.labels == ["channel": "news", "cdn": "a"])
        #expect(news.checks.black == .seconds(5))
        #expect(news.checks.stale == 1.5)
        #expect(news.backends == ["samples", "prometheus"])
        #expect(sport.schedule == .sampled(every: .seconds(300), for: .seconds(30)))
        #expect(sport.profile == "hlsjs")
        #expect(sport.backends == ["metrics"])
        #expect(sport.place == ConfigurationPlace(file: "streams.d/a.yaml", line: 1, column: 3))
        #expect(configuration.backends["samples"]?.rotation == 100_000_000)
        #expect(configuration.backends["samples"]?.retention == .seconds(7 * 86_400))
        #expect(configuration.backends["metrics"]?.credentials == .environment("INFLUX"))
        guard case .webhook(_, secret: .environment("HOOK"))? = configuration.receivers["ops"]?.service else {
            return #expect(Bool(false))
        }
        let condition = try #require(configuration.alerts.first?.condition.conditions.first)
        #expect(condition.metric.description == "rebuffer_ratio")
        #expect(condition.comparison == .above)
        #expect(condition.threshold == 0.02)
        #expect(condition.window == .seconds(300))
    }

    private static let minimal = "streams:\n  - { name: a, url: \"http://example.org/a.m3u8\""

    @Test(
        "A mistake is reported with line, column and a suggestion",
        arguments: [
            ("stream: []\nstreams: []", "1:1: Unknown key `stream`. Did you mean `streams`?"),
            ("\(minimal), lables: {} }", "2:50: Unknown key `lables`. Did you mean `labels`?"),
            ("\(minimal), continuous: yes }", "2:62: `continuous` must be true or false (found `yes`)."),
            ("\(minimal), every: 60 }", "2:57: `every` must be a duration such as `30s`, `5m` or `1.5h` (found `60`)."),
            ("\(minimal), profile: hlsj }", "2:59: Unknown profile `hlsj`. Did you mean `hlsjs`?"),
            (
                "\(minimal), checks: { stale: 2 } }",
                "2:67: `stale` must be a multiple of the target duration such as `1.5x` (found `2`)."
            ),
            (
                "\(minimal), checks: { stale: 99999999999999999999x } }",
                "2:67: `stale` must be a multiple of the target duration such as `1.5x` (found `99999999999999999999x`)."
            ),
            (
                "\(minimal), checks: { rules: true, segments: all } }",
                "2:83: `segments` must be a number from 0 to 100 (found `all`)."
            ),
            (
                "\(minimal), checks: { segments: 2 } }",
                "2:5: `segments` of `a` fetches segments for the rules on them; add `rules: true`, or remove `segments`."
            ),
            ("\(minimal), checks: { ignore: [stael] } }", "2:69: Unknown rule `stael`. Did you mean `stale`?"),
            ("\(minimal), backends: [x] }", "2:61: Unknown backend `x`. Define it under `backends`."),
            (
                "\(minimal), for: 10s, checks: { black: 10s } }",
                "2:5: `black` of `a` must be shorter than a session (`for`), or it is never found; lengthen `for`, or use `continuous: true`."
            ),
            (
                "\(minimal), checks: { silence: 1m } }",
                "2:5: `silence` of `a` must be shorter than a session (`for`), or it is never found; lengthen `for`, or use `continuous: true`."
            ),
            (
                "streams: []\nbackends: { a: { graphite: h, credentials: { env: X } } }",
                "2:44: `credentials` must stand beside a service (found a backend of kind `graphite`); remove it."
            ),
            ("\(minimal), labels: [] }", "2:58: `labels` must be a mapping (found a list)."),
            (
                "streams:\n  - { url: \"http://example.org/\" }",
                "2:5: A stream must have a `name`; add one that no other stream has."
            ),
            ("streams:\n  - { name: a, url: ftp://x }", "2:21: `url` must be an http or https URL."),
            ("streams: 7", "1:10: `streams` must be a list (found `7`)."),
            ("defaults: {}", "1:1: The configuration must have `streams`; add the list of streams."),
            ("streams: []\nbackends: { a: { fle: x } }", "2:18: Unknown key `fle`. Did you mean `file`?"),
            (
                "streams: []\nbackends: { a: { file: x, rotate: 5 } }",
                "2:35: `rotate` must be a size of at least 1 KiB such as `100MB` or `64MiB` (found `5`)."
            ),
            (
                "streams: []\nalerts: [{ name: a, to: [ops], when: up < 1 }]",
                "2:26: Unknown receiver `ops`. Define it under `notify`."
            ),
            (
                "streams: []\nalerts: [{ name: a, to: o, when: rebufer_ratio > 2% }]\nnotify: { o: { webhook: \"http://h/\" } }",
                "2:34: Unknown metric `rebufer_ratio`. Did you mean `rebuffer_ratio`?"
            ),
            (
                "streams: []\nalerts: [{ name: a, to: o, when: \"up < many\" }]\nnotify: { o: { webhook: \"http://h/\" } }",
                "2:40: Expected a number (found `many`)."
            ),
        ]
    )
    func mistakes(text: String, problem: String) {
        let found = problems(text)
        #expect(found.contains(problem), "\(found)")
    }

    @Test("Checks of pictures and sound, and backends of message systems, are read")
    func checksAndMessageSystems() throws {
        let configuration = try read(
            """
            streams:
              - { name: a, url: "http://h/a.m3u8", continuous: true, checks: { black: 1m, loudness: true, allPictures: true } }
            backends:
              bus: { kafka: "k1:9092,k2:9092/samples?tls", credentials: { env: KAFKA } }
              lake: { nats: "n1:4222/samples" }
            """
        )
        let checks = try #require(configuration.streams.first?.checks)
        #expect((checks.black, checks.loudness, checks.allPictures) == (.seconds(60), true, true))
        #expect(configuration.backends["bus"]?.backend.address == "k1:9092,k2:9092/samples?tls")
        #expect(configuration.backends["bus"]?.credentials == .environment("KAFKA"))
        #expect(configuration.backends["lake"]?.backend.kind.name == "nats")
    }

    @Test("The kind of a backend decides what may stand beside its address")
    func besideAddresses() throws {
        let problems = problems(
            """
            streams: []
            backends:
              a: console
              b: { collector: "http://h/", credentials: { env: X } }
              c: { newrelic: "1" }
              d: { influx: "http://h/", rotate: 1MB }
              e: { kafka: "h:1/t", keep: 1d }
              f: file
              g: { file: x, kafka: y }
            """
        )
        #expect(
            problems == [
                "5:6: A backend of kind `newrelic` must have `credentials`; add `credentials: { env: NAME }` or `{ file: PATH }`.",
                "6:37: `rotate` must stand beside `file` (found a backend of kind `influx`); remove it.",
                "7:30: `keep` must stand beside `file` (found a backend of kind `kafka`); remove it.",
                "8:6: The backend `f` must be a mapping (found `file`).",
                "9:6: The backend `g` must have exactly one kind (found `file` and `kafka`).",
            ]
        )
    }

    @Test("Headers of a stream replace those of the defaults by their names, and secrets are elsewhere")
    func headers() throws {
        let text = """
            defaults: { headers: { X-Client: monitor, x-tier: "2" } }
            streams:
              - { name: a, url: "http://h/a", headers: { X-Tier: "3", Authorization: { env: TOKEN }, X-Y: { file: y } } }
              - { name: b, url: "http://h/b" }
            """
        let streams = try read(text).streams
        #expect(
            streams[0].headers == [
                StreamHeader(name: "X-Client", value: .literal("monitor")),
                StreamHeader(name: "X-Tier", value: .literal("3")),
                StreamHeader(name: "Authorization", value: .secret(.environment("TOKEN"))),
                StreamHeader(name: "X-Y", value: .secret(.file("y"))),
            ]
        )
        #expect(streams[1].headers.map(\.name) == ["X-Client", "x-tier"])
    }

    @Test(
        "A header that cannot be sent is reported, and a secret value is not repeated",
        arguments: [
            ("{ Authorization: hunter2 }", "`Authorization` must name its source"),
            ("{ Cookie: hunter2 }", "`Cookie` must name its source"),
            ("{ X-Api-Key: hunter2 }", "must name its source"),
            ("{ Range: bytes=0-1 }", "cannot set `Range`"), ("{ \"a b\": c }", "cannot be sent"),
            ("x", "must be a mapping"),
            ("{ X: \"a\\nb\" }", "cannot be sent"),
        ]
    )
    func wrongHeaders(headers: String, problem: String) {
        let found = problems("streams: [{ name: a, url: \"http://h/a\", headers: \(headers) }]")
        #expect(found.count == 1 && found.joined().contains(problem), "\(found)")
        #expect(!found.joined().contains("hunter2"))
    }

    @Test("All mistakes are listed at once, in the order of the lines")
    func allAtOnce() {
        let text = """
            streams:
              - { name: a, url: "http://example.org/", evry: 1m }
              - { name: a, url: "http://example.org/" }
              - { name: c, url: 5, continuous: true, every: 1m }
              - { name: d, url: "http://example.org/", every: 10s, for: 20s }
            """
        let found = problems(text)
        #expect(found.map { $0.prefix { $0 != ":" } } == ["2", "3", "4", "4", "5"])
        #expect(found[1].contains("must be unique (also at 2:5)"))
        #expect(found[3].contains("contradicts `continuous: true`"))
        #expect(found[4].contains("`for` must be at most `every`"))
    }

    @Test("A literal secret is refused, and no message repeats it")
    func secrets() {
        let texts = [
            "streams: []\nbackends: { a: { influx: \"http://h/\", credentials: hunter2 } }",
            "streams: []\nnotify: { a: { webhook: \"http://h/\", secret: hunter2 } }",
            "streams:\n  - { name: a, url: \"http://user:hunter2@example.org/\" }",
            "streams: []\nbackends: { a: { influx: \"http://user:hunter2@h/\" } }",
        ]
        for text in texts {
            let found = problems(text)
            #expect(found.count == 1, "\(found)")
            #expect(!found.joined().contains("hunter2"))
        }
    }

    @Test("Anchors and aliases are refused before they are expanded")
    func bomb() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1..<12 {
            let row = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(row)]\n"
        }
        let found = problems(text + "streams: *a11\n")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("1:5: Anchors") == true)
        #expect(problems("streams: []\n# a comment with *stars*: *here\n").isEmpty)
        #expect(problems(String(repeating: "[", count: 100_000)).count == 1)
        #expect(problems(String(repeating: "- ", count: 5_000)).count == 1)
    }

    @Test("A configuration may name the location of the monitor")
    func location() throws {
        #expect(try read("location: Zürich 2\nstreams: []").location == "Zürich 2")
        #expect(try read("streams: []").location == nil)
        #expect(problems("location: [a]\nstreams: []") == ["1:11: `location` must be a text (found a list)."])
        #expect(
            problems("location: \(String(repeating: "x", count: 201))\nstreams: []") == [
                "1:11: `location` must have at most 200 characters (found 201); shorten it."
            ]
        )
    }

    @Test("Labels are bounded: their number, the length of names and values, their characters, and their names in all")
    func boundedLabels() throws {
        func labels(_ text: String) -> [String] { problems("\(Self.minimal), labels: { \(text) } }") }
        let many = (0..<33).map { "l\($0): x" }.joined(separator: ", ")
        #expect(
            labels(many) == [
                "2:58: A stream must have at most 32 labels, those of `defaults` among them (found 33); remove some."
            ]
        )
        #expect(labels((0..<32).map { "l\($0): x" }.joined(separator: ", ")) == [])
        let long = String(repeating: "n", count: 65)
        #expect(
            labels("\(long): x") == [
                "2:60: The name of a label must have at most 64 characters (found 65: `\(long.prefix(40))…`); shorten it."
            ]
        )
        #expect(
            labels("cdn: \(String(repeating: "v", count: 201))") == [
                "2:65: `cdn` must have at most 200 characters (found 201); shorten it."
            ]
        )
        #expect(labels(#"cdn: "a\nb""#) == ["2:65: `cdn` must have no control characters (found U+A); remove them."])
        #expect(
            labels(#"cdn: " \u00A0""#) == [
                "2:65: `cdn` must have a character that can be seen (found white space alone)."
            ]
        )
        #expect(labels("c-d: x").first?.hasPrefix("2:60: A label must have letters, digits and `_`") == true)
        let streams = (0..<101).map {
            "  - { name: s\($0), url: \"http://example.org/\", labels: { only\($0): x } }\n"
        }
        #expect(problems("streams:\n" + streams.dropLast().joined()) == [])
        #expect(
            problems("streams:\n" + streams.joined()) == [
                "102:57: A configuration must have at most 100 different names of labels (found one more: `only100`); give labels of one meaning one name."
            ]
        )
    }

    @Test(
        "A file with more values than a parser should keep is refused before it is parsed",
        arguments: ["a,", "[],", "- \n"]
    )
    func tooManyValues(piece: String) {
        let found = problems("streams: [" + String(repeating: piece, count: 1_500_001))
        #expect(found.count == 1 && found[0].contains("at most 1500000 values"), "\(found)")
    }

    @Test("A configuration of as many streams as are allowed is within the limit of values")
    func mostStreams() {
        let stream = "  - { name: s, url: \"http://example.org/s.m3u8\", labels: { a: b, c: d } }\n"
        let count = AnchorScan.valueCount(in: Array(String(repeating: stream, count: 10).utf8))
        #expect(count == 10 * 12 && count * 10_000 < 1_500_000)
        #expect(AnchorScan.valueCount(in: Array("a: [b, \"c\", {d: e}]\nf:\n  - g\n  - |\n    h\n".utf8)) == 12)
    }

    @Test(
        "A text with & or * is no anchor and no alias inside of quotes, comments, block scalars and plain texts",
        arguments: [
            "name: \"Tom, &Jerry\"", "name: 'it''s, *all* &c'", "name: \"a \\\" , &b\"", "name: Q&A, *live* & more",
            "name: http://h/?*a:&b", "name: a - *b", "name: a # said: *b",
            "name: |\n      - *a\n      &b\n    profile: hlsjs",
            "name: >-\n\n      *a\n        x: &b", "name: long\n      *text",
            "labels: { note: a &b, c: d*e, f: 'x, *y' }",
            "labels: { note: \"[*a\" }\n    name: x{*y",
        ]
    )
    func noAnchors(member: String) {
        let found = problems("streams:\n  - url: \"http://example.org/\"\n    \(member)\n    every: 2m\n")
        #expect(!found.contains { $0.contains("Anchors") || $0.contains("valid YAML") }, "\(found)")
    }

    @Test(
        "An anchor or an alias is found wherever a value may begin",
        arguments: [
            ("a: *b", "1:4"), ("a: &b x", "1:4"), ("- *b", "1:3"), ("*b : x", "1:1"), ("a:\n  *b", "2:3"),
            ("a: [x, *b]", "1:8"), ("a: {b: *c}", "1:8"), ("a: {\"b\":*c}", "1:9"), ("a: !!str &b x", "1:10"),
            ("a: |\n  text\nb: *c", "3:4"), ("a: 'x'\nb: *c", "2:4"), ("a: x\n*b : y", "2:1"), ("--- *a", "1:5"),
            ("? *a", "1:3"), ("a: é\nb: [é, &c d]", "2:8"), ("- a: x\n  *b : y", "2:3"), ("# '\na: *b", "2:4"),
            ("a: it's\nb: *c", "2:4"), ("a: x # \"\nb: *c", "2:4"), ("a: >2\n    x\n *b : y", "3:2"),
        ]
    )
    func anchors(text: String, place: String) {
        let found = problems(text)
        #expect(found.count == 1 && found[0].hasPrefix(place + ": Anchors"), "\(found)")
    }

    @Test("An include of itself ends with the chain of files")
    func cycle() {
        let more = ["b.yaml": "streams:\n  - include: m.yaml\n"]
        let found = problems("streams:\n  - include: b.yaml\n", more)
        #expect(found.count == 1)
        #expect(found.first?.contains("b.yaml → m.yaml") == true)
    }

    @Test("A named include must exist, and a pattern may match nothing")
    func includes() {
        #expect(problems("streams:\n  - include: missing.yaml\n").first?.contains("Cannot read `missing.yaml`") == true)
        #expect(problems("streams:\n  - include: d/*.yaml\n", ["d/a.txt": ""]).isEmpty)
        #expect(problems("streams:\n  - include: d/*.yaml\n").first?.contains("Cannot read the folder") == true)
        #expect(problems("streams:\n  - include: [d/a.yaml]\n", ["d/a.yaml": "streams: [{ name: x }]"]).count == 1)
    }

    @Test("The reader names all files and folders whose change may change the configuration, also without success")
    func sources() {
        let files = MemoryFiles(files: [
            "m.yaml": "streams:\n  - include: [d/*.yaml, e.yaml, gone.yaml, \"*.yml\", none/*.yaml]\n",
            "d/a.yaml": "streams:\n  - include: \"b/?.yaml\"\n", "d/b/c.yaml": "- { name: x }\n", "e.yaml": "",
        ])
        let read = WatchConfiguration.read(contentsOf: "m.yaml", kinds: .forms, files: files)
        #expect(throws: ConfigurationError.self) { try read.result.get() }
        #expect(read.sources.files == ["m.yaml", "d/a.yaml", "d/b/c.yaml", "e.yaml", "gone.yaml"])
        #expect(read.sources.folders == ["d/", "d/b/", ".", "none/"])
    }

    @Test("An address of a form that its backend cannot use is reported with its place, and not repeated")
    func addresses() {
        let files = MemoryFiles(files: ["m.yaml": "streams: []\nbackends: { a: { kafka: \"user:hidden@k/t\" } }\n"])
        let read = WatchConfiguration.read(contentsOf: "m.yaml", kinds: .forms, files: files)
        let error = #expect(throws: ConfigurationError.self) { try read.result.get() }
        #expect(
            error?.description
                == "m.yaml:2:25: `kafka` must be `HOST:PORT[,HOST:PORT…]/TOPIC` such as `kafka.example.org:9092/samples`."
        )
    }

    @Test("A file that is no text, is empty or has a key twice gives one problem")
    func files() throws {
        #expect(problems("").count == 1)
        #expect(problems("streams: [").map { $0.contains("The file must be valid YAML") } == [true])
        #expect(problems("streams: [\u{7}]").count == 1)
        #expect(problems("streams: []\nstreams: []").first?.contains("must appear once") == true)
        // The line is that of the second one, however long the mapping is.
        let list = "streams:\n  - name: a\n    url: http://example.org/a\n    labels:\n      url: x\n"
        #expect(problems("\(list)location: x\n\nstreams: []").first?.hasPrefix("8:1: ") == true)
        #expect(problems("\(list)    \"url\" : x\n").first?.hasPrefix("6:5: ") == true)
        #expect(problems("\(list)  - name: b\n    name: c\n").first?.hasPrefix("7:5: ") == true)
        #expect(problems("streams:\n  - { name: a, name: b }\n").first?.hasPrefix("2:7: ") == true)
        let error = #expect(throws: ConfigurationError.self) {
            try WatchConfiguration(contentsOf: "/nowhere/m.yaml", kinds: .forms)
        }
        #expect(error?.problems.count == 1)
    }

    @Test("Ten thousand streams are read, in time that grows with their number")
    func manyStreams() throws {
        func text(_ count: Int) -> String {
            "streams:\n" + (0..<count).map { "  - { name: s\($0), url: \"http://example.org/\($0).m3u8\" }\n" }.joined()
        }
        #expect(try read(text(10_000)).streams.count == 10_000)
        let growth = try CostGrowth.measure(from: 100, making: { text($0) }) { _ = try read($0) }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Each name belongs to exactly one shard, evenly, and few names move when a shard is added")
    func shards() throws {
        let names = (0..<5_000).map { "stream-\($0)" }
        func owner(_ name: String, _ count: Int) throws -> Int {
            let owners = try (1...count).filter { try #require(Shard(number: $0, of: count)).contains(name) }
            #expect(owners.count == 1)
            return owners[0]
        }
        let (five, six) = (try names.map { try owner($0, 5) }, try names.map { try owner($0, 6) })
        for number in 1...5 { #expect((850...1_150).contains(five.count { $0 == number })) }
        for (before, after) in zip(five, six) where before != after { #expect(after == 6) }
        #expect((650...1_020).contains(zip(five, six).count { $0 != $1 }))
    }

    @Test(
        "A shard is written as NUMBER/COUNT",
        arguments: ["0/5", "6/5", "5", "a/b", "1/0", "-1/5", "1/5/6", "", "1/99999"]
    )
    func shardText(text: String) {
        #expect(Shard(text) == nil)
        #expect(Shard("2/5") == Shard(number: 2, of: 5))
    }

    @Test(
        "A condition is read to a typed value",
        arguments: [
            ("startup_seconds >= 5s over 10m", 5.0), ("bitrate < 800k", 800_000), ("rebuffer_ratio > 0.02", 0.02),
            ("check_failed{rule=\"stale\"} > 0", 0), ("playlist_age_seconds>1.5m", 90),
            ("loudness_lufs < -30.5", -30.5),
        ]
    )
    func conditions(text: String, threshold: Double) throws {
        let expression = try AlertExpression(text)
        #expect(expression.conditions.map(\.threshold) == [threshold])
        #expect(try AlertExpression("\(text) and up == 1").conditions.count == 2)
    }

    @Test(
        "A text that is no condition says where it ends to be one",
        arguments: [
            ("", 0), ("up", 2), ("up >", 4), ("up > 1 over", 11), ("up > 1 foo", 7), ("up{a=1} > 1", 5),
            ("bitrate > 5%", 10), ("rebuffer_ratio > 2", 17), ("error_ratio > 150%", 14), ("loudness_lufs < --3", 16),
            ("up > -1", 5),
        ]
    )
    func noConditions(text: String, offset: Int) {
        let failure = #expect(throws: AlertExpression.Failure.self) { try AlertExpression(text) }
        #expect(failure?.offset == offset, "\(String(describing: failure))")
    }
}
