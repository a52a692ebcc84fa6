internal import Instrument
internal import InstrumentManifests

/// Compares the content of a segment with its declaration.
struct SegmentCheck {
    /// A difference, with its message.
    struct Finding: Hashable, Sendable {
        var kind: StreamWarning.Kind
        var message: String
    }

    private let content: SegmentContent
    private let segment: MediaSegment
    private let variant: Variant?
    private let isFirst: Bool

    init(_ content: SegmentContent, _ segment: MediaSegment, _ variant: Variant?, isFirst: Bool) {
        self.content = content
        self.segment = segment
        self.variant = variant
        self.isFirst = isFirst
    }

    var findings: [Finding] { [keyframe, tracks, duration, bitrate, resolution, gap].compactMap(\.self) }

    private var keyframe: Finding? {
        // A part other than the first one may depend on the parts before.
        guard let video = content.video, !video.startsWithKeyframe, (segment.part ?? 0) == 0 else { return nil }
        return finding(.noKeyframe, "does not begin with a keyframe, so that it cannot be switched to")
    }

    /// Reports sound and picture that begin or end more than half a second apart. Segments normally differ by one or
    /// two frames, and by ITU-R BT.1359 viewers notice sound that is 125 ms late and object from 185 ms on.
    private var tracks: Finding? {
        guard let video = content.video, let audio = content.audio else { return nil }
        let (starts, ends) = (
            audio.start.saturatingSubtract(video.start).magnitude, audio.end.saturatingSubtract(video.end).magnitude
        )
        guard max(starts, ends) > 500_000_000 else { return nil }
        let milliseconds = max(starts, ends) / 1_000_000
        return finding(.tracksApart, "has sound and picture \(milliseconds) ms apart")
    }

    /// Reports a duration that differs by more than half a second and a quarter of the declared one: RFC 8216 section
    /// 4.3.3.1 allows rounding to the nearest integer. A segment at a boundary of periods may have the media outside
    /// its period or not.
    private var duration: Finding? {
        guard let media = content.main else { return nil }
        let real = media.end.saturatingSubtract(media.start)
        let difference = real.saturatingSubtract(min(max(real, segment.duration), segment.mediaDuration))
        guard difference.magnitude > UInt64(max(500_000_000, segment.duration / 4)) else { return nil }
        return finding(
            .wrongDuration,
            "plays \(real / 1_000_000) ms, not \(segment.duration / 1_000_000) ms as declared"
        )
    }

    /// Reports a bitrate above 120 % of `BANDWIDTH`: twice the 10 % of the HLS Authoring Specification, 1.24.
    private var bitrate: Finding? {
        // The declared bitrate is that of segments; a part with a keyframe has more.
        // A period may declare another bitrate than the period whose variants are the ladder.
        guard let declared = segment.peakBitrate ?? variant?.peakBitrate, declared > 0,
            segment.duration >= 500_000_000, content.video != nil, segment.part == nil
        else { return nil }
        let bitrate = Double(content.size) * 8e9 / Double(segment.mediaDuration)
        guard bitrate > Double(declared) * 1.2 else { return nil }
        let kilobits = Int64(clamping: bitrate / 1000)
        return finding(
            .wrongBitrate,
            "has \(kilobits) kbit/s, and its variant declares at most \(declared / 1000)"
        )
    }

    /// Reports pictures of another size than declared. The resolution is that of the display (rfc8216bis section
    /// 4.4.6.2): the size of the pictures, or the size to which the shape of their samples stretches them.
    private var resolution: Finding? {
        guard isFirst, let declared = variant?.resolution, let real = content.video?.pictureSize,
            declared.width != real.width || declared.height != real.height, !isStretched(real, to: declared)
        else { return nil }
        let message = "has pictures of \(real.width)×\(real.height), declared are \(declared.width)×\(declared.height)"
        return finding(.wrongResolution, message)
    }

    /// Whether the shape of samples stretches pictures to a resolution, in one of the dimensions, rounded to even
    /// numbers.
    private func isStretched(_ real: PictureSize, to declared: Resolution) -> Bool {
        guard let aspect = content.video?.sampleAspect else { return false }
        func isNear(_ count: Int, _ computed: Double) -> Bool { abs(Double(count) - computed) < 2 }
        return declared.height == real.height && isNear(declared.width, Double(real.width) * aspect)
            || declared.width == real.width && isNear(declared.height, Double(real.height) / aspect)
    }

    private var gap: Finding? {
        guard let gap = [content.video, content.audio].compactMap({ $0?.largestGap }).max(), gap > 200_000_000 else {
            return nil
        }
        return finding(.frameGap, "lacks frames for \(gap / 1_000_000) ms")
    }

    private func finding(_ kind: StreamWarning.Kind, _ message: String) -> Finding {
        Finding(kind: kind, message: "segment \(segment.sequence) \(message)")
    }
}
