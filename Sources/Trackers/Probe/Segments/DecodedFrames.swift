internal import CFFmpeg
internal import InstrumentPictureChecks

/// Reads the luma of decoded pictures.
enum DecodedPicture {
    /// Pixel formats whose first plane is luma: bits of a sample, and whether black is 0.
    static func layout(_ format: Int32) -> (bits: Int, isFullRange: Bool)? {
        switch AVPixelFormat(format) {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_NV12, AV_PIX_FMT_NV21: (8, false)
        case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_GRAY8: (8, true)
        case AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_YUV444P10LE: (10, false)
        case AV_PIX_FMT_YUV420P12LE, AV_PIX_FMT_YUV422P12LE, AV_PIX_FMT_YUV444P12LE: (12, false)
        default: nil
        }
    }

    static func summary(of frame: UnsafeMutablePointer<AVFrame>, time: Int64) -> PictureSummary? {
        let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        guard let (bits, isFull) = layout(frame.pointee.format), let plane = frame.pointee.data.0, width > 0, height > 0
        else { return nil }
        let stride = Int(frame.pointee.linesize.0)
        let isFullRange = isFull || frame.pointee.color_range == AVCOL_RANGE_JPEG
        if bits == 8 {
            return PictureSummary(time: time, width: width, height: height, isFullRange: isFullRange) { row in
                UnsafeBufferPointer(start: plane + row * stride, count: width)
            }
        }
        // Deeper samples are cut to eight bits.
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width) { line in
            PictureSummary(time: time, width: width, height: height, isFullRange: isFullRange) { row in
                let start = plane + row * stride
                for column in 0..<width {
                    let sample = UInt16(start[2 * column]) | UInt16(start[2 * column + 1]) << 8
                    line[column] = UInt8(truncatingIfNeeded: min(255, sample >> UInt16(bits - 8)))
                }
                return UnsafeBufferPointer(line)
            }
        }
    }
}

/// Reads the samples of decoded sound.
enum DecodedSound {
    private static let mostChannels = 64

    static func buffer(of frame: UnsafeMutablePointer<AVFrame>, time: Int64) -> SoundBuffer? {
        let count = Int(frame.pointee.nb_samples)
        let channelCount = Int(frame.pointee.ch_layout.nb_channels)
        guard count > 0, (1...mostChannels).contains(channelCount), let planes = frame.pointee.extended_data else {
            return nil
        }
        let format = AVSampleFormat(frame.pointee.format)
        let isPlanar = av_sample_fmt_is_planar(format) == 1
        var channels: [[Float]] = []
        for channel in 0..<channelCount {
            guard let plane = planes[isPlanar ? channel : 0] else { return nil }
            let (first, step) = isPlanar ? (0, 1) : (channel, channelCount)
            guard let samples = samples(plane, format, count, first, step) else { return nil }
            channels.append(samples)
        }
        return SoundBuffer(time: time, sampleRate: Int(frame.pointee.sample_rate), channels: channels)
    }

    private static func samples(
        _ plane: UnsafeMutablePointer<UInt8>,
        _ format: AVSampleFormat,
        _ count: Int,
        _ first: Int,
        _ step: Int
    ) -> [Float]? {
        let raw = UnsafeRawPointer(plane)
        func read<Sample: BitwiseCopyable>(_ type: Sample.Type, _ convert: (Sample) -> Float) -> [Float] {
            (0..<count).map { position in
                let offset = (first + position * step) * MemoryLayout<Sample>.size
                return convert(raw.loadUnaligned(fromByteOffset: offset, as: type))
            }
        }
        return switch format {
        case AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP: read(Float.self) { $0 }
        case AV_SAMPLE_FMT_DBL, AV_SAMPLE_FMT_DBLP: read(Double.self) { Float($0) }
        case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P: read(Int16.self) { Float($0) / 32_768 }
        case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P: read(Int32.self) { Float($0) / 2_147_483_648 }
        case AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_U8P: read(UInt8.self) { (Float($0) - 128) / 128 }
        default: nil
        }
    }
}
