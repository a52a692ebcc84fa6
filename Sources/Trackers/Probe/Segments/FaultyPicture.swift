internal import CFFmpeg

/// A small JPEG of a black or frozen picture, for people.
package struct FaultyPicture: Hashable, Sendable {
    /// The largest width and height, in pixels.
    package static let largest = (width: 320, height: 640)

    /// The file.
    package let jpeg: [UInt8]
    /// Pixels of a row.
    package let width: Int
    /// Rows.
    package let height: Int
    /// Whether the picture is black.
    package let isBlack: Bool

    /// Encodes a decoded frame; nil for a pixel format that the checks do not read, and where libavcodec was built
    /// without its encoder of JPEG.
    init?(_ frame: UnsafeMutablePointer<AVFrame>, isBlack: Bool) {
        guard let small = SmallPicture(frame), let jpeg = small.jpeg else { return nil }
        (self.jpeg, width, height, self.isBlack) = (jpeg, small.width, small.height, isBlack)
    }
}

/// A picture of the full range with chroma of half the width and height, as JPEG has it.
///
/// The matrix of the colours stays that of the stream: the eye sees no difference in a thumbnail.
private struct SmallPicture {
    let width: Int
    let height: Int
    private var planes: [[UInt8]] = []

    init?(_ frame: UnsafeMutablePointer<AVFrame>) {
        let source = FrameSource(frame)
        guard let source else { return nil }
        let aspect = frame.pointee.sample_aspect_ratio
        let stretch = aspect.num > 0 && aspect.den > 0 ? Double(aspect.num) / Double(aspect.den) : 1
        let (shown, rows) = (Double(source.width) * min(max(stretch, 0.1), 10), Double(source.height))
        let (widest, highest) = FaultyPicture.largest
        let scale = min(1, Double(widest) / shown, Double(highest) / rows)
        (width, height) = (Self.even(shown * scale, widest), Self.even(rows * scale, highest))
        planes.append(source.luma.scaled(width, height, source.lumaRange))
        for chroma in [source.blue, source.red] {
            let (columns, lines) = (width / 2, height / 2)
            planes.append(
                chroma?.scaled(columns, lines, source.chromaRange) ?? [UInt8](repeating: 128, count: columns * lines)
            )
        }
    }

    private static func even(_ value: Double, _ most: Int) -> Int { min(most, max(2, Int(value.rounded()) & ~1)) }

    /// The file; nil without an encoder.
    var jpeg: [UInt8]? {
        var context = avcodec_find_encoder(AV_CODEC_ID_MJPEG).flatMap { avcodec_alloc_context3($0) }
        var frame = av_frame_alloc()
        var packet = av_packet_alloc()
        defer {
            if context != nil { avcodec_free_context(&context) }
            av_frame_free(&frame)
            av_packet_free(&packet)
        }
        guard let context, let frame, let packet else { return nil }
        (context.pointee.width, context.pointee.height) = (Int32(width), Int32(height))
        context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        context.pointee.color_range = AVCOL_RANGE_JPEG
        context.pointee.time_base = AVRational(num: 1, den: 1)
        context.pointee.thread_count = 1
        context.pointee.flags |= AV_CODEC_FLAG_QSCALE
        context.pointee.global_quality = Self.quality
        guard avcodec_open2(context, nil, nil) >= 0, fill(frame) else { return nil }
        guard avcodec_send_frame(context, frame) >= 0, avcodec_receive_packet(context, packet) >= 0,
            let data = packet.pointee.data, packet.pointee.size > 0
        else { return nil }
        return Array(UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
    }

    /// Between 1, the best, and 31 in units of libavcodec.
    private static let quality = 4 * FF_QP2LAMBDA

    private func fill(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        (frame.pointee.width, frame.pointee.height) = (Int32(width), Int32(height))
        frame.pointee.format = AV_PIX_FMT_YUVJ420P.rawValue
        (frame.pointee.color_range, frame.pointee.quality) = (AVCOL_RANGE_JPEG, Self.quality)
        guard av_frame_get_buffer(frame, 0) >= 0 else { return false }
        let targets = [frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2]
        let strides = [frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2].map { Int($0) }
        for (index, plane) in planes.enumerated() {
            guard let target = targets[index] else { return false }
            let columns = index == 0 ? width : width / 2
            plane.withUnsafeBufferPointer { pixels in
                for row in 0..<plane.count / columns {
                    guard let start = pixels.baseAddress else { return }
                    (target + row * strides[index]).update(from: start + row * columns, count: columns)
                }
            }
        }
        return true
    }
}

/// The components of a decoded frame.
private struct FrameSource {
    let width: Int
    let height: Int
    let luma: FrameComponent
    let blue: FrameComponent?
    let red: FrameComponent?
    private let isFullRange: Bool

    init?(_ frame: UnsafeMutablePointer<AVFrame>) {
        guard let layout = DecodedPicture.layout(frame.pointee.format),
            let descriptor = av_pix_fmt_desc_get(AVPixelFormat(frame.pointee.format))
        else { return nil }
        (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        isFullRange = layout.isFullRange || frame.pointee.color_range == AVCOL_RANGE_JPEG
        let data = [frame.pointee.data.0, frame.pointee.data.1, frame.pointee.data.2, frame.pointee.data.3]
        let sizes = [
            frame.pointee.linesize.0, frame.pointee.linesize.1, frame.pointee.linesize.2, frame.pointee.linesize.3,
        ]
        let (wide, high) = (Int(descriptor.pointee.log2_chroma_w), Int(descriptor.pointee.log2_chroma_h))
        let half = (width: -(-width >> wide), height: -(-height >> high))
        let component = { (part: AVComponentDescriptor, size: (width: Int, height: Int)) -> FrameComponent? in
            let plane = Int(part.plane)
            guard data.indices.contains(plane), let base = data[plane], size.width > 0, size.height > 0 else {
                return nil
            }
            return FrameComponent(
                base: UnsafePointer(base + Int(part.offset)),
                stride: Int(sizes[plane]),
                step: Int(part.step),
                shift: Int(part.shift),
                depth: Int(part.depth),
                width: size.width,
                height: size.height
            )
        }
        let parts = descriptor.pointee.comp
        guard let luma = component(parts.0, (width, height)) else { return nil }
        self.luma = luma
        let hasColour = descriptor.pointee.nb_components >= 3
        blue = hasColour ? component(parts.1, half) : nil
        red = hasColour ? component(parts.2, half) : nil
    }

    /// What black and white are, in eight bits.
    var lumaRange: (zero: Int, span: Int) { isFullRange ? (0, 255) : (16, 219) }
    /// The middle and the span of chroma, in eight bits.
    var chromaRange: (zero: Int, span: Int) { isFullRange ? (0, 255) : (16, 224) }
}

/// One component of a frame. Its pointer is valid while the frame is.
private struct FrameComponent {
    /// A pixel of the small picture is the mean of at most this many values a row and a column.
    private static let mostValues = 4

    let base: UnsafePointer<UInt8>
    let stride: Int
    let step: Int
    let shift: Int
    let depth: Int
    let width: Int
    let height: Int

    private func value(_ column: Int, _ row: Int) -> Int {
        let place = base + row * stride + column * step
        guard depth > 8 else { return Int(place[0]) }
        return (Int(place[0]) | Int(place[1]) << 8) >> (shift + depth - 8) & 0xFF
    }

    /// The values of a smaller picture, spread over 0 to 255.
    func scaled(_ columns: Int, _ rows: Int, _ range: (zero: Int, span: Int)) -> [UInt8] {
        var values: [UInt8] = []
        values.reserveCapacity(columns * rows)
        for row in 0..<rows {
            let lines = Self.places(row, rows, height)
            for column in 0..<columns {
                let places = Self.places(column, columns, width)
                var (sum, count) = (0, 0)
                for line in lines {
                    for place in places {
                        sum += value(place, line)
                        count += 1
                    }
                }
                let mean = sum / max(1, count)
                values.append(UInt8(min(255, max(0, (mean - range.zero) * 255 / range.span))))
            }
        }
        return values
    }

    /// The places of the large picture that are one of the small.
    private static func places(_ index: Int, _ count: Int, _ size: Int) -> StrideTo<Int> {
        let first = min(size - 1, index * size / count)
        let end = min(size, max(first + 1, (index + 1) * size / count))
        return Swift.stride(from: first, to: end, by: max(1, (end - first + mostValues - 1) / mostValues))
    }
}
