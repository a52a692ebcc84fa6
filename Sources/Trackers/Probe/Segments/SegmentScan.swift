/// A segment that is read without libavformat, while its bytes arrive.
struct SegmentScan: Sendable {
    /// The reader of the segment's format; the other one is nil.
    private var transportStream: TransportStreamReader?
    private var fragments: FragmentReader?
    private var video = TrackSummary()
    private var audio = TrackSummary()
    /// The number of bytes that were read.
    private(set) var count = 0

    /// Creates a scan of a segment of this format; nil if only libavformat reads it.
    init?(_ format: SegmentFormat, _ movie: @autoclosure () -> FragmentReader?) {
        switch format {
        case .transportStream: transportStream = TransportStreamReader()
        case .isoBaseMedia: fragments = movie()
        case .other: return nil
        }
        if transportStream == nil, fragments == nil { return nil }
    }

    /// Whether the segment has anything that libavformat might read in another way.
    var isInDoubt: Bool { transportStream?.isInDoubt ?? fragments?.isInDoubt ?? true }

    /// The signature; nil before every track has a frame.
    var signature: SegmentSignature? { transportStream?.signature ?? fragments?.signature }

    /// Whether the media so far are those of a signature: each track that has a frame describes it alike.
    func agrees(with signature: SegmentSignature) -> Bool {
        guard let parts = transportStream?.arrivedParts ?? fragments?.arrivedParts else { return false }
        return parts.count == signature.parts.count
            && zip(parts, signature.parts).allSatisfy { $0.isEmpty || $0 == $1 }
    }

    /// Reads what has arrived since the last call.
    ///
    /// - Parameters:
    ///   - bytes: the segment from its beginning.
    ///   - isWhole: whether no further bytes will arrive.
    mutating func read(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        count = bytes.count
        transportStream?.read(bytes, isWhole: isWhole)
        fragments?.read(bytes, isWhole: isWhole)
    }

    /// The content so far, for media that are known; nil in doubt.
    mutating func content(of media: KnownMedia) -> SegmentContent? {
        guard !isInDoubt else { return nil }
        var content = SegmentContent()
        content.size = count
        content.hasCompleteFrames = true
        if let reader = transportStream {
            content.wrap = SegmentContent.transportStreamWrap
            content.streams = Set(reader.tracks.map(\.coding.track))
        } else if let reader = fragments {
            guard reader.hasExactRate else { return nil }
            content.streams = Set(reader.header.tracks.map(\.kind))
        }
        takeFrames(media)
        // The size of pictures without a keyframe is unknown.
        if video.frameCount > 0, video.firstKeyframe == nil { return nil }
        guard describe(video, .video, media, &content), describe(audio, .audio, media, &content) else { return nil }
        content.video?.framesPerSecond = fragments?.framesPerSecond
        return content.isEmpty ? nil : content
    }

    private mutating func takeFrames(_ media: KnownMedia) {
        for (index, coding) in (transportStream?.tracks.map(\.coding) ?? []).enumerated() {
            add(transportStream?.takeFrames(of: index) ?? [], coding.track, media)
        }
        for (index, track) in (fragments?.header.tracks ?? []).enumerated() {
            add(fragments?.takeFrames(of: index) ?? [], track.kind, media)
        }
    }

    private mutating func add(_ frames: [SegmentFrame], _ kind: PlaybackModel.Track, _ media: KnownMedia) {
        guard let duration = media[kind]?.duration else { return }
        for frame in frames {
            if kind == .video { video.add(frame, lasting: duration) } else { audio.add(frame, lasting: duration) }
        }
    }

    private func describe(
        _ summary: TrackSummary,
        _ kind: PlaybackModel.Track,
        _ media: KnownMedia,
        _ content: inout SegmentContent
    ) -> Bool {
        guard summary.frameCount > 0 else { return true }
        guard let known = media[kind] else { return false }
        content[kind] = summary.content(codec: known.codec)
        content[kind]?.pictureSize = known.pictureSize
        content[kind]?.sampleAspect = known.sampleAspect
        content[kind]?.language = known.language
        return true
    }
}
