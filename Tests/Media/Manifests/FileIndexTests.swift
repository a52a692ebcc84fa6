internal import Instrument
internal import InstrumentHTTP
internal import Testing

@testable internal import InstrumentManifests

@Suite("Indexes of files")
struct FileIndexTests {
    private func file(_ base: String, _ attributes: String = "") throws -> IndexedSegments {
        let body = """
            <Period \(attributes)><AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="1000">\
            <BaseURL>v.mp4</BaseURL>\(base)</Representation></AdaptationSet></Period>
            """
        let show = try presentation(mpd(body))
        guard case .parts(let parts) = show.renditions[0].source, case .index(let file) = parts[0] else {
            throw ManifestError(.malformed, "no index")
        }
        return file
    }

    private static let nested: UInt32 = 1 << 31

    /// Reads an index, and returns the ranges that it asks for.
    private func read(
        _ index: inout FileIndex,
        _ bytes: (ByteRange) -> [UInt8]
    ) throws(ManifestError) -> [ByteRange] {
        var asked: [ByteRange] = []
        while let range = index.nextRange {
            asked.append(range)
            try index.take(bytes(range))
        }
        return asked
    }

    private func read(_ file: IndexedSegments, _ content: [UInt8]) throws -> (SegmentIndex, [ByteRange]) {
        var index = FileIndex(of: file)
        let asked = try read(&index) { range in
            Array(content.dropFirst(Int(range.offset)).prefix(Int(range.length ?? .max)))
        }
        return (file.segments(of: index), asked)
    }

    @Test("Indexes that refer to others are read in order, each with its own times")
    func hierarchy() throws {
        // Each index precedes its media, so that the size of a reference contains both.
        let inner = [0, 10].map { sidx(timescale: 1, earliest: $0, references: [(70_000, 4), (70_000, 6)]) }
        let sizes = inner.map { UInt32($0.count) + 140_000 }
        let outer = sidx(timescale: 1, earliest: 0, references: sizes.map { (Self.nested | $0, 10) })
        let media = [UInt8](repeating: 0, count: 140_000)
        let file = try file("<SegmentBase indexRange=\"0-\(outer.count - 1)\"/>")
        let (segments, asked) = try read(file, outer + inner[0] + media + inner[1] + media)
        #expect(segments.map(\.seconds) == [0, 4, 10, 14] && segments.end == 20 * second)
        let starts = [0, sizes[0]].map { Int64(outer.count) + Int64($0) }
        #expect(asked == [file.indexRange] + starts.map { ByteRange(offset: $0, length: 65_536) })
        let first = starts.map { $0 + Int64(inner[0].count) }
        #expect(segments.map { $0.byteRange?.offset } == [first[0], first[0] + 70_000, first[1], first[1] + 70_000])
    }

    @Test("An index that is longer than the first bytes is read to its end, and one behind them is found")
    func growth() throws {
        let index = sidx(timescale: 100, earliest: 0, references: Array(repeating: (100, 1), count: 6_000))
        let padding = [0, 2, 0, 0] + Array("free".utf8) + [UInt8](repeating: 0, count: 131_064)
        let file = try file("<SegmentBase/>")
        let (segments, asked) = try read(file, padding + index)
        #expect(segments.count == 2_000 && segments.first?.byteRange?.offset == 131_072 + Int64(index.count))
        // The search, the place behind the padding, and the box without the one before.
        let box = ByteRange(offset: 131_080, length: Int64(index.count) - 8)
        #expect(asked == [file.indexRange, ByteRange(offset: 131_072, length: 65_536), box])
        #expect(segments.first?.initialization?.byteRange == ByteRange(offset: 0, length: 131_080))
    }

    @Test(
        "Without an Initialization, what precedes the index is the initialization section",
        arguments: [
            ("<SegmentBase indexRange=\"800-900\"/>", 800), ("<SegmentBase><Initialization/></SegmentBase>", nil),
            ("<SegmentBase indexRange=\"800-900\"><Initialization range=\"0-9\"/></SegmentBase>", 10),
            ("<SegmentBase indexRange=\"800-\"/>", 800), ("<SegmentBase indexRange=\"9-1\"/>", nil),
        ]
    )
    func initialization(base: String, length: Int64?) throws {
        let file = try file(base)
        #expect((file.initialization == nil) == (length == nil))
        #expect(file.initialization?.byteRange == length.map { ByteRange(offset: 0, length: $0) })
        #expect(file.indexRange.length.map { $0 <= 65_536 } == true)
    }

    @Test("An index that never ends is an error after a bounded number of requests")
    func endless() throws {
        let file = try file("<SegmentBase/>")
        let loop = sidx(timescale: 1, earliest: 0, references: [(1, 1), (Self.nested | 9, 1)])
        let far = [0, 16, 0, 0] + Array("free".utf8)
        let empty = sidx(timescale: 1, earliest: 0, references: [(Self.nested, 1)])
        for (bytes, code) in [
            (loop, ManifestError.Code.limitExceeded), (far, .limitExceeded), (empty, .malformed), ([], .malformed),
            ([0, 0, 0, 9], .malformed),
            (Array(sidx(timescale: 1, earliest: 0, references: [(1, 1)]).prefix(30)), .malformed),
            ([0x7F, 0, 0, 0] + Array("sidx".utf8), .limitExceeded), ([0, 0, 0, 8] + Array("moof".utf8), .malformed),
        ] {
            var (index, count) = (FileIndex(of: file), 0)
            let error = manifestError {
                _ = try read(&index) { _ in
                    count += 1
                    return bytes
                }
            }
            #expect(error?.code == code && count <= 101, "\(bytes.prefix(12)): \(String(describing: error)), \(count)")
        }
    }

    @Test("Boxes that refer to one another inside the same bytes have a limit")
    func repeated() throws {
        // Each reference leads through a box that skips to the next index.
        var content: [UInt8] = []
        for _ in 0..<40 {
            content += sidx(timescale: 1, earliest: 0, references: [(Self.nested | 8, 1), (Self.nested | 8, 1)])
        }
        var index = FileIndex(of: try file("<SegmentBase/>"))
        let error = manifestError { _ = try read(&index) { _ in content } }
        #expect(error?.code == .limitExceeded, "\(String(describing: error))")
    }

    @Test("In a live period, media of a file is available when the period has reached its end")
    func availability() throws {
        let body = """
            <Period start="PT10S"><AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="1000">\
            <SegmentBase indexRange="0-67" availabilityTimeOffset="1"/></Representation></AdaptationSet></Period>
            """
        let show = try presentation(
            mpd(body, "type=\"dynamic\" availabilityStartTime=\"2026-11-21T10:00:00Z\" minimumUpdatePeriod=\"PT2S\"")
        )
        guard case .parts(let parts) = show.renditions[0].source, case .index(let file) = parts[0] else {
            throw ManifestError(.malformed, "no index")
        }
        let segments = try file.segments(from: sidx(timescale: 1, earliest: 0, references: [(5, 4), (5, 6)]))
        let expected = [13, 19].map { now.advanced(nanoseconds: $0 * second) }
        #expect(segments.map(\.availability?.milliseconds) == expected.map(\.milliseconds))
        #expect(segments.map(\.wallTime) == [10, 14].map { now.advanced(nanoseconds: $0 * second) })
        #expect(!show.hasLastPeriod)
    }
}
