import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("The servers of a presentation")
struct LocationTableTests {
    private static let text = """
        <MPD type="static" mediaPresentationDuration="PT4S"><BaseURL>http://a.test/x/</BaseURL>\
        <BaseURL>http://b.test/</BaseURL><Period><AdaptationSet mimeType="video/mp4"><BaseURL>set/</BaseURL>\
        <BaseURL>http://c.test/other/</BaseURL><SegmentTemplate duration="4" media="$Number$"/>\
        <Representation id="v" bandwidth="1"/></AdaptationSet></Period></MPD>
        """

    private static func table() throws -> LocationTable {
        var table = LocationTable()
        let now = WallTime(milliseconds: 0)
        table.take(try Presentation(parsing: Array(text.utf8), at: Loading.url("a.mpd"), now: now))
        return table
    }

    private static func instant(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    private static func expect(
        _ table: inout LocationTable,
        leaving url: HTTPURL,
        for time: Duration?,
        at now: MonotonicInstant,
        _ expected: Bool,
        at place: SourceLocation = #_sourceLocation
    ) {
        let hasLeft = table.leaveServer(of: url, for: time, now: now)
        #expect(hasLeft == expected, sourceLocation: place)
    }

    @Test("The innermost level is left first, then the outer one; an address of no level stays as it is")
    func levels() throws {
        var table = try Self.table()
        let segment = try HTTPURL("http://a.test/x/set/1")
        let other = try HTTPURL("http://elsewhere.test/x/set/1")
        #expect(table.address(of: segment) == segment)
        Self.expect(&table, leaving: segment, for: nil, at: Self.instant(0), true)
        #expect(table.address(of: segment).description == "http://c.test/other/1")
        // The set's other server has failed as well: the first one is used again, at the other outer server.
        Self.expect(&table, leaving: segment, for: nil, at: Self.instant(1), true)
        #expect(table.address(of: segment).description == "http://b.test/set/1")
        Self.expect(&table, leaving: segment, for: nil, at: Self.instant(2), false)
        #expect(table.address(of: other) == other)
        Self.expect(&table, leaving: other, for: nil, at: Self.instant(2), false)
    }

    @Test("An exclusion ends at its time, and a query and a file's name stay")
    func exclusion() throws {
        var table = try Self.table()
        let segment = try HTTPURL("http://a.test/x/set/file.mp4?t=1")
        Self.expect(&table, leaving: segment, for: .seconds(5), at: Self.instant(0), true)
        table.endExclusions(at: Self.instant(4))
        #expect(table.address(of: segment).secretText == "http://c.test/other/file.mp4?t=1")
        table.endExclusions(at: Self.instant(5))
        #expect(table.address(of: segment) == segment)
    }

    @Test("Media moves to another server; the MPD, which has no other address, does not")
    func manifestStays() throws {
        let text = """
            <MPD type="static" mediaPresentationDuration="PT4S"><BaseURL>./</BaseURL><BaseURL>http://b.test/</BaseURL>\
            <Period><AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="4" media="$Number$"/>\
            <Representation id="v" bandwidth="1"/></AdaptationSet></Period></MPD>
            """
        let (now, address) = (WallTime(milliseconds: 0), try Loading.url("a.mpd"))
        let presentation = try Presentation(parsing: Array(text.utf8), at: address, now: now)
        let segment = MediaSegment(sequence: 1, start: 0, duration: 4, url: try Loading.url("1"))
        var manifest = ManifestLoading(MediaSource(address.description), staleAfter: nil)
        _ = try manifest.take(presentation, begun: Self.instant(0))
        let id = try #require(presentation.renditions.first).id
        let moved = manifest.leaveServer(of: .segment(.main), segment, id, for: nil, now: Self.instant(0))
        #expect(moved == [id])
        #expect(manifest.address(of: segment.url, for: .segment(.main)).description == "http://b.test/1")
        #expect(manifest.address(of: address, for: .manifest) == address)
    }
}
