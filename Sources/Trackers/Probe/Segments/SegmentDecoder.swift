internal import CFFmpeg
internal import CProbeShim
internal import Instrument
package import InstrumentPictureChecks

/// Decodes the pictures and the sound of a segment by libavcodec, as far as the checks of pictures and sound need them.
///
/// Blocks for milliseconds per keyframe and second of sound; safe from any thread. One thread, and nothing is kept from
/// one segment for the next.
package enum SegmentDecoder {
    /// The media to decode.
    package struct Options: Sendable {
        /// Whether pictures are decoded.
        package var pictures = true
        /// Whether every picture is decoded instead of the keyframes alone.
        package var allPictures = false
        /// Whether sound is decoded.
        package var sound = true
        /// The number of pictures of a segment that are decoded.
        package var maxPictures = 500
        /// Whether the latest picture that is black, or the same as ``reference`` or as the picture before it, is kept.
        package var keepsFaultyPicture = false
        /// The picture that a frozen one is compared with; nil for the pictures of the segment alone.
        package var reference: PictureSummary?

        /// Creates the defaults: keyframes and sound.
        package init() {}
    }

    /// The decoded media.
    package struct Output: Sendable {
        /// The pictures in the order of their times.
        package var pictures: [PictureSummary] = []
        /// The latest black or frozen picture; nil without one, and unless it was asked for.
        package var faulty: FaultyPicture?
        /// The sound, one buffer for each decoded frame.
        package var sound: [SoundBuffer] = []
        /// Codecs or formats that cannot be decoded, by name.
        package var undecoded: Set<String> = []
    }

    /// Decodes a segment; a damaged one gives what could be decoded.
    package static func decode(
        _ media: [UInt8],
        initialization: [UInt8] = [],
        options: Options = Options()
    ) -> Output {
        probe_initialize()
        return initialization.withUnsafeBufferPointer { first in
            media.withUnsafeBufferPointer { second in
                var input = probe_memory_open(first.baseAddress, first.count, second.baseAddress, second.count)
                guard input != nil else { return Output() }
                defer { probe_memory_close(&input) }
                let format = SegmentFormat(UnsafeRawBufferPointer(first.isEmpty ? second : first))
                guard SegmentDemuxer.fits(format, UnsafeRawBufferPointer(first), UnsafeRawBufferPointer(second)) else {
                    return Output()
                }
                var context = SegmentDemuxer.open(input, format)
                guard context != nil else { return Output() }
                defer { avformat_close_input(&context) }
                avformat_find_stream_info(context, nil)
                guard var decoding = SegmentDecoding(context, options) else { return Output() }
                decoding.run()
                return decoding.output
            }
        }
    }
}

/// One pass over the packets of a segment.
private struct SegmentDecoding: ~Copyable {
    /// A demuxer that never ends cannot hold the loop.
    private static let mostPackets = 1_000_000
    /// No picture of a stream is larger.
    private static let mostPixels: Int64 = 8_192 * 8_192

    private let context: UnsafeMutablePointer<AVFormatContext>?
    private let options: SegmentDecoder.Options
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    /// The latest black or frozen frame, by reference.
    private var faulty: UnsafeMutablePointer<AVFrame>?
    private var isBlack: Bool?
    private var video: (index: Int32, codec: UnsafeMutablePointer<AVCodecContext>)?
    private var audio: (index: Int32, codec: UnsafeMutablePointer<AVCodecContext>)?
    var output = SegmentDecoder.Output()

    init?(_ context: UnsafeMutablePointer<AVFormatContext>?, _ options: SegmentDecoder.Options) {
        self.context = context
        self.options = options
        packet = av_packet_alloc()
        frame = av_frame_alloc()
        faulty = av_frame_alloc()
        if packet == nil || frame == nil || faulty == nil { return nil }
        if options.pictures { video = openCodec(AVMEDIA_TYPE_VIDEO) }
        if options.sound { audio = openCodec(AVMEDIA_TYPE_AUDIO) }
    }

    deinit {
        var (packet, frame, faulty) = (packet, frame, faulty)
        av_packet_free(&packet)
        av_frame_free(&frame)
        av_frame_free(&faulty)
        for codec in [video?.codec, audio?.codec] {
            var codec = codec
            if codec != nil { avcodec_free_context(&codec) }
        }
    }

    private mutating func openCodec(
        _ type: AVMediaType
    ) -> (index: Int32, codec: UnsafeMutablePointer<AVCodecContext>)? {
        guard let context else { return nil }
        let index = av_find_best_stream(context, type, -1, -1, nil, 0)
        guard index >= 0, let stream = context.pointee.streams[Int(index)],
            let parameters = stream.pointee.codecpar
        else { return nil }
        let name = String(cString: avcodec_get_name(parameters.pointee.codec_id))
        guard let decoder = avcodec_find_decoder(parameters.pointee.codec_id) else {
            output.undecoded.insert(name)
            return nil
        }
        var codec = avcodec_alloc_context3(decoder)
        guard let opened = codec else { return nil }
        opened.pointee.thread_count = 1
        opened.pointee.max_pixels = Self.mostPixels
        opened.pointee.pkt_timebase = stream.pointee.time_base
        if type == AVMEDIA_TYPE_VIDEO, !options.allPictures { opened.pointee.skip_frame = AVDISCARD_NONKEY }
        guard avcodec_parameters_to_context(opened, parameters) >= 0, avcodec_open2(opened, decoder, nil) >= 0 else {
            avcodec_free_context(&codec)
            output.undecoded.insert(name)
            return nil
        }
        return (index, opened)
    }

    mutating func run() {
        var left = Self.mostPackets
        while left > 0 {
            left -= 1
            let code = av_read_frame(context, packet)
            if code == ffmpeg_error_again { continue }
            if code < 0 { break }
            defer { av_packet_unref(packet) }
            decodePacket()
        }
        if let video { drain(video.codec, isVideo: true, video.index) }
        if let audio { drain(audio.codec, isVideo: false, audio.index) }
        output.pictures.sort { $0.time < $1.time }
        if let faulty, let isBlack { output.faulty = FaultyPicture(faulty, isBlack: isBlack) }
    }

    /// Keeps the frame of a black or frozen picture.
    private mutating func keep(_ frame: UnsafeMutablePointer<AVFrame>, ifFaulty picture: PictureSummary) {
        guard options.keepsFaultyPicture, let faulty else { return }
        let others = [options.reference, output.pictures.last].compactMap(\.self)
        let isBlack = BlackDetector.isBlack(picture)
        guard isBlack || others.contains(where: { picture.largestDifference(from: $0) <= FreezeDetector.limit }) else {
            return
        }
        av_frame_unref(faulty)
        self.isBlack = av_frame_ref(faulty, frame) >= 0 ? isBlack : nil
    }

    private mutating func decodePacket() {
        guard let packet else { return }
        let index = packet.pointee.stream_index
        if let video, video.index == index {
            let isKey = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
            guard options.allPictures || isKey, output.pictures.count < options.maxPictures else { return }
            send(packet, to: video.codec, isVideo: true, index)
        } else if let audio, audio.index == index {
            send(packet, to: audio.codec, isVideo: false, index)
        }
    }

    private mutating func send(
        _ packet: UnsafeMutablePointer<AVPacket>,
        to codec: UnsafeMutablePointer<AVCodecContext>,
        isVideo: Bool,
        _ index: Int32
    ) {
        guard avcodec_send_packet(codec, packet) >= 0 else { return }
        receive(codec, isVideo: isVideo, index)
    }

    private mutating func drain(_ codec: UnsafeMutablePointer<AVCodecContext>, isVideo: Bool, _ index: Int32) {
        _ = avcodec_send_packet(codec, nil)
        receive(codec, isVideo: isVideo, index)
    }

    private mutating func receive(_ codec: UnsafeMutablePointer<AVCodecContext>, isVideo: Bool, _ index: Int32) {
        guard let frame, let context, let stream = context.pointee.streams[Int(index)] else { return }
        let base = stream.pointee.time_base
        while avcodec_receive_frame(codec, frame) >= 0 {
            defer { av_frame_unref(frame) }
            guard let time = base.nanoseconds(frame.pointee.best_effort_timestamp) else { continue }
            if isVideo {
                guard output.pictures.count < options.maxPictures else { continue }
                if let picture = DecodedPicture.summary(of: frame, time: time) {
                    keep(frame, ifFaulty: picture)
                    output.pictures.append(picture)
                } else {
                    output.undecoded.insert("pixel format \(frame.pointee.format)")
                }
            } else if let buffer = DecodedSound.buffer(of: frame, time: time) {
                output.sound.append(buffer)
            } else {
                output.undecoded.insert("sample format \(frame.pointee.format)")
            }
        }
    }
}
