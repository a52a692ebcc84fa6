internal import CFFmpeg
internal import CProbeShim
internal import Instrument

/// Reads the frames of an opened segment and sums their times.
struct SegmentReading: ~Copyable {
    /// The sums of a track so far.
    private struct Lane {
        var kind: PlaybackModel.Track
        var base: AVRational
        var start = Int64.max
        var end = Int64.min
        var points: [TrackContent.Point] = []
        var frameCount = 0
        var firstKeyframe: Int64?
        var startsWithKeyframe = false
        var largestGap: Int64 = 0
        var pictureSize: PictureSize?
        /// The decoding and presentation time of the last frame with a timestamp, the duration of a frame, and the
        /// number of later frames without a timestamp: in a packet of a transport stream, only the first frame has
        /// one.
        var last: (decoded: Int64, shown: Int64)?
        var frameDuration: Int64 = 0
        var untimed: Int64 = 0
    }

    /// The largest number of packets of a segment, so that the loop ends with any demuxer.
    private static let mostFrames = 1_000_000
    private static let longestFrame: Int64 = 10_000_000_000

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
        let duration = min(max(0, declared > 0 ? declared : Self.framesDuration(packet, stream)), Self.longestFrame)
        if duration > 0 { lane.frameDuration = duration }
        let stamps = (lane.base.nanoseconds(packet.pointee.dts), lane.base.nanoseconds(packet.pointee.pts))
        guard let decoded = stamps.0 ?? stamps.1, let shown = stamps.1 ?? stamps.0, decoded.magnitude < 1 << 60,
            shown.magnitude < 1 << 60
        else { return addUntimed(to: &lane) }
        note(packet, shown: shown, in: &lane, stream)
        if let last = lane.last {
            let step = decoded.saturatingSubtract(last.decoded)
            let perFrame = step / (lane.untimed + 1)
            if lane.frameDuration == 0 || lane.untimed > 0, 1..<Self.longestFrame ~= perFrame {
                lane.frameDuration = perFrame
            }
            let covered = lane.frameDuration.saturatingMultiply(lane.untimed + 1)
            lane.largestGap = max(lane.largestGap, step.saturatingSubtract(covered))
        }
        lane.last = (decoded, shown)
        lane.untimed = 0
        lane.frameCount += 1
        lane.start = min(lane.start, shown)
        extend(&lane, to: shown.saturatingAdd(lane.frameDuration))
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

    private func addUntimed(to lane: inout Lane) {
        guard let last = lane.last else { return }
        lane.untimed += 1
        lane.frameCount += 1
        extend(&lane, to: last.shown.saturatingAdd(lane.frameDuration.saturatingMultiply(lane.untimed + 1)))
    }

    private func extend(_ lane: inout Lane, to end: Int64) {
        guard end > lane.end else { return }
        lane.end = end
        if lane.points.last?.offset == used {
            lane.points[lane.points.count - 1].end = end
        } else {
            lane.points.append(TrackContent.Point(offset: used, end: end))
        }
    }

    private func note(
        _ packet: UnsafeMutablePointer<AVPacket>,
        shown: Int64,
        in lane: inout Lane,
        _ stream: UnsafeMutablePointer<AVStream>
    ) {
        guard packet.pointee.flags & AV_PKT_FLAG_KEY != 0 else { return }
        if lane.frameCount == 0 { lane.startsWithKeyframe = true }
        guard lane.firstKeyframe == nil else { return }
        lane.firstKeyframe = shown
        if lane.kind == .video, let parameters = stream.pointee.codecpar {
            lane.pictureSize = PictureSizer(parameters)?.size(of: packet)
        }
    }

    private func describe(_ lane: Lane, _ index: Int32) -> TrackContent? {
        guard lane.frameCount > 0, let context, let stream = context.pointee.streams[Int(index)],
            let parameters = stream.pointee.codecpar
        else { return nil }
        var content = TrackContent(
            start: lane.start,
            end: max(lane.end, lane.start),
            points: lane.points,
            frameCount: lane.frameCount,
            firstKeyframe: lane.firstKeyframe,
            startsWithKeyframe: lane.startsWithKeyframe,
            largestGap: lane.largestGap,
            codec: String(cString: avcodec_get_name(parameters.pointee.codec_id)),
            pictureSize: lane.pictureSize
        )
        if content.pictureSize == nil, parameters.pointee.width > 0, parameters.pointee.height > 0 {
            let size = PictureSize(width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
            content.pictureSize = size
        }
        let rate = stream.pointee.avg_frame_rate
        if lane.kind == .video, rate.num > 0, rate.den > 0 {
            content.framesPerSecond = Double(rate.num) / Double(rate.den)
        }
        content.language = Demuxer.text("language", in: stream.pointee.metadata)
        return content
    }
}
