/// The part of a player in a browser that turns transport streams into media that the browser takes.
package enum Transmuxer: Hashable, Sendable {
    /// That of hls.js 1.7.1 (src/demux/tsdemuxer.ts, `parsePMT`).
    case hlsJS
    /// That of Shaka Player 5.2.0 (lib/util/ts_parser.js, `parsePMT_`).
    case shaka

    /// What a transmuxer does with a track of a transport stream.
    enum Treatment: Hashable, Sendable {
        case read
        /// The transmuxer does not look at the track of this codec, and reads the others.
        case ignored(String)
        /// The segment is an error because of the track of this codec.
        case failed(String)
    }

    /// Codecs, by libavcodec's names, that neither reads.
    private static let unread: [String: String] = [
        "mpeg1video": "MPEG-1 video", "mpeg2video": "MPEG-2 video", "mpeg4": "MPEG-4 Part 2 video",
        "vc1": "VC-1 video", "cavs": "AVS video", "dirac": "Dirac video", "dts": "DTS audio",
        "truehd": "Dolby TrueHD audio", "pcm_bluray": "PCM audio",
    ]
    /// Types of streams with Enhanced AC-3, the second with encrypted samples, that hls.js calls an error
    /// (`FRAG_PARSING_ERROR`). In a private stream (0x06) it looks for AC-3 alone.
    private static let failingTypes: Set<UInt8> = [0x87, 0xC2]

    /// The treatment of a track by a transmuxer; without one, by all of them.
    ///
    /// - Parameters:
    ///   - codec: the codec as libavcodec names it.
    ///   - types: the types of all streams of the program; nil in doubt.
    static func treatment(of codec: String, in types: Set<UInt8>?, by transmuxer: Transmuxer?) -> Treatment {
        if let name = unread[codec] { return .ignored(name) }
        guard transmuxer == .hlsJS else { return .read }
        switch codec {
        case "eac3":
            guard let types else { return .read }
            let name = "Enhanced AC-3 audio"
            return types.isDisjoint(with: failingTypes) ? .ignored(name) : .failed(name)
        case "aac_latm": return .ignored("AAC in LATM")
        case "opus": return .ignored("Opus audio")
        default: return .read
        }
    }
}
