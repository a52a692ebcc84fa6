import Instrument
import InstrumentHTTP
import Testing

@testable import InstrumentManifests

@Suite("Elements of an MPD that are elsewhere")
struct RemoteElementTests {
    private static let content = """
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" media="$Number$.m4s"/>\
        <Representation id="v" bandwidth="100000" width="64" height="36" codecs="avc1.42c00b"/></AdaptationSet>
        """
    private static let whole = "<Period duration=\"PT6S\">\(content)</Period>"
    private static let xlink = "xmlns:xlink=\"http://www.w3.org/1999/xlink\""
    private static let zero = "urn:mpeg:dash:resolve-to-zero:2013"

    private static func document(_ body: String, _ attributes: String = xlink) -> String {
        "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" \(attributes) type=\"static\">\(body)</MPD>"
    }

    /// Parses an MPD with all elements that `files` has; other addresses fail. Returns the requested addresses, too.
    private func parse(
        _ text: String,
        _ files: [String: String]
    ) throws -> (presentation: Presentation, requests: [String]) {
        var (remote, requests) = (RemoteElements(), [String]())
        let url = try HTTPURL("https://x.test/show/a.mpd")
        for _ in 0..<10 {
            let missing: [HTTPURL]
            do throws(ManifestError) {
                let parsed = try Presentation(
                    parsing: Array(text.utf8),
                    at: url,
                    remote: remote,
                    now: WallTime(milliseconds: 0)
                )
                if parsed.missingElements.isEmpty { return (parsed, requests) }
                missing = parsed.missingElements
            } catch {
                if error.missingElements.isEmpty { throw error }
                missing = error.missingElements
            }
            for url in missing {
                requests.append(url.path)
                if let file = files[url.path] {
                    remote.take(Array(file.utf8), of: url, at: url, limits: ManifestLimits())
                } else {
                    remote.fail(url, "status 404")
                }
            }
        }
        Issue.record("the elements have no end: \(requests)")
        throw CancellationError()
    }

    private static func link(_ address: String, _ content: String = "", _ more: String = "") -> String {
        "<Period xlink:href=\"\(address)\" \(more)>\(content)</Period>"
    }

    @Test(
        "A remote period takes its place, whatever form its document has",
        arguments: [
            "<?xml version=\"1.0\"?><Period xmlns=\"urn:mpeg:dash:schema:mpd:2011\" duration=\"PT6S\">\(content)</Period>",
            "<m:Period xmlns:m=\"u\" duration=\"PT6S\">"
                + content.replacing("</", with: "</m:").replacing("<A", with: "<m:A").replacing("<S", with: "<m:S")
                .replacing("<R", with: "<m:R") + "</m:Period>",
            "<Period duration=\"PT2S\">\(content)</Period>\n<Period duration=\"PT4S\">\(content)</Period>",
            document(whole),
        ]
    )
    func forms(file: String) throws {
        let text = Self.document(Self.whole + Self.link("p2.xml", "", "xlink:actuate=\"onRequest\"") + Self.whole)
        let (presentation, requests) = try parse(text, ["/show/p2.xml": file])
        #expect(presentation.duration == 18_000_000_000 && presentation.notices.isEmpty, "\(presentation.notices)")
        #expect(requests == ["/show/p2.xml"])
    }

    @Test("A period that resolves to nothing, or fails, leaves the others where they belong")
    func nothing() throws {
        let text = Self.document(Self.whole + Self.link(Self.zero) + Self.link("gone.xml") + Self.whole)
        let (presentation, _) = try parse(text, [:])
        #expect(presentation.duration == 12_000_000_000)
        #expect(presentation.notices.map(\.message).contains { $0.contains("status 404") })
    }

    @Test("One fault of many remote periods is one notice with its number, whatever other faults there are")
    func repeated() throws {
        let gone = (0..<20).map { _ in Self.link("gone.xml") }.joined()
        let (presentation, _) = try parse(Self.document(Self.whole + gone + Self.link("ftp://x/y.xml")), [:])
        #expect(presentation.notices.map(\.count) == [20, 1])
    }

    @Test("The time of a period that fails passes without media, where its place knows the time")
    func gap() throws {
        let text = Self.document(Self.whole + Self.link("gone.xml", "", "duration=\"PT4S\"") + Self.whole)
        let (presentation, _) = try parse(text, [:])
        #expect(presentation.duration == 16_000_000_000)
        let nothing = Self.document(Self.whole + Self.link(Self.zero, "", "duration=\"PT4S\"") + Self.whole)
        #expect(try parse(nothing, [:]).presentation.duration == 12_000_000_000)
    }

    @Test("The default content of a place is used if its element fails, is damaged, or is another")
    func defaults() throws {
        let place = Self.link("p.xml", Self.content, "duration=\"PT4S\"")
        for file in [nil, "<Period", "<EventStream/>"] as [String?] {
            let files = file.map { ["/show/p.xml": $0] } ?? [:]
            let (presentation, _) = try parse(Self.document(Self.whole + place), files)
            #expect(presentation.duration == 10_000_000_000 && presentation.notices.count == 1)
        }
    }

    @Test(
        "What came in the place of a remote element is named",
        arguments: [
            ("<!doctype html><p>Log in</p>", "Period: an HTML page"), ("", "Period: an empty body"),
            ("{\"error\":1}", "Period: JSON"),
        ]
    )
    func replacedElement(file: String, words: String) throws {
        let (presentation, _) = try parse(Self.document(Self.whole + Self.link("p.xml")), ["/show/p.xml": file])
        #expect(presentation.duration == 6_000_000_000)
        #expect(presentation.notices.map(\.message).contains { $0.contains("(\(words))") }, "\(presentation.notices)")
    }

    @Test("An MPD with remote periods alone is read")
    func alone() throws {
        let (presentation, requests) = try parse(
            Self.document(Self.link("https://ads.test/a") + Self.link("https://ads.test/b")),
            ["/a": Self.whole, "/b": Self.whole]
        )
        #expect(presentation.duration == 12_000_000_000 && requests == ["/a", "/b"])
    }

    @Test("A remote adaptation set joins its period, under any prefix of xlink")
    func adaptationSet() throws {
        let text = Self.document(
            "<Period duration=\"PT6S\"><AdaptationSet l:href=\"set.xml\"/></Period>",
            "xmlns:l=\"http://www.w3.org/1999/xlink\""
        )
        let (presentation, _) = try parse(text, ["/show/set.xml": Self.content])
        #expect(presentation.variants.count == 1 && presentation.notices.isEmpty)
    }

    @Test("Elements that refer to each other, and to ever new ones, end")
    func loops() throws {
        let loop = "<Period \(Self.xlink) xlink:href=\"p2.xml\"/>"
        let first = "<Period duration=\"PT1S\" \(Self.xlink)><AdaptationSet xlink:href=\"p2.xml\"/></Period>"
        let (presentation, requests) = try parse(
            Self.document(Self.whole + Self.link("p2.xml")),
            ["/show/p2.xml": first + loop]
        )
        #expect(presentation.duration ?? 0 >= 6_000_000_000 && requests == ["/show/p2.xml"])
        // A thousand places that hold a thousand places each.
        let wide = (0..<1000).map { _ in Self.link("wide.xml", "", Self.xlink) }.joined()
        let (bounded, _) = try parse(Self.document(Self.whole + Self.link("wide.xml")), ["/show/wide.xml": wide])
        #expect(bounded.duration == 6_000_000_000)
        let many = (0..<100).map { Self.link("p\($0).xml") }.joined()
        let (limited, loaded) = try parse(Self.document(Self.whole + many), [:])
        #expect(loaded.count == 64 && limited.notices.contains { $0.code == .limitReached })
    }

    @Test("A remote element that refers to its MPD, or to itself, is a loop, which is found without a request")
    func loopToItself() throws {
        func find(_ address: String, _ files: [String: String]) throws -> ([String], Int64?, [String]) {
            let (presentation, requests) = try parse(Self.document(Self.whole + Self.link(address)), files)
            return (requests, presentation.duration, presentation.notices.map(\.message))
        }
        let back = Self.document(Self.whole + Self.link("a.mpd"))
        for (address, files, loaded) in [
            ("a.mpd", ["/show/a.mpd": back], [String]()), ("/show/../show/a.mpd", [:], []),
            ("p.xml", ["/show/p.xml": Self.link("p.xml", "", Self.xlink)], ["/show/p.xml"]),
            ("p.xml", ["/show/p.xml": Self.link("a.mpd", "", Self.xlink)], ["/show/p.xml"]),
        ] {
            let (requests, duration, notices) = try find(address, files)
            #expect(requests == loaded && duration == 6_000_000_000, "\(address): \(requests)")
            #expect(notices.count == 1 && notices.allSatisfy { $0.contains("endless loop") }, "\(notices)")
        }
        let only = #expect(throws: ManifestError.self) { try parse(Self.document(Self.link("a.mpd")), [:]) }
        #expect(only?.message.contains("(found none); ") == true && only?.message.contains("endless loop") == true)
        // The same element in two places is no loop.
        let twice = Self.document(Self.link("p.xml") + Self.link("p.xml"))
        let (presentation, requests) = try parse(twice, ["/show/p.xml": Self.whole])
        #expect(presentation.duration == 12_000_000_000 && presentation.notices.isEmpty && requests.count == 1)
    }

    @Test("A link to another scheme is not followed")
    func scheme() throws {
        let (presentation, requests) = try parse(Self.document(Self.whole + Self.link("file:///etc/passwd")), [:])
        #expect(requests.isEmpty && presentation.notices.count == 1)
    }
}
