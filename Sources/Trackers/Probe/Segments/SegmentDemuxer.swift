internal import CFFmpeg
internal import CProbeShim

/// Inspects a segment's bytes with libavformat, in memory. Each segment is opened separately, so that a damaged segment
/// cannot affect the next one.
///
/// Blocks for about a millisecond; safe from any thread.
enum SegmentDemuxer {
    enum Failure: Error, Hashable, Sendable {
        /// The bytes are not media of a known format.
        case unknownFormat
        /// The media has neither video nor audio that can be demuxed; the names of the codecs that it has instead.
        case noTracks([String])
        /// Memory allocation failed.
        case outOfMemory
    }

    /// The formats that libavformat may detect.
    private static let formats = "mov,mp4,m4a,3gp,3g2,mj2,mpegts,matroska,webm,aac,mp3,ac3,eac3"
    /// Formats whose frames carry no timestamps, but perhaps one in front of all.
    private static let untimed: Set<String> = ["aac", "mp3", "ac3", "eac3"]

    /// Reads all frames.
    ///
    /// - Parameters:
    ///   - media: the segment, or the part of its start that has arrived.
    ///   - initialization: the initialization section (`EXT-X-MAP`, an initialization segment); empty if there is no
    ///     such section.
    ///   - isInspected: whether to determine the frame rate as well, which takes slightly longer.
    static func demux(
        _ media: FetchedBytes,
        initialization: [UInt8] = [],
        inspecting isInspected: Bool = false
    ) throws(Failure) -> SegmentContent {
        try look(at: media, initialization: initialization, inspecting: isInspected).content
    }

    /// Reads all frames, with what a reader without libavformat must know of them.
    static func look(
        at media: FetchedBytes,
        initialization: [UInt8],
        inspecting isInspected: Bool = false
    ) throws(Failure) -> SegmentLook {
        probe_initialize()
        let result = initialization.withUnsafeBytes { first in
            media.withUnsafeBytes { second in demux(first, second, isInspected) }
        }
        return try result.get()
    }

    private static func demux(
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer,
        _ isInspected: Bool
    ) -> Result<SegmentLook, Failure> {
        let starts = [first, second].map { $0.baseAddress?.assumingMemoryBound(to: UInt8.self) }
        var input = probe_memory_open(starts[0], first.count, starts[1], second.count)
        guard input != nil else { return .failure(.outOfMemory) }
        defer { probe_memory_close(&input) }
        let format = SegmentFormat(first.isEmpty ? second : first)
        guard fits(format, first, second) else { return .failure(.unknownFormat) }
        // Libavformat recognizes packed AAC by several frames, and the last segment may have one.
        let isFrames = format == .other && PackedAudioTimestamp.media(in: second).map { ADTSFrames.areFew($0) } ?? false
        var context = open(input, format, isAAC: isFrames)
        guard context != nil else { return .failure(.unknownFormat) }
        defer { avformat_close_input(&context) }
        // Parsers take encrypted bytes for what they are not, and change the times that the container declares.
        if format == .isoBaseMedia, MovieHeader(first)?.isEncrypted == true {
            context?.pointee.flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN
        }
        // Packed audio has only the times that libav computes from the frames.
        if isInspected || format == .other { avformat_find_stream_info(context, nil) }
        guard var reading = SegmentReading(context, input, mediaOffset: first.count) else {
            return .failure(.outOfMemory)
        }
        reading.readAll()
        var content = reading.content
        if content.isEmpty { return .failure(.noTracks(NamedCodecs.names(in: [first, second]))) }
        let name = context?.pointee.iformat.map { String(cString: $0.pointee.name) } ?? ""
        content.size = second.count
        content.wrap = name == "mpegts" ? SegmentContent.transportStreamWrap : nil
        if untimed.contains(name) { content.place(at: PackedAudioTimestamp.nanoseconds(in: second)) }
        return .success(
            SegmentLook(
                content: content,
                durations: reading.durations,
                audioFormat: reading.audioFormat,
                pictureFormat: isInspected ? reading.pictureFormat : nil
            )
        )
    }

    /// Whether libavformat may see a segment: it may take bytes of no known beginning for MP4, too.
    static func fits(
        _ format: SegmentFormat,
        _ initialization: UnsafeRawBufferPointer,
        _ media: UnsafeRawBufferPointer
    ) -> Bool {
        // An initialization section of the other format belongs to other media.
        let formats = [initialization, media].map { SegmentFormat($0) }.filter { $0 != .other }
        guard initialization.isEmpty || Set(formats).count <= 1 else { return false }
        return format == .transportStream || DeclaredSamples.fit(initialization, media)
    }

    static func open(
        _ input: UnsafeMutablePointer<AVIOContext>?,
        _ format: SegmentFormat,
        isAAC: Bool = false
    ) -> UnsafeMutablePointer<AVFormatContext>? {
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        av_dict_set(&options, "format_whitelist", formats, 0)
        av_dict_set(&options, "protocol_whitelist", "", 0)
        av_dict_set(&options, "max_streams", "32", 0)
        av_dict_set(&options, "probesize", "500000", 0)
        av_dict_set(&options, "analyzeduration", "500000", 0)
        if format == .isoBaseMedia { av_dict_set(&options, "enable_drefs", "0", 0) }
        var context = avformat_alloc_context()
        context?.pointee.pb = input
        context?.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        context?.pointee.skip_estimate_duration_from_pts = 1
        // A failed call frees the context, but not the input.
        let code = avformat_open_input(
            &context,
            nil,
            isAAC ? av_find_input_format("aac") : format.libavFormat,
            &options
        )
        return code < 0 ? nil : context
    }
}

/// A segment as libavformat reads it.
struct SegmentLook: Hashable, Sendable {
    var content: SegmentContent
    /// The playing time that each packet of a track declares, in nanoseconds; no value where they differ.
    var durations: [PlaybackModel.Track: Int64]
    /// The format of the sound; nil without sound.
    var audioFormat: AudioFormat?
    /// The format of the pictures; nil without pictures, and unless the segment is inspected.
    var pictureFormat: PictureFormat?
}

/// The format of pictures that a manifest may declare.
struct PictureFormat: Hashable, Sendable {
    /// The frames of a second; nil where they vary or are unknown.
    var framesPerSecond: Double?
    /// The transfer characteristics (ISO/IEC 23091-2); 2 where the media does not say.
    var transfer: Int
}

/// The format of a segment by its first bytes, so that libavformat need not probe.
enum SegmentFormat: Hashable, Sendable {
    case transportStream, isoBaseMedia, other

    init(_ bytes: UnsafeRawBufferPointer) {
        let boxes: [StaticString] = ["ftyp", "styp", "moov", "moof", "sidx", "emsg", "prft", "free", "mdat"]
        if bytes.count > 188, bytes[0] == 0x47, bytes[188] == 0x47 {
            self = .transportStream
        } else if bytes.count >= 8, boxes.contains(where: { Self.matches($0, bytes) }) {
            self = .isoBaseMedia
        } else {
            self = .other
        }
    }

    private static func matches(_ type: StaticString, _ bytes: UnsafeRawBufferPointer) -> Bool {
        type.withUTF8Buffer { bytes[4..<8].elementsEqual($0) }
    }

    var libavFormat: UnsafePointer<AVInputFormat>? {
        switch self {
        case .transportStream: av_find_input_format("mpegts")
        case .isoBaseMedia: av_find_input_format("mov")
        case .other: nil
        }
    }
}
