import InstrumentRules
import Testing

@Suite("Rules on reloads of a playlist")
struct SequenceRuleTests {
    @Test("A playlist without a new segment is stale, also if each reload has new tokens or tags")
    func tokens() throws {
        let texts = (0..<4).map { round in live(10) { "#EXTINF:6,\n\($0).ts?token=\(round)" } }
        #expect(try broken(texts) == ["stale"])
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
        let ranges = (0..<4).map { round in
            live(10, head: "\(date)#EXT-X-DATERANGE:ID=\"\(round)\",START-DATE=\"2026-01-01T00:00:00Z\"\n")
        }
        #expect(try broken(ranges) == ["stale"])
    }

    @Test("A segment is the same on another host, and another one under another name")
    func hosts() throws {
        func texts(_ prefix: (Int) -> String) -> [String] {
            (0..<4).map { round in
                live(10 + round, head: "#EXT-X-MAP:URI=\"\(prefix(round))/init.mp4\"\n") {
                    "#EXTINF:6,\n\(prefix(round))/\($0).m4s"
                }
            }
        }
        #expect(try broken(texts { "https://edge-\($0).example/a" }) == [])
        #expect(try broken(texts { "//edge-\($0).example/a" }) == [])
        #expect(try broken(texts { "https://edge.example/\($0)" }) == ["segment-changed"])
    }

    @Test("A loop of segments is no change of their numbers")
    func loop() throws {
        let texts = (10..<20).map { first in live(first, count: 3) { "#EXTINF:6,\nslate\($0 % 3).ts" } }
        #expect(try broken(texts) == [])
        let shortened = (10..<20).map { first in
            live(first, count: 2) { "#EXTINF:6,\nslate\($0 % 2).ts" }
        }
        #expect(try broken(shortened) == ["window-too-short"])
        let afterPause = [
            live(10, count: 6) { "#EXTINF:6,\n\($0 % 6).ts" }, live(16, count: 6) { "#EXTINF:6,\n\($0 % 6).ts" },
        ]
        #expect(try broken(afterPause, every: 36) == [])
    }

    @Test("A number that does not rise with the segments breaks one rule")
    func stuckNumber() throws {
        let texts = (0..<3).map { round in live(10) { "#EXTINF:6,\n\($0 + round).ts" } }
        #expect(try broken(texts) == ["media-sequence-jump"])
    }

    @Test(
        "A tag of a newer version needs it",
        arguments: [
            ("#EXT-X-GAP\n", 3), ("#EXT-X-SKIP:SKIPPED-SEGMENTS=2\n", 9),
            ("#EXT-X-SKIP:SKIPPED-SEGMENTS=2,RECENTLY-REMOVED-DATERANGES=\"a\"\n", 10),
        ]
    )
    func versions(tag: String, needed: Int) throws {
        for version in 3...12 {
            let text =
                "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-TARGETDURATION:6\n\(tag)#EXTINF:6.0,\na.ts\n#EXT-X-ENDLIST\n"
            #expect(try broken([text]).contains("version-too-low") == (version < needed), "\(version)")
        }
    }

    @Test(
        "An encryption of RFC 8216bis is known",
        arguments: [
            "METHOD=AES-256-GCM,URI=\"k\"", "METHOD=SAMPLE-AES-CTR,URI=\"k\"", "METHOD=NONE",
        ]
    )
    func methods(attributes: String) throws {
        let head = "#EXT-X-KEY:\(attributes)\n#EXT-X-MAP:URI=\"i.mp4\"\n"
        #expect(try broken([live(10, head: head)]) == [])
    }

    @Test("A programme date that overlaps by less than a second is legal, and one of a second is a jump")
    func overlap() throws {
        func texts(_ seconds: Double) -> [String] {
            let shift = Int(seconds * 1_000)
            return [
                live(10) { number in
                    let time = (number - 10) * 6_000 - (number > 11 ? shift : 0)
                    let second =
                        "\(time / 1_000 < 10 ? "0" : "")\(time / 1_000).\(String(1_000 + time % 1_000).dropFirst())"
                    return "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:\(second)Z\n#EXTINF:6,\n\(number).ts"
                }
            ]
        }
        #expect(try broken(texts(0.9)) == [])
        #expect(try broken(texts(1.1)) == ["program-date-time-jump"])
    }
}
