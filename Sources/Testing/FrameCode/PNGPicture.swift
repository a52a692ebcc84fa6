internal import InstrumentCompression

/// A screenshot: a PNG picture (ISO/IEC 15948) of grey or colour, 8 bits a channel and not interlaced, as browsers and
/// players write them.
package struct PNGPicture: Sendable {
    /// The reason why a file is not a readable picture.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file does not begin as PNG does.
        case notPNG
        /// A chunk is missing, torn or has impossible values.
        case damaged(String)
        /// The picture has a form that this reader does not know.
        case unsupported(String)

        package var description: String {
            switch self {
            case .notPNG: "The file does not begin with the signature of PNG. Take a screenshot in PNG."
            case .damaged(let part): "The PNG file is damaged (\(part)). Take the screenshot again."
            case .unsupported(let form):
                "The PNG file has \(form). Take a screenshot in 8-bit grey or colour that is not interlaced."
            }
        }
    }

    /// The place of the pixels in ``bytes``.
    package let layout: PictureLayout
    /// The pixels, row after row.
    package let bytes: [UInt8]

    /// The number of the frame that the picture shows; nil without a legible ``FrameCode``.
    package var frameNumber: Int? {
        bytes.withUnsafeBytes { FrameCode.number(in: $0, layout: layout) }
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// A picture of 8,192 × 8,192 pixels is the largest that is read.
    private static let maxPixelCount = 1 << 26

    /// Reads a PNG file.
    package init(_ file: [UInt8]) throws(Failure) {
        guard file.starts(with: Self.signature) else { throw .notPNG }
        var (place, header, packed) = (Self.signature.count, [UInt8](), [UInt8]())
        while let chunk = Self.chunk(at: place, in: file), chunk.type != Array("IEND".utf8) {
            if chunk.type == Array("IHDR".utf8), header.isEmpty { header = Array(file[chunk.content]) }
            if chunk.type == Array("IDAT".utf8) { packed += file[chunk.content] }
            place = chunk.content.upperBound + 4
        }
        guard header.count == 13 else { throw .damaged("no header") }
        guard let width = Self.number(header[0..<4]), let height = Self.number(header[4..<8]), width > 0, height > 0,
            width.multipliedReportingOverflow(by: height).partialValue <= Self.maxPixelCount
        else { throw .damaged("impossible size") }
        guard header[8] == 8, header[12] == 0 else {
            throw .unsupported(header[12] == 0 ? "\(header[8]) bits a channel" : "interlaced rows")
        }
        let pixelLength: Int
        switch header[9] {
        case 0: (pixelLength, layout) = (1, .luma(width: width, height: height))
        case 2: (pixelLength, layout) = (3, .rgb(width: width, height: height))
        case 4:
            pixelLength = 2
            layout = PictureLayout(width: width, height: height, stride: width * 2, pixelLength: 2, channels: 0..<1)
        case 6: (pixelLength, layout) = (4, .rgb(width: width, height: height, pixelLength: 4))
        default: throw .unsupported("colour type \(header[9])")
        }
        let rowLength = width * pixelLength
        guard let filtered = Zlib.unpack(packed, count: (rowLength + 1) * height) else { throw .damaged("its pixels") }
        bytes = try Self.withoutFilters(filtered, rowLength: rowLength, pixelLength: pixelLength)
    }

    private static func chunk(at place: Int, in file: [UInt8]) -> (type: [UInt8], content: Range<Int>)? {
        let rest = file.count - place - 12
        guard rest >= 0, let length = number(file[place..<(place + 4)]), length <= rest
        else { return nil }
        return (Array(file[(place + 4)..<(place + 8)]), (place + 8)..<(place + 8 + length))
    }

    /// A number of four bytes, most significant first; nil above 2³¹ - 1, as PNG forbids it.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        let value = bytes.reduce(0) { $0 << 8 | Int($1) }
        return value <= Int(Int32.max) ? value : nil
    }

    /// Undoes the filter of each row (ISO/IEC 15948, 9).
    private static func withoutFilters(
        _ filtered: [UInt8],
        rowLength: Int,
        pixelLength: Int
    ) throws(Failure) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(filtered.count)
        for begin in stride(from: 0, to: filtered.count, by: rowLength + 1) {
            let filter = filtered[begin]
            guard filter <= 4 else { throw .damaged("filter \(filter)") }
            let (above, row) = (output.count - rowLength, output.count)
            for column in 0..<rowLength {
                let left = column >= pixelLength ? output[row + column - pixelLength] : 0
                let up = above >= 0 ? output[above + column] : 0
                let upLeft = above >= 0 && column >= pixelLength ? output[above + column - pixelLength] : 0
                let predicted: UInt8 =
                    switch filter {
                    case 0: 0
                    case 1: left
                    case 2: up
                    case 3: UInt8((Int(left) + Int(up)) / 2)
                    default: paeth(left, up, upLeft)
                    }
                output.append(filtered[begin + 1 + column] &+ predicted)
            }
        }
        return output
    }

    private static func paeth(_ left: UInt8, _ up: UInt8, _ upLeft: UInt8) -> UInt8 {
        let estimate = Int(left) + Int(up) - Int(upLeft)
        let distances = [left, up, upLeft].map { abs(estimate - Int($0)) }
        if distances[0] <= distances[1], distances[0] <= distances[2] { return left }
        return distances[1] <= distances[2] ? up : upLeft
    }
}
