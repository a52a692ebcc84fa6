internal import Instrument

/// The properties of a decoded picture for the detectors: the mean of its luma, and a coarse grid of luma.
///
/// A grid instead of the picture bounds memory, and averages out the noise of encoders.
package struct PictureSummary: Hashable, Sendable {
    /// Columns of the grid.
    package static let columns = 32
    /// Rows of the grid.
    package static let rows = 18

    /// The instant at which the picture is shown, in nanoseconds of the media.
    package var time: Int64
    /// The luma of each cell from 0 (black) to 1 (white), row by row.
    package var cells: [Float]
    /// The mean luma from 0 (black) to 1 (white).
    package var meanLuma: Float

    /// Creates a summary of a grid.
    package init(time: Int64, cells: [Float]) {
        self.time = time
        self.cells = cells
        meanLuma = cells.isEmpty ? 0 : cells.reduce(0, +) / Float(cells.count)
    }

    /// Summarises a plane of luma.
    /// - Parameters:
    ///   - time: when the picture is shown, in nanoseconds.
    ///   - width: pixels of a row.
    ///   - height: rows.
    ///   - isFullRange: whether black is 0 and white 255 (`true`), or 16 and 235 (`false`, ITU-R BT.601 and BT.709).
    ///   - row: returns the luma of a row from 0 to 255, `width` values; called with each row at most once, in order.
    package init(
        time: Int64,
        width: Int,
        height: Int,
        isFullRange: Bool = false,
        row: (Int) -> UnsafeBufferPointer<UInt8>
    ) {
        guard width > 0, height > 0 else {
            self.init(time: time, cells: [])
            return
        }
        let (columns, rows) = (min(Self.columns, width), min(Self.rows, height))
        var sums = [Int](repeating: 0, count: columns * rows)
        var counts = sums
        // Every fourth pixel of every second row is enough for means, and costs an eighth.
        let (columnStep, rowStep) = (width >= 4 * columns ? 4 : 1, height >= 2 * rows ? 2 : 1)
        for line in stride(from: 0, to: height, by: rowStep) {
            let pixels = row(line)
            let base = line * rows / height * columns
            for column in stride(from: 0, to: min(width, pixels.count), by: columnStep) {
                let cell = base + column * columns / width
                sums[cell] += Int(pixels[column])
                counts[cell] += 1
            }
        }
        let (black, range): (Float, Float) = isFullRange ? (0, 255) : (16, 219)
        self.init(
            time: time,
            cells: zip(sums, counts).map { sum, count in
                count == 0 ? 0 : min(1, max(0, (Float(sum) / Float(count) - black) / range))
            }
        )
    }

    /// The largest difference of a cell to the same cell of another picture; 1 if the grids have different sizes.
    package func largestDifference(from other: PictureSummary) -> Float {
        guard cells.count == other.cells.count else { return 1 }
        return zip(cells, other.cells).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }
}

/// An interval of the media, in nanoseconds.
package struct MediaInterval: Hashable, Sendable {
    /// The start.
    package var start: Int64
    /// The end.
    package var end: Int64

    /// Creates an interval.
    package init(start: Int64, end: Int64) {
        self.start = start
        self.end = end
    }

    /// The length.
    package var length: Int64 { end.saturatingSubtract(start) }
}
