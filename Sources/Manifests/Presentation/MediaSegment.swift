public import Instrument
public import InstrumentHTTP

/// A range of bytes of a resource.
public struct ByteRange: Hashable, Sendable {
    /// The first byte's place, from 0.
    public var offset: Int64
    /// How many bytes; nil means to the end.
    public var length: Int64?

    /// Creates a range.
    public init(offset: Int64, length: Int64?) {
        self.offset = offset
        self.length = length
    }

    /// The value of a `Range` header (RFC 9110 section 14.1.2).
    public var headerValue: String {
        guard let length else { return "bytes=\(offset)-" }
        let end = offset.addingReportingOverflow(Swift.max(length, 1) - 1)
        return "bytes=\(offset)-\(end.overflow ? .max : end.partialValue)"
    }
}

/// What has to be fetched once and put before segments that name it: `EXT-X-MAP`, `Initialization`.
///
/// Equal values are the same bytes, so it is its own key in a cache.
public struct InitializationSegment: Hashable, Sendable {
    /// Where it is.
    public var url: HTTPURL
    /// Which part of it; nil for all.
    public var byteRange: ByteRange?
    /// How it is encrypted; nil if it is not.
    public var encryption: SegmentEncryption?

    /// Creates an initialization segment.
    public init(url: HTTPURL, byteRange: ByteRange? = nil, encryption: SegmentEncryption? = nil) {
        self.url = url
        self.byteRange = byteRange
        self.encryption = encryption
    }
}

/// How a segment is encrypted as a whole (RFC 8216 section 5.2): AES-128 in CBC mode with PKCS #7 padding.
public struct SegmentEncryption: Hashable, Sendable {
    /// What was done to the bytes.
    public enum Method: Hashable, Sendable {
        /// All of it is AES-128-CBC.
        case aes128
        /// Something that cannot be undone here (`SAMPLE-AES`, DRM), by its name; do not fetch such segments.
        case unsupported(String)
    }

    /// What was done.
    public var method: Method
    /// Where the 16 bytes of the key are; nil where it is not supported. May hold secrets in its query.
    public var keyURL: HTTPURL?
    /// The 16 bytes of the initialization vector: `IV`, or the media sequence number as a big-endian integer.
    public var initializationVector: [UInt8]

    /// Creates it.
    public init(method: Method, keyURL: HTTPURL?, initializationVector: [UInt8]) {
        self.method = method
        self.keyURL = keyURL
        self.initializationVector = initializationVector
    }
}

/// A piece of a rendition that can be fetched: where it is, and when it plays.
///
/// Times are nanoseconds on the presentation timeline, which all renditions share.
public struct MediaSegment: Hashable, Sendable {
    /// Its number within the rendition; the next segment has the next one. HLS: the media sequence number.
    public var sequence: Int64
    /// Segments with different numbers may differ in codecs and timestamps. HLS: the discontinuity sequence; DASH: the
    /// period.
    public var discontinuity: Int64
    /// When it begins to play, in nanoseconds.
    public var start: Int64
    /// How long it plays by the manifest, in nanoseconds.
    public var duration: Int64
    /// Where it is.
    public var url: HTTPURL
    /// Which part of the resource; nil for all.
    public var byteRange: ByteRange?
    /// What has to come before it; nil for none (TS, packed audio).
    public var initialization: InitializationSegment?
    /// How it is encrypted; nil if it is not.
    public var encryption: SegmentEncryption?
    /// Whether there is nothing to fetch (`EXT-X-GAP`, a hole in a `SegmentTimeline`): play what is on, or skip it.
    public var isGap = false
    /// The calendar time of its first frame, where the manifest says it.
    public var wallTime: WallTime?
    /// The calendar time from which on it can be fetched (DASH, live); nil means now.
    public var availability: WallTime?
    /// Bits a second by the manifest (`EXT-X-BITRATE`, the size in a `sidx`); nil where unknown.
    public var bitrate: Int64?
    /// The timestamp inside the media that ``start`` stands for, in nanoseconds; nil where the manifest does not say
    /// (HLS).
    ///
    /// DASH: what is on the timeline at `start` has this decode time in the segment.
    public var mediaTime: Int64?

    /// When it is over, in nanoseconds; saturates.
    public var end: Int64 { start.saturatingAdd(duration) }

    /// Creates a segment.
    public init(sequence: Int64, discontinuity: Int64 = 0, start: Int64, duration: Int64, url: HTTPURL) {
        self.sequence = sequence
        self.discontinuity = discontinuity
        self.start = start
        self.duration = duration
        self.url = url
    }
}
