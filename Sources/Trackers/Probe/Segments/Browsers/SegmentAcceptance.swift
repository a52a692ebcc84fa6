/// Checks a media segment as the Media Source implementations of browsers, and the transmuxers of the players in them,
/// do.
enum SegmentAcceptance {
    /// A refusal of a segment.
    struct Finding: Hashable, Sendable {
        var refusal: MediaRefusal
        /// Whether the player fails; otherwise it plays the other track alone.
        var isWhole = true
        /// Whether the reason is in the initialization section.
        var isOfInitialization = false
    }

    /// The reason for which players in browsers refuse a segment, or a track of it; nil without one, or in doubt.
    ///
    /// - Parameters:
    ///   - content: the content of the segment.
    ///   - initialization: the initialization section; empty for a segment that begins with its own one.
    ///   - transmuxer: the player's transmuxer; nil for what all of them refuse.
    static func finding(
        in media: [UInt8],
        _ content: SegmentContent,
        initialization: [UInt8],
        transmuxer: Transmuxer?
    ) -> Finding? {
        if let found = finding(inTransportStream: media, content, transmuxer) { return found }
        guard content.wrap == nil, content.hasTimeline else { return nil }
        do throws(MediaRefusal) {
            let check = try InitializationCheck(initialization.isEmpty ? media : initialization)
            if let refusal = check.chromiumRefusal { throw refusal }
            let refusal = refusal(ofFragments: media, encryptedTracks: check.encryptedTracks)
            return refusal.map { Finding(refusal: $0) }
        } catch {
            return Finding(refusal: error, isOfInitialization: true)
        }
    }

    /// The reason for which no browser takes the fragments of a segment (W3C, ISO BMFF Byte Stream Format, section 4).
    ///
    /// - Parameter encryptedTracks: the tracks in which each sample has a separate initialization vector.
    static func refusal(ofFragments media: [UInt8], encryptedTracks: Set<UInt32> = []) -> MediaRefusal? {
        media.withUnsafeBytes { bytes in
            let file = BoxReading("file", bytes)
            guard SegmentFormat(bytes) == .isoBaseMedia else { return nil }
            if FragmentOrder(bytes).beginsWithMedia { return mediaFirst }
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
    private static func finding(
        inTransportStream media: [UInt8],
        _ content: SegmentContent,
        _ transmuxer: Transmuxer?
    ) -> Finding? {
        // Packed audio with a timestamp has the wrap of transport streams, too.
        guard content.wrap != nil else { return nil }
        guard media.withUnsafeBytes({ SegmentFormat($0) == .transportStream }) else {
            return media.withUnsafeBytes { TransportPacket.otherSize(in: $0) }.map { Finding(refusal: packets(of: $0)) }
        }
        let codecs = [content.video?.codec, content.audio?.codec].compactMap(\.self)
        let types = media.withUnsafeBytes { ProgramTypes.types(in: $0) }
        var (names, isFailure) = ([String](), false)
        for codec in codecs {
            switch Transmuxer.treatment(of: codec, in: types, by: transmuxer) {
            case .read: continue
            case .ignored(let name): names.append(name)
            case .failed(let name):
                names.append(name)
                isFailure = true
            }
        }
        guard !names.isEmpty else { return nil }
        let refusal = MediaRefusal(
            "the transport stream has \(names.joined(separator: " and "))",
            expected: "H.264 or H.265, and AAC, MP3 or AC-3",
            remedy: "encode the track again"
        )
        return Finding(refusal: refusal, isWhole: isFailure || names.count == codecs.count)
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

    private static func packets(of size: Int) -> MediaRefusal {
        MediaRefusal(
            "the transport stream has packets of \(size) bytes",
            expected: "packets of 188 bytes",
            remedy: "write a plain MPEG-2 transport stream (ISO/IEC 13818-1)"
        )
    }

    /// Chromium reports no error: it has dropped the media before it reads where they are, and waits for them.
    private static let mediaFirst = MediaRefusal(
        "the segment has an `mdat` box before its `moof` box",
        expected: "`moof`, and behind it the `mdat` boxes with its samples"
    )

    private static let absoluteOffset = MediaRefusal(
        "the segment's `tfhd` box has an absolute offset (base-data-offset)",
        expected: "offsets from the beginning of the `moof` box",
        remedy: "let the packager write them (ffmpeg: `-movflags +default_base_moof`)"
    )
}
