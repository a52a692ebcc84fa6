/// Checks an initialization section as the Media Source implementations of browsers do (W3C, ISO BMFF Byte Stream
/// Format, section 3; ISO/IEC 14496-12).
///
/// A defect that one of the browsers may tolerate, and a section that is damaged in another way, are not reported.
struct InitializationCheck {
    /// The codecs of the tracks, without those that are in doubt.
    private(set) var families: [CodecFamily] = []
    /// The identifiers of tracks in which each sample has a separate initialization vector.
    private(set) var encryptedTracks: Set<UInt32> = []
    /// The reason for which Chromium refuses the section, and other browsers perhaps not.
    private(set) var chromiumRefusal: MediaRefusal?

    /// - Throws: ``MediaRefusal``.
    init(_ section: [UInt8]) throws(MediaRefusal) {
        let result = section.withUnsafeBytes { bytes in
            Result { () throws(MediaRefusal) in
                var check = Self()
                try check.read(BoxReading("file", bytes))
                return check
            }
        }
        self = try result.get()
    }

    private init() {}

    private mutating func read(_ file: BoxReading) throws(MediaRefusal) {
        guard SegmentFormat(file.bytes) == .isoBaseMedia else { return }
        guard let movie = file.first("moov") else {
            guard file.isReadable else { return }
            throw MediaRefusal("the initialization section has no `moov` box", expected: "one with the tracks")
        }
        let defaults = try Self.defaults(in: movie)
        _ = try movie.mandatory("mvhd")
        for track in movie.all("trak") {
            guard let media = try track.mandatory("mdia"), let header = try track.mandatory("tkhd"),
                try media.mandatory("mdhd") != nil, let handler = try media.mandatory("hdlr")?.bytes.unsigned32(at: 8)
            else { continue }
            let handlerType = BoxType(rawValue: handler)
            guard handlerType == "vide" || handlerType == "soun" else { continue }
            let id = header.bytes.unsigned32(at: header.bytes.first == 1 ? 20 : 12)
            if let id, let defaults, !defaults.contains(id) {
                throw MediaRefusal(
                    "the initialization section has no `trex` box for track \(id)",
                    expected: "one for each track in `mvex`"
                )
            }
            guard let table = try media.mandatory("minf")?.mandatory("stbl")?.mandatory("stsd") else { continue }
            let entries = try Self.entries(table, isVideo: handlerType == "vide")
            families += entries.compactMap(\.family)
            let tolerated = entries.compactMap(\.chromiumRefusal)
            if tolerated.count == entries.count { chromiumRefusal = chromiumRefusal ?? tolerated.first }
            if let id { checkDescription(of: id, in: movie) }
            if let id, !entries.isEmpty, entries.allSatisfy(\.hasSampleVectors) { encryptedTracks.insert(id) }
        }
    }

    /// Checks the number of the sample entry that fragments have by default: Chromium counts from one
    /// (media/formats/mp4/mp4_stream_parser.cc, `ParseMoov`).
    private mutating func checkDescription(of id: UInt32, in movie: BoxReading) {
        let defaults = movie.first("mvex")?.all("trex").first { $0.bytes.unsigned32(at: 4) == id }
        guard chromiumRefusal == nil, defaults?.bytes.unsigned32(at: 8) == 0 else { return }
        chromiumRefusal = MediaRefusal(
            "the `trex` box of track \(id) has a sample description of number 0",
            expected: "the number of a sample entry, from 1 on",
            ground: .chromium
        )
    }

    /// The tracks with defaults for fragments; nil in doubt.
    private static func defaults(in movie: BoxReading) throws(MediaRefusal) -> Set<UInt32>? {
        guard let extends = movie.first("mvex") else {
            guard movie.isReadable else { return nil }
            throw MediaRefusal(
                "the media has no `mvex` box, so that it is a file without fragments",
                expected: "fragmented MP4",
                remedy: "package the media as fragmented MP4"
            )
        }
        guard extends.isReadable else { return nil }
        return Set(extends.all("trex").compactMap { $0.bytes.unsigned32(at: 4) })
    }

    /// Checks the sample entries: a track with one that is taken, or in doubt, is not refused.
    private static func entries(_ table: BoxReading, isVideo: Bool) throws(MediaRefusal) -> [SampleEntryCheck] {
        guard let content = table.dropping(8), content.isReadable else { return [] }
        var (entries, refusals, count) = ([SampleEntryCheck](), [MediaRefusal](), 0)
        _ = Box.all(in: content.bytes) { type, bytes in
            count += 1
            do throws(MediaRefusal) {
                entries.append(try SampleEntryCheck(BoxReading(type, bytes), isVideo: isVideo))
            } catch {
                refusals.append(error)
            }
            return count < 16
        }
        if let refusal = refusals.first, refusals.count == count { throw refusal }
        return entries
    }
}
