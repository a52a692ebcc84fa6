package import Instrument
package import InstrumentAds
package import InstrumentHTTP
package import InstrumentManifests

/// The properties of a fetched segment.
package struct SegmentFacts: Sendable {
    /// The place of a segment among the listed ones.
    package enum Place: Hashable, Sendable {
        /// The oldest that is listed, which expires next.
        case oldest
        /// Any other.
        case inside
    }

    /// The reason of missing media.
    package enum Failure: Hashable, Sendable {
        /// The server answered with an error status.
        case status(Int)
        /// There was no answer, or not all of it: the reason, without secrets.
        case connection(String)
        /// The body is no media of a known kind: the reason.
        case unreadable(String)
        /// The body cannot be decrypted with the key: what was found.
        case undecipherable(String)
        /// The response has other bytes than the requested range: what was found.
        case otherRange(String)
        /// The body is not in a content coding that can be read: what was found.
        case coding(String)
    }

    /// A track of the segment. Times are nanoseconds of the container's timeline.
    package struct Track: Hashable, Sendable {
        /// Whether the track has pictures; otherwise it has sound.
        package var isVideo: Bool
        /// The codec as libavcodec names it: `h264`, `hevc`, `av1`, `aac`, `ac3`.
        package var codec: String
        /// The instant at which the first frame is shown.
        package var start: Int64
        /// The instant at which the last frame ends.
        package var end: Int64
        /// The largest gap between two frames, in nanoseconds.
        package var largestGap: Int64 = 0
        /// Whether the first frame is a keyframe; true for sound.
        package var startsWithKeyframe = true
        /// The size of the pictures; nil if unknown, and for sound.
        package var size: Resolution?
        /// The width of a sample of a picture, divided by its height; nil if unknown.
        package var sampleAspect: Double?
        /// The frames of a second; nil where they vary or are unknown, and for sound.
        package var framesPerSecond: Double?
        /// The transfer characteristics of pictures (ISO/IEC 23091-2), 2 where the media does not say; nil if unknown,
        /// and for sound.
        package var transfer: Int?
        /// The number of channels of sound; nil if unknown, and for pictures.
        package var channelCount: Int?
        /// The sampling rate of sound in Hz; nil if unknown, and for pictures.
        package var sampleRate: Int?

        /// Creates a track.
        package init(isVideo: Bool, codec: String, start: Int64, end: Int64) {
            self.isVideo = isVideo
            self.codec = codec
            self.start = start
            self.end = end
        }
    }

    /// The reason for which browsers do not play a segment (W3C, ISO BMFF Byte Stream Format; the codecs of transport
    /// streams that players in browsers read).
    package struct Refusal: Hashable, Sendable {
        /// What the media has, as a sentence that follows "that".
        package var found: String
        /// What browsers expect instead, as a noun.
        package var expected: String
        /// What to do, as a sentence without its capital letter and full stop.
        package var remedy: String
        /// Whether every browser refuses the whole segment; otherwise some browsers do, or players in browsers leave
        /// out a track.
        package var isWhole: Bool

        /// Creates a reason.
        package init(found: String, expected: String, remedy: String, isWhole: Bool) {
            self.found = found
            self.expected = expected
            self.remedy = remedy
            self.isWhole = isWhole
        }
    }

    /// The kind of a track.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// Pictures.
        case video
        /// Sound.
        case audio
    }

    /// The subtitles of a segment.
    package struct Subtitles: Hashable, Sendable {
        /// The number of cues.
        package var cueCount: Int
        /// The first defect, for people; nil without one.
        package var defect: String?
        /// The time from the start of the first cue to the end of the last one, in nanoseconds of the container's
        /// timeline; nil without cues, or where it is not known.
        package var times: Range<Int64>?
        /// The latest start of a cue of WebVTT or TTML that is no MP4, in nanoseconds of the container's timeline; nil
        /// for other formats, and without cues.
        package var latestStart: Int64?
        /// Whether WebVTT says how its times relate to those of the media (`X-TIMESTAMP-MAP`).
        package var hasTimestampMap = false
        /// The number of cues that are shown at no time of the segment, by the times of the manifest (DASH).
        package var outsideCount = 0

        /// Creates subtitles.
        package init(cueCount: Int, defect: String?) {
            self.cueCount = cueCount
            self.defect = defect
        }
    }

    /// The rendition as the presentation names it.
    package var rendition: String
    /// The address that was requested.
    package var url: HTTPURL
    /// The sequence number.
    package var sequence: Int64
    /// The discontinuity sequence, or the number of the period.
    package var discontinuity: Int64
    /// The duration by the playlist or manifest, in nanoseconds.
    package var declaredDuration: Int64
    /// The peak bit rate by the manifest for the period of the segment (DASH), in bit/s; nil where the manifest does
    /// not say.
    package var declaredBandwidth: Int64?
    /// The media time by the manifest (DASH), in nanoseconds; nil where the manifest does not say.
    package var declaredMediaTime: Int64?
    /// The duration of media that the segment may have before `declaredMediaTime`, in nanoseconds, where a period
    /// begins inside the segment (DASH).
    package var trimmedStart: Int64 = 0
    /// The duration of media that the segment may have behind its declared end, in nanoseconds, where a period ends
    /// inside the segment (DASH).
    package var trimmedEnd: Int64 = 0
    /// The calendar time of the first frame by the playlist; nil where the playlist does not say.
    package var date: WallTime?
    /// The instant at which the response was complete.
    package var fetched: Timestamp
    /// The place of the segment among the listed ones.
    package var place = Place.inside
    /// Whether the stream was live when the segment was requested.
    package var isLive = false
    /// The reason of missing media; nil with media.
    package var failure: Failure?
    /// The size of the body, in bytes; nil if only the availability was asked for.
    package var byteCount: Int?
    /// A hash of the body, to compare it with another response for the same segment.
    package var hash: UInt64?
    /// Whether the segment is encrypted as a whole with AES-128.
    package var isEncrypted = false
    /// Whether the playlist or manifest names an initialization segment.
    package var hasInitialization = false
    /// The position of the segment by the playlist or manifest, in nanoseconds; in HLS from the first listed segment.
    package var position: Int64 = 0
    /// Whether the segment is the last one of a presentation to which nothing is added.
    package var isLast = false
    /// Whether an MPD implies the segment for less than half of a segment's duration, at the end of a period.
    package var isRemainder = false
    /// Whether the segment is of a playlist that lists keyframes alone (`EXT-X-I-FRAMES-ONLY`).
    package var isKeyframeOnly = false
    /// Whether the server sent the whole resource instead of the requested byte range.
    package var isRangeIgnored = false
    /// Whether the server sent a byte range and did not say which.
    package var lacksContentRange = false
    /// What shows that the file ends before the byte range of the segment does; nil where all of the range is there.
    package var rangeShortage: String?
    /// The tracks that have frames; empty if they are not known.
    package var tracks: [Track] = []
    /// The kinds of tracks that the container declares, with or without frames.
    package var declaredKinds: Set<Kind> = []
    /// The subtitles; nil for other media.
    package var subtitles: Subtitles?
    /// Whether timestamps say where the segment belongs; packed audio has none.
    package var hasTimeline = true
    /// The interval after which timestamps wrap to zero, in nanoseconds; nil where they do not wrap.
    package var wrap: Int64?
    /// Whether the body ends inside a packet or a box.
    package var isTruncated = false
    /// The number of fragments (`moof`) of fragmented MP4; 0 for other media.
    package var chunkCount = 0
    /// Whether the segment is MP4, and no initialization segment is declared for it.
    package var isBareFragment = false
    /// The number of places at which packets of media are missing, by the counters of a transport stream.
    package var packetGaps = 0
    /// Whether a transport stream has no tables, neither in its packets nor in an initialization segment.
    package var lacksTables = false
    /// The defects of the signals of ad breaks that the segment carries.
    package var signalFindings: [AdFinding] = []
    /// The reason for which browsers refuse the segment; nil without one, or in doubt.
    package var refusal: Refusal?

    /// Creates facts that hold nothing but the segment's place.
    package init(
        rendition: String,
        url: HTTPURL,
        sequence: Int64,
        discontinuity: Int64,
        declaredDuration: Int64,
        fetched: Timestamp
    ) {
        self.rendition = rendition
        self.url = url
        self.sequence = sequence
        self.discontinuity = discontinuity
        self.declaredDuration = declaredDuration
        self.fetched = fetched
    }

    /// The kinds of tracks that have frames.
    var kinds: Set<Kind> { Set(tracks.map(\.kind)) }

    /// Whether the media came, with all bytes that the playlist or manifest promises.
    var hasAllBytes: Bool { failure == nil && rangeShortage == nil }

    /// Whether the server says that a segment of a live stream does not exist.
    var isMissing: Bool {
        guard isLive, case .status(let status) = failure else { return false }
        return [404, 410].contains(status)
    }

    /// The track that decides: the pictures, else the sound.
    package var main: Track? { tracks.first(where: \.isVideo) ?? tracks.first }

    /// The times of the media beside the declared ones.
    var timing: SegmentTiming { SegmentTiming(of: self) }

    /// The difference of a timestamp of this segment to one of another segment, with a wrap taken into account.
    func distance(from other: Int64, to mine: Int64) -> Int64 {
        SegmentTiming.distance(from: other, to: mine, wrap: wrap)
    }
}

extension SegmentFacts.Track {
    /// The kind.
    var kind: SegmentFacts.Kind { isVideo ? .video : .audio }
}

extension SegmentFacts.Kind {
    /// The kind for people.
    var name: String {
        switch self {
        case .video: "pictures"
        case .audio: "sound"
        }
    }
}
