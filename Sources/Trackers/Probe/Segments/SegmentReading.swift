internal import CFFmpeg
internal import CProbeShim
internal import Instrument

/// Reads the frames of an opened segment and sums their times.
struct SegmentReading: ~Copyable {
    /// A track so far.
    private struct Lane {
        var kind: PlaybackModel.Track
        var base: AVRational
        var summary = TrackSummary()
        var pictureSize: PictureSize?
        /// The duration of every packet, in nanoseconds; nil once two of them differ.
        var duration: Int64?
        var hasPackets = false
        /// The format of sound by the header of its first frame, where packets have one.
        var format: AudioFormat?
    }

    /// The largest number of packets of a segment, so that the loop ends with any demuxer.
    private static let mostFrames = 1_000_000

    private let context: UnsafeMutablePointer<AVFormatContext>?
    private let input: UnsafeMutablePointer<AVIOContext>?
    private let mediaOffset: Int
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var lanes: [Int32: Lane] = [:]
    private var order: [Int32] = []
    /// The offset up to which the bytes are consumed.
    private var used = 0

    init?(
        _ context: UnsafeMutablePointer<AVFormatContext>?,
        _ input: UnsafeMutablePointer<AVIOContext>?,
        mediaOffset: Int
    ) {
        guard let packet = av_packet_alloc() else { return nil }
        self.packet = packet
        self.context = context
        self.input = input
        self.mediaOffset = mediaOffset
    }

    deinit {
        var packet = packet
        av_packet_free(&packet)
    }

    mutating func readAll() {
        var left = Self.mostFrames
        while left > 0 {
            left -= 1
            let code = av_read_frame(context, packet)
            if code == ffmpeg_error_again { continue }
            if code < 0 { return }
            defer { av_packet_unref(packet) }
            take()
        }
    }

    /// The first track of each kind that has frames.
    var content: SegmentContent {
        var content = SegmentContent()
        content.streams = streams
        for index in order {
            guard let lane = lanes[index], content[lane.kind] == nil else { continue }
            content[lane.kind] = describe(lane, index)
        }
        return content
    }

    /// The duration of every packet of the tracks in `content`, in nanoseconds; no value for a track whose packets
    /// differ.
    var durations: [PlaybackModel.Track: Int64] {
        var durations: [PlaybackModel.Track: Int64] = [:]
        var known: Set<PlaybackModel.Track> = []
        for index in order {
            guard let lane = lanes[index], lane.summary.frameCount > 0, known.insert(lane.kind).inserted else {
                continue
            }
            durations[lane.kind] = lane.duration
        }
        return durations
    }

    /// The format of the first track of sound that has frames; nil without one.
    var audioFormat: AudioFormat? {
        let first = order.first { lanes[$0]?.kind == .audio && (lanes[$0]?.summary.frameCount ?? 0) > 0 }
        guard let first, let lane = lanes[first], let stream = context?.pointee.streams[Int(first)],
            let parameters = stream.pointee.codecpar
        else { return nil }
        let declared = AudioFormat(
            channelCount: Int(parameters.pointee.ch_layout.nb_channels),
            sampleRate: Int(parameters.pointee.sample_rate)
        )
        return declared.channelCount == nil ? lane.format ?? declared : declared
    }

    /// The format of the first track of pictures that has frames; nil without one. Interlaced pictures have no rate:
    /// one packet may have a frame or a field.
    var pictureFormat: PictureFormat? {
        let first = order.first { lanes[$0]?.kind == .video && (lanes[$0]?.summary.frameCount ?? 0) > 0 }
        guard let first, let lane = lanes[first], let stream = context?.pointee.streams[Int(first)],
            let parameters = stream.pointee.codecpar
        else { return nil }
        let isProgressive = [AV_FIELD_UNKNOWN, AV_FIELD_PROGRESSIVE].contains(parameters.pointee.field_order)
        return PictureFormat(
            framesPerSecond: isProgressive ? lane.summary.steadyRate : nil,
            transfer: Int(parameters.pointee.color_trc.rawValue)
        )
    }

    private mutating func take() {
        guard let packet, let context, let input else { return }
        let index = packet.pointee.stream_index
        guard index >= 0, index < context.pointee.nb_streams, let stream = context.pointee.streams[Int(index)] else {
            return
        }
        guard var lane = lanes[index] ?? newLane(stream) else { return }
        used = max(used, Int(clamping: avio_tell(input)) - mediaOffset)
        add(packet, to: &lane, stream)
        lanes[index] = lane
    }

    private var streams: Set<PlaybackModel.Track> {
        guard let context else { return [] }
        let streams = (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
        return Set(streams.compactMap(Self.kind))
    }

    private static func kind(of stream: UnsafeMutablePointer<AVStream>) -> PlaybackModel.Track? {
        switch stream.pointee.codecpar.pointee.codec_type {
        case AVMEDIA_TYPE_VIDEO where stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0: .video
        case AVMEDIA_TYPE_AUDIO: .audio
        default: nil
        }
    }

    private mutating func newLane(_ stream: UnsafeMutablePointer<AVStream>) -> Lane? {
        guard let kind = Self.kind(of: stream) else { return nil }
        order.append(stream.pointee.index)
        return Lane(kind: kind, base: stream.pointee.time_base)
    }

    private func add(
        _ packet: UnsafeMutablePointer<AVPacket>,
        to lane: inout Lane,
        _ stream: UnsafeMutablePointer<AVStream>
    ) {
        let declared = lane.base.nanoseconds(packet.pointee.duration) ?? 0
        let duration = declared > 0 ? declared : Self.framesDuration(packet, stream)
        if !lane.hasPackets { lane.duration = duration } else if lane.duration != duration { lane.duration = nil }
        if !lane.hasPackets, lane.kind == .audio { lane.format = Self.format(packet, stream) }
        lane.hasPackets = true
        let stamps = (lane.base.nanoseconds(packet.pointee.dts), lane.base.nanoseconds(packet.pointee.pts))
        var frame = SegmentFrame(isKeyframe: packet.pointee.flags & AV_PKT_FLAG_KEY != 0, offset: used)
        if let decoded = stamps.0 ?? stamps.1, let shown = stamps.1 ?? stamps.0 {
            frame.times = SegmentFrame.Times(decoded: decoded, shown: shown)
        } else if lane.summary.frameCount == 0, isPackedAAC {
            // Libavformat gives a frame that is alone no time.
            frame.times = SegmentFrame.Times(decoded: 0, shown: 0)
        }
        let hadKeyframe = lane.summary.firstKeyframe != nil
        lane.summary.add(frame, lasting: duration)
        if !hadKeyframe, lane.summary.firstKeyframe != nil, lane.kind == .video,
            let parameters = stream.pointee.codecpar
        {
            lane.pictureSize = PictureSizer(parameters)?.size(of: packet)
        }
    }

    private var isPackedAAC: Bool {
        context?.pointee.iformat.map { String(cString: $0.pointee.name) == "aac" } ?? false
    }

    /// The playing time of a packet of several frames that no duration is declared for; 0 if unknown.
    ///
    /// Otherwise the first packet would count as no time at all until the second one shows the distance.
    private static func framesDuration(
        _ packet: UnsafeMutablePointer<AVPacket>,
        _ stream: UnsafeMutablePointer<AVStream>
    ) -> Int64 {
        guard stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_AAC, let data = packet.pointee.data else {
            return 0
        }
        let bytes = UnsafeBufferPointer(start: UnsafePointer(data), count: Int(max(0, packet.pointee.size)))
        return ADTSFrames.duration(of: bytes) ?? 0
    }

    /// The format that the header of the first frame of a packet has; nil without such a header.
    private static func format(
        _ packet: UnsafeMutablePointer<AVPacket>,
        _ stream: UnsafeMutablePointer<AVStream>
    ) -> AudioFormat? {
        guard let data = packet.pointee.data else { return nil }
        let bytes = UnsafeBufferPointer(start: UnsafePointer(data), count: Int(max(0, packet.pointee.size)))
        return switch stream.pointee.codecpar.pointee.codec_id {
        case AV_CODEC_ID_AAC: AudioFormat(adts: bytes)
        case AV_CODEC_ID_AC3: AudioFormat(ac3: bytes)
        default: nil
        }
    }

    private func describe(_ lane: Lane, _ index: Int32) -> TrackContent? {
        guard let context, let stream = context.pointee.streams[Int(index)], let parameters = stream.pointee.codecpar,
            var content = lane.summary.content(codec: String(cString: avcodec_get_name(parameters.pointee.codec_id)))
        else { return nil }
        content.pictureSize = lane.pictureSize
        if content.pictureSize == nil, parameters.pointee.width > 0, parameters.pointee.height > 0 {
            let size = PictureSize(width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
            content.pictureSize = size
        }
        let aspect = av_guess_sample_aspect_ratio(context, stream, nil)
        if lane.kind == .video, aspect.num > 0, aspect.den > 0 {
            content.sampleAspect = Double(aspect.num) / Double(aspect.den)
        }
        let rate = stream.pointee.avg_frame_rate
        if lane.kind == .video, rate.num > 0, rate.den > 0 {
            content.framesPerSecond = Double(rate.num) / Double(rate.den)
        }
        content.language = Demuxer.text("language", in: stream.pointee.metadata)
        return content
    }
}
