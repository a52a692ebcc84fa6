internal import CFFmpeg

/// Reads the picture's size from compressed keyframes, so that a change within the stream is detected without decoding.
///
/// libavformat reports the size once, after it has inspected the start; libavcodec's parsers read it from every later
/// sequence header.
struct PictureSizer: ~Copyable {
    private var parser: UnsafeMutablePointer<AVCodecParserContext>?
    private var context: UnsafeMutablePointer<AVCodecContext>?

    /// Nil if libavcodec has no parser for the codec.
    init?(_ parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard let parser = av_parser_init(Int32(bitPattern: parameters.pointee.codec_id.rawValue)) else { return nil }
        guard let context = avcodec_alloc_context3(nil), avcodec_parameters_to_context(context, parameters) >= 0 else {
            av_parser_close(parser)
            return nil
        }
        parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        self.parser = parser
        self.context = context
    }

    deinit {
        var context = context
        avcodec_free_context(&context)
        av_parser_close(parser)
    }

    /// Returns the size in a keyframe's headers; nil without a size.
    func size(of packet: UnsafeMutablePointer<AVPacket>) -> PictureSize? {
        guard let parser, let context, packet.pointee.size > 0, let data = packet.pointee.data else { return nil }
        takeExtradata(of: packet, into: context)
        var output: UnsafeMutablePointer<UInt8>?
        var outputSize: Int32 = 0
        _ = av_parser_parse2(
            parser,
            context,
            &output,
            &outputSize,
            data,
            packet.pointee.size,
            packet.pointee.pts,
            packet.pointee.dts,
            packet.pointee.pos
        )
        let (width, height) = (Int(parser.pointee.width), Int(parser.pointee.height))
        return width > 0 && height > 0 ? PictureSize(width: width, height: height) : nil
    }

    /// Containers with out-of-band headers send new headers as side data of a packet.
    private func takeExtradata(
        of packet: UnsafeMutablePointer<AVPacket>,
        into context: UnsafeMutablePointer<AVCodecContext>
    ) {
        var size = 0
        guard let data = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0,
            let copy = av_mallocz(size + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { return }
        copy.copyMemory(from: data, byteCount: size)
        av_free(context.pointee.extradata)
        context.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = Int32(clamping: size)
    }
}
