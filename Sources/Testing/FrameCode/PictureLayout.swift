/// The place of a picture's pixels in memory: the luma plane of I420 and NV12, or pixels of RGB in any order.
package struct PictureLayout: Hashable, Sendable {
    /// In pixels.
    package var width: Int
    /// In pixels.
    package var height: Int
    /// The distance of two rows in bytes.
    package var stride: Int
    /// The bytes of a pixel.
    package var pixelLength: Int
    /// The bytes of a pixel whose mean is its brightness.
    package var channels: Range<Int>

    /// Creates a layout.
    package init(width: Int, height: Int, stride: Int, pixelLength: Int, channels: Range<Int>) {
        (self.width, self.height, self.stride) = (width, height, stride)
        (self.pixelLength, self.channels) = (pixelLength, channels)
    }

    /// Creates the layout of a luma plane: I420, NV12 or grey. Without a stride, rows follow one another.
    package static func luma(width: Int, height: Int, stride: Int? = nil) -> PictureLayout {
        PictureLayout(width: width, height: height, stride: stride ?? width, pixelLength: 1, channels: 0..<1)
    }

    /// Creates the layout of red, green and blue in any order, with or without a fourth byte behind them.
    package static func rgb(width: Int, height: Int, pixelLength: Int = 3, stride: Int? = nil) -> PictureLayout {
        PictureLayout(
            width: width,
            height: height,
            stride: stride ?? width.multipliedReportingOverflow(by: pixelLength).partialValue,
            pixelLength: pixelLength,
            channels: 0..<3
        )
    }

    /// The bytes up to the end of the last pixel; nil for a layout that is not possible.
    package var length: Int? {
        guard width > 0, height > 0, pixelLength > 0, !channels.isEmpty, channels.lowerBound >= 0,
            channels.upperBound <= pixelLength
        else { return nil }
        let (row, rowOverflows) = width.multipliedReportingOverflow(by: pixelLength)
        guard !rowOverflows, stride >= row else { return nil }
        let (rows, rowsOverflow) = stride.multipliedReportingOverflow(by: height - 1)
        let (length, overflow) = rows.addingReportingOverflow(row)
        return rowsOverflow || overflow ? nil : length
    }

    /// The mean brightness, 0 to 255, of the middle of a cell of ``FrameCode``. The bytes hold ``length``.
    func level(ofCell cell: Int, in bytes: UnsafeRawBufferPointer) -> Double {
        let (column, row) = (Double(cell % FrameCode.columns), Double(cell / FrameCode.columns))
        let cellWidth = Double(width) / Double(FrameCode.columns)
        let cellHeight = Double(height) * FrameCode.height / Double(FrameCode.rows)
        var sum = 0
        for down in Self.sampledPlaces {
            let y = min(height - 1, Int((row + down) * cellHeight))
            for right in Self.sampledPlaces {
                let x = min(width - 1, Int((column + right) * cellWidth))
                for channel in channels { sum += Int(bytes[y * stride + x * pixelLength + channel]) }
            }
        }
        return Double(sum) / Double(Self.sampledPlaces.count * Self.sampledPlaces.count * channels.count)
    }

    /// The middle half of a cell: its edges belong to the neighbours after scaling and encoding.
    private static let sampledPlaces = [0.3, 0.4, 0.5, 0.6, 0.7]
}
