import Foundation
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// Segments of one rendition, with their initialization section.
struct SegmentSeries {
    var media: [[UInt8]]
    var initialization: [UInt8] = []

    init(_ folder: String, isFragmented: Bool) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        media = try names.filter { $0.hasSuffix(isFragmented ? ".m4s" : ".ts") }.sorted().map {
            [UInt8](try Fixtures.data(folder + "/" + $0))
        }
        if isFragmented { initialization = [UInt8](try Fixtures.data(folder + "/init.mp4")) }
    }

    /// A reader that knows the series.
    func taughtReader() -> SegmentReader {
        var reader = SegmentReader()
        for segment in media { _ = try? reader.read(segment, initialization: initialization, inspecting: false) }
        return reader
    }
}

/// Codings, and the options of ffmpeg that make them.
struct Coding: CustomTestStringConvertible {
    let name: String
    let options: [String]
    /// The smallest number of six segments that are read without libavformat; fewer where only it can know.
    let ownCount: Int

    init(_ name: String, _ options: String, ownCount: Int = 5) {
        self.name = name
        self.options = options.split(separator: " ").map(String.init)
        self.ownCount = ownCount
    }

    var testDescription: String { name }

    func series(isFragmented: Bool) throws -> SegmentSeries {
        let kind = isFragmented ? ["-hls_segment_type", "fmp4"] : []
        let folder = Fixtures.segments("coding-\(name)-\(isFragmented ? "mp4" : "ts")", options + kind)
        return try SegmentSeries(folder.get(), isFragmented: isFragmented)
    }

    static let all = [
        Coding("plain", ""),
        Coding("reordered", "-preset veryfast -bf 3"),
        Coding("slices", "-preset veryfast -bf 2 -x264-params slices=4"),
        Coding("h265", "-c:v libx265 -x265-params log-level=none:keyint=50:min-keyint=50:bframes=3:open-gop=1"),
        Coding("ac3", "-c:a ac3 -b:a 128k"),
        Coding("eac3", "-c:a eac3 -b:a 128k"),
        Coding("mp3", "-c:a libmp3lame -ar 44100"),
        Coding("silent", "-an -preset veryfast -bf 3"),
        Coding("sound", "-vn -ar 44100"),
        Coding("ntsc", "-r 30000/1001"),
        // The timing of pictures in messages, and fields: only libavformat knows how long pictures play.
        Coding("timing", "-x264-params nal-hrd=vbr:vbv-maxrate=400:vbv-bufsize=800", ownCount: 0),
        Coding("interlaced", "-preset veryfast -flags +ilme+ildct -x264-params tff=1", ownCount: 0),
    ]
}

@Suite("Segments without libavformat", .ownThread)
struct SegmentReaderTests {
    @Test(
        "Times, frames and codecs are those of libavformat",
        arguments: Coding.all,
        [false, true]
    )
    func agreement(coding: Coding, isFragmented: Bool) throws {
        let series = try coding.series(isFragmented: isFragmented)
        var reader = SegmentReader()
        for (number, media) in series.media.enumerated() {
            let initialization = series.initialization
            var other = try SegmentDemuxer.demux(media, initialization: initialization)
            let own = try reader.read(media, initialization: initialization, inspecting: false)
            // libavformat does not know how long a single frame of sound plays.
            if isFragmented, own.audio?.frameCount == 1 { other.audio = own.audio }
            #expect(own.hasTimes(of: other), "segment \(number)")
            for kind in PlaybackModel.Track.allCases {
                guard let points = own[kind]?.points, let others = other[kind]?.points else { continue }
                #expect(zip(points, points.dropFirst()).allSatisfy { $0.offset < $1.offset && $0.end < $1.end })
                #expect(points.last?.end == own[kind]?.end)
                // libavformat has read further when it returns a frame.
                for point in points {
                    #expect(others.first { $0.end >= point.end }.map { $0.offset >= point.offset } == true)
                }
            }
        }
        #expect(series.media.count >= 6)
        #expect(reader.ownCount >= coding.ownCount)
        if coding.ownCount == 0 { #expect(reader.ownCount == 0) }
    }

    @Test("A part of a segment has the first of the whole segment's points", arguments: [false, true])
    func parts(isFragmented: Bool) throws {
        let series = try Coding.all[1].series(isFragmented: isFragmented)
        let (media, taught) = (series.media[2], series.taughtReader())
        var whole = taught
        let expected = try whole.read(media, initialization: series.initialization, inspecting: false)
        var reader = taught
        var seen = 0
        for count in stride(from: 997, through: media.count, by: 997) {
            let part = reader.read(part: Array(media.prefix(count)), initialization: series.initialization, request: 1)
            for kind in PlaybackModel.Track.allCases {
                guard let points = part?[kind]?.points else { continue }
                let all = try #require(expected[kind]?.points)
                #expect(points == Array(all.prefix(points.count)))
                // All pictures but the last one, of which only the next one shows that it is complete.
                #expect(points.count + 1 >= all.count { $0.offset <= count })
                seen += 1
            }
        }
        #expect(seen > 20)
        #expect(
            try reader.read(media, initialization: series.initialization, inspecting: false, request: 1) == expected
        )
        #expect(reader.ownCount == whole.ownCount)
    }

    @Test("The first segment of a kind has the points of later ones, also in parts", arguments: [false, true])
    func firstPoints(isFragmented: Bool) throws {
        let series = try Coding.all[1].series(isFragmented: isFragmented)
        let (media, initialization) = (series.media[0], series.initialization)
        var taught = series.taughtReader()
        let expected = try taught.read(media, initialization: initialization, inspecting: false)
        for isInspected in [false, true] {
            var whole = SegmentReader()
            let content = try whole.read(media, initialization: initialization, inspecting: isInspected)
            for kind in PlaybackModel.Track.allCases { #expect(content[kind]?.points == expected[kind]?.points) }
        }
        var (reader, seen) = (SegmentReader(), 0)
        for count in stride(from: 997, through: media.count, by: 997) {
            let part = reader.read(part: Array(media.prefix(count)), initialization: initialization, request: 1)
            for kind in PlaybackModel.Track.allCases {
                guard let points = part?[kind]?.points else { continue }
                #expect(points == Array(try #require(expected[kind]?.points).prefix(points.count)))
                seen += 1
            }
        }
        #expect(seen > 20)
    }

    @Test("A request of which libavformat read a part in doubt keeps its points")
    func mixture() throws {
        let series = try Coding.all[0].series(isFragmented: false)
        var reader = SegmentReader()
        var media = series.media[0]
        // The reader is in doubt about scrambled packets.
        media[188 * 40 + 3] |= 0xC0
        #expect(reader.read(part: Array(media.prefix(30_000)), initialization: [], request: 1) != nil)
        _ = try reader.read(series.media[1], initialization: [], inspecting: false, request: 2)
        #expect(
            try reader.read(media, initialization: [], inspecting: false, request: 1) == SegmentDemuxer.demux(media)
        )
        #expect(reader.ownCount == 0)
    }

    @Test("A lost, damaged or unknown packet of a transport stream is left to libavformat", arguments: 0..<6)
    func doubt(damage: Int) throws {
        let series = try Coding.all[1].series(isFragmented: false)
        var media = series.media[3]
        let place = 188 * 40
        switch damage {
        case 0: media.removeSubrange(place..<(place + 188))
        case 1: media[place + 1] |= 0x80
        case 2: media[place] = 0
        case 3: media.removeLast(100)
        case 4: media[place + 3] |= 0xC0
        default: media.replaceSubrange(place..<(place + 3), with: [0x47, 0x47, 0x33])
        }
        var reader = series.taughtReader()
        let before = reader.ownCount
        let content = try reader.read(media, initialization: [], inspecting: false)
        #expect(reader.ownCount == before)
        #expect(content == (try SegmentDemuxer.demux(media)))
    }

    @Test("A NAL unit without a payload is left to libavformat", arguments: [false, true], [UInt8(0x06), 0x07, 0x08])
    func shortUnit(isFragmented: Bool, type: UInt8) throws {
        let series = try Coding.all[1].series(isFragmented: isFragmented)
        var media = series.media[3]
        let isInserted = isFragmented ? Self.shorten(lengths: &media, type) : Self.shorten(startCodes: &media, type)
        #expect(isInserted)
        var reader = series.taughtReader()
        let before = reader.ownCount
        let content = try? reader.read(media, initialization: series.initialization, inspecting: false)
        #expect(reader.ownCount == before)
        #expect(content == (try? SegmentDemuxer.demux(media, initialization: series.initialization)))
    }

    /// Puts a NAL unit of one byte in front of the end of the first unit with a payload of a transport stream.
    private static func shorten(startCodes media: inout [UInt8], _ type: UInt8) -> Bool {
        // Behind the header of the second packet that begins a unit of pictures (type 0x65 or 0x41).
        guard let start = media.firstRange(of: [0, 0, 1, 0x41]) ?? media.firstRange(of: [0, 0, 1, 0x61]) else {
            return false
        }
        media.replaceSubrange(start.lowerBound..<(start.lowerBound + 8), with: [0, 0, 1, type, 0, 0, 1, 0x41])
        return true
    }

    /// Makes the first sample of a fragment begin with a NAL unit of one byte.
    private static func shorten(lengths media: inout [UInt8], _ type: UInt8) -> Bool {
        guard let start = media.firstRange(of: Array("mdat".utf8)) else { return false }
        media.replaceSubrange(start.upperBound..<(start.upperBound + 5), with: [0, 0, 0, 1, type])
        return true
    }

    @Test("An edit list that shifts by more than any time is left to libavformat", arguments: Coding.all.indices)
    func immenseEdit(index: Int) throws {
        let series = try Coding.all[index].series(isFragmented: true)
        func set(_ bytes: [UInt8], at offset: Int, in content: [UInt8]) -> [UInt8] {
            offset + bytes.count <= content.count
                ? content[..<offset] + bytes + content[(offset + bytes.count)...] : content
        }
        let immense: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        // The movie's clock ticks once a second, the track's 4,294,967,295 times; the edit is empty for 2³¹ s
        // (ISO/IEC 14496-12, 8.2.2, 8.4.2 and 8.6.6; all boxes in version 0).
        var section = BoxEditor.edit(series.initialization, ["moov", "mvhd"]) { set([0, 0, 0, 1], at: 12, in: $0) }
        section = BoxEditor.edit(section, ["moov", "trak", "mdia", "mdhd"]) { set(immense, at: 12, in: $0) }
        section = BoxEditor.edit(section, ["moov", "trak", "edts", "elst"]) { content in
            set([0x80, 0, 0, 0] + immense + [0, 1, 0, 0], at: 8, in: set([0, 0, 0, 1], at: 4, in: content))
        }
        let media = BoxEditor.edit(series.media[3], ["moof", "traf", "tfdt"]) { content in
            content[0] == 0 ? set([0x80, 0, 0, 0], at: 4, in: content) : set([0, 0, 0, 0, 0x80], at: 4, in: content)
        }
        var reader = SegmentReader()
        for _ in 0..<2 {
            let content = try? reader.read(media, initialization: section, inspecting: false)
            #expect(content == (try? SegmentDemuxer.demux(media, initialization: section)))
        }
        #expect(reader.ownCount == 0)
        let offsets = section.withUnsafeBytes { bytes in
            MovieHeader(bytes).map { header in header.tracks.map { header.offset(of: $0) } }
        }
        // Otherwise, this test tests nothing.
        if series.initialization.firstRange(of: Array("elst".utf8)) != nil {
            #expect(offsets?.contains { $0 < -(1 << 60) } == true, "\(offsets ?? [])")
        }
    }

    @Test("More samples than bytes are refused before anybody makes room for them")
    func declaredSamples() throws {
        let series = try Coding.all[1].series(isFragmented: true)
        let media = series.media[3]
        #expect(Self.fits([], media))
        let declared = BoxEditor.edit(media, ["moof", "traf", "trun"]) { content in
            content[..<4] + [0x03, 0x93, 0x87, 0x00] + content[8...]
        }
        #expect(!Self.fits([], declared))
        #expect(throws: SegmentDemuxer.Failure.unknownFormat) {
            try SegmentDemuxer.demux(FetchedBytes(declared), initialization: series.initialization)
        }
    }

    private static func fits(_ initialization: [UInt8], _ media: [UInt8]) -> Bool {
        initialization.withUnsafeBytes { first in media.withUnsafeBytes { DeclaredSamples.fit(first, $0) } }
    }

    @Test("Boxes that declare more samples than there are bytes are found wherever libavformat looks")
    func declaredPlaces() {
        let many: [UInt8] = [0x03, 0x93, 0x87, 0x00]
        let run = BoxEditor.box("trun", [0, 0, 0, 1] + many + [0, 0, 0, 8])
        let fragment = BoxEditor.box("moof", BoxEditor.box("traf", run))
        let open = [0, 0, 0, 0] + Array("moof".utf8) + BoxEditor.box("traf", run)
        let long = [0xFF, 0xFF, 0xFF, 0xF0] + Array("moof".utf8) + BoxEditor.box("traf", run)
        let large: [UInt8] = [0, 0, 0, 1] + Array("moof".utf8) + [0, 0, 0, 0, 0, 0, 0, UInt8(run.count + 24)]
        let sizes = BoxEditor.box("stsz", [0, 0, 0, 0, 0, 0, 0, 1] + many)
        let hostile = [
            fragment, open, long, large + BoxEditor.box("traf", run), BoxEditor.box("wide", []) + fragment, run,
            BoxEditor.box("udta", fragment), BoxEditor.box("moov", BoxEditor.box("trak", sizes)),
            BoxEditor.box("moof", BoxEditor.box("traf", BoxEditor.box("senc", [0, 0, 0, 0] + many))),
        ]
        for bytes in hostile {
            #expect(!Self.fits([], bytes) && !Self.fits(bytes, []) && !Self.fits(BoxEditor.box("free", []), bytes))
            // Cut anywhere between the initialization section and the media.
            #expect(!Self.fits(Array(bytes.prefix(20)), Array(bytes.dropFirst(20))))
            #expect(throws: SegmentDemuxer.Failure.unknownFormat) { try SegmentDemuxer.demux(bytes) }
        }
        // A box that reaches into the media hides what it has there.
        let hiding = [0, 0, 0, 100] + Array("free".utf8)
        #expect(!Self.fits(hiding, [UInt8](repeating: 0, count: 92) + fragment))
        #expect(Self.fits([], BoxEditor.box("mdat", fragment)))
    }

    @Test(
        "A fragment whose samples last for minutes is left to libavformat",
        arguments: [441_001, 16_777_215, 2_147_483_647]
    )
    func longSamples(ticks: UInt32) throws {
        let coding = try #require(Coding.all.first { $0.name == "sound" })
        let series = try coding.series(isFragmented: true)
        let media = BoxEditor.edit(series.media[3], ["moof", "traf", "tfhd"]) { content in
            // Only the default duration and fields behind it (ISO/IEC 14496-12, 8.8.7).
            guard content[3] & 0x0B == 0x08 else { return content }
            return content[..<8] + withUnsafeBytes(of: ticks.bigEndian) { Array($0) } + content[12...]
        }
        #expect(media != series.media[3] && media.count == series.media[3].count)
        var reader = series.taughtReader()
        let before = reader.ownCount
        let content = try reader.read(media, initialization: series.initialization, inspecting: false)
        #expect(reader.ownCount == before)
        #expect(content == (try SegmentDemuxer.demux(media, initialization: series.initialization)))
    }
}
