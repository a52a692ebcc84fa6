/// The fields of a segment that describe its media: the table of the program or the initialization section, parameter
/// sets, the constant fields of the headers of sound. Segments with equal signatures have equal codecs and picture
/// sizes.
struct SegmentSignature: Hashable, Sendable {
    var parts: [[UInt8]]
}

/// The description of the media of a signature, as libavformat gave it.
struct KnownMedia: Hashable, Sendable {
    struct Track: Hashable, Sendable {
        var codec: String
        var pictureSize: PictureSize?
        var sampleAspect: Double?
        var language: String?
        /// The playing time that each packet declares, in nanoseconds; 0 without one.
        var duration: Int64
    }

    private var video: Track?
    private var audio: Track?

    subscript(track: PlaybackModel.Track) -> Track? { track == .video ? video : audio }

    /// Takes the description from a segment; nil if its packets declare different durations.
    init?(_ look: SegmentLook) {
        for kind in PlaybackModel.Track.allCases {
            guard let content = look.content[kind] else { continue }
            guard let duration = look.durations[kind] else { return nil }
            let track = Track(
                codec: content.codec,
                pictureSize: content.pictureSize,
                sampleAspect: content.sampleAspect,
                language: content.language,
                duration: duration
            )
            if kind == .video { video = track } else { audio = track }
        }
    }
}
