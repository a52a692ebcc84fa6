import Testing

@testable import InstrumentManifests

@Suite("Entries of playlists")
struct PlaylistEntryTests {
    private func entries(_ text: String) throws -> PlaylistEntries {
        PlaylistEntries(reading: Array(text.utf8), at: try address("https://media.test/a.m3u8?q=7"))
    }

    private func tag(_ name: String, _ value: String, _ line: Int) -> PlaylistEntry {
        .tag(PlaylistTag(name: name, value: value, line: line))
    }

    @Test("Tags and addresses have their lines; comments, blank lines and white space around them are left out")
    func lines() throws {
        let text = "\u{FEFF}#EXTM3U\r\n\n# a comment\n #EXTINF: \t2.0, é\r\n  a.ts \n#EXT-X-ENDLIST"
        let found = try entries(text)
        #expect(
            Array(found) == [
                tag("EXTM3U", "", 1), tag("EXTINF", "2.0, é", 4), .address("a.ts", line: 5),
                tag("EXT-X-ENDLIST", "", 6),
            ]
        )
        #expect(found.tags("EXTINF").map(\.value) == ["2.0, é"] && found.tags("EXT-X-KEY").isEmpty)
        #expect(found.tags { $0 != "EXTINF" }.map(\.line) == [1, 6])
        #expect(found.map { $0 } == found.indices.map { found[$0] })
    }

    @Test("Variables are replaced from their definitions on, and one without a definition stays as written")
    func variables() throws {
        let text = """
            #EXTM3U
            #EXTINF:2,{$a}
            {$a}.ts
            #EXT-X-DEFINE:NAME="a",VALUE="one"
            #EXT-X-DEFINE:QUERYPARAM="q"
            #EXT-X-DEFINE:NAME="b",VALUE="{$a}two"
            #EXT-X-MAP:URI="{$a}-{$q}"
            {$b}/{x}/{$c}
            {$b}.ts
            """
        let found = try entries(text)
        let texts = found.map { entry in
            switch entry {
            case .tag(let tag): tag.value
            case .address(let address, _): address
            }
        }
        #expect(texts[1...2] == ["2,{$a}", "{$a}.ts"])
        #expect(texts.suffix(4) == [#"NAME="b",VALUE="onetwo""#, #"URI="one-7""#, "{$b}/{x}/{$c}", "onetwo.ts"])
    }

    @Test("Names beyond a thousand, which no standard has, are one name")
    func names() throws {
        let found = try entries((0..<3_000).map { "#EXT-\($0):\($0)\n" }.joined())
        #expect(found.count == 3_000 && found.tags("EXT-998").map(\.value) == ["998"])
        #expect(found.tags("EXT-999").isEmpty && found.tags("EXT-2999").isEmpty)
        #expect(Set(found.tags { _ in true }.map(\.name)).count == 1_000)
    }
}
