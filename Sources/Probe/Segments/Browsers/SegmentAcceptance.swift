/// Checks a media segment as the Media Source implementations of browsers, and the transmuxers of the players in them,
/// do.
enum SegmentAcceptance {
    /// Codecs of transport streams, by libavcodec's names, that the transmuxers of hls.js (src/demux/tsdemuxer.ts,
    /// `parsePMT`) and Shaka Player (lib/util/ts_parser.js) do not read.
    private static let notTransmuxed: [String: String] = [
        "mpeg1video": "MPEG-1 video", "mpeg2video": "MPEG-2 video", "mpeg4": "MPEG-4 Part 2 video",
        "vc1": "VC-1 video", "cavs": "AVS video", "dirac": "Dirac video", "aac_latm": "AAC in LATM", "dts": "DTS audio",
        "truehd": "Dolby TrueHD audio", "pcm_bluray": "PCM audio", "mp1": "MPEG audio layer 1",
        "mp2": "MPEG audio layer 2",
    ]

    /// The reason for which no browser takes the fragments of a segment (W3C, ISO BMFF Byte Stream Format, section 4).
    ///
    /// - Parameter encryptedTracks: the tracks in which each sample has a separate initialization vector.
    static func refusal(ofFragments media: [UInt8], encryptedTracks: Set<UInt32> = []) -> MediaRefusal? {
        media.withUnsafeBytes { bytes in
            let file = BoxReading("file", bytes)
            guard SegmentFormat(bytes) == .isoBaseMedia else { return nil }
            for fragment in file.all("moof") where fragment.isReadable {
                if fragment.first("mfhd") == nil { return missing("mfhd", in: "moof") }
                for track in fragment.all("traf") where track.isReadable {
                    guard let header = track.first("tfhd") else { return missing("tfhd", in: "traf") }
                    if track.first("tfdt") == nil { return missing("tfdt", in: "traf") }
                    // The flag of an absolute offset in the file (ISO/IEC 14496-12, 8.8.7).
                    if let flags = header.bytes.unsigned32(at: 0), flags & 1 != 0 { return absoluteOffset }
                    if let id = header.bytes.unsigned32(at: 4), encryptedTracks.contains(id), !hasVectors(track) {
                        return withoutVectors
                    }
                }
            }
            return nil
        }
    }

    /// The reason for which players in browsers do not show a track of a transport stream.
    static func refusal(ofTransportStream content: SegmentContent) -> (refusal: MediaRefusal, isWhole: Bool)? {
        guard content.wrap != nil else { return nil }
        let codecs = [content.video?.codec, content.audio?.codec].compactMap(\.self)
        let refused = codecs.compactMap { notTransmuxed[$0] }
        guard !refused.isEmpty else { return nil }
        let refusal = MediaRefusal(
            "the transport stream has \(refused.joined(separator: " and "))",
            expected: "H.264 or H.265, and AAC, MP3 or AC-3",
            remedy: "encode the track again"
        )
        return (refusal, refused.count == codecs.count)
    }

    /// Whether a fragment describes the encryption of its samples, or may (ISO/IEC 23001-7, 6 and 7; PIFF).
    private static func hasVectors(_ track: BoxReading) -> Bool {
        ["senc", "saiz", "sgpd", "sbgp", "uuid"].contains { track.first($0) != nil }
    }

    private static func missing(_ box: BoxType, in container: BoxType) -> MediaRefusal {
        MediaRefusal("the segment has a `\(container)` box without a `\(box)` box", expected: "one in each")
    }

    private static let withoutVectors = MediaRefusal(
        "the segment has encrypted samples without their initialization vectors (`senc`, or `saiz` and `saio`)",
        expected: "one for each sample",
        remedy: "package the media with another packager (ffmpeg 5.1 leaves the vectors out of fragments)"
    )

    private static let absoluteOffset = MediaRefusal(
        "the segment's `tfhd` box has an absolute offset (base-data-offset)",
        expected: "offsets from the beginning of the `moof` box",
        remedy: "let the packager write them (ffmpeg: `-movflags +default_base_moof`)"
    )
}
