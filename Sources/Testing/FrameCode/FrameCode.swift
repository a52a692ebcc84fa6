/// The number of a frame, drawn into the frame as black and white cells.
///
/// The cells are two rows of 20 that cover the top eight forty-fifths of the picture (32 of 180 lines): at 320 × 180 a
/// cell is one macroblock. The first and the last two cells are white and black, so that a reader knows the levels of
/// both colours; between them are 24 bits of the number and 12 check bits. The code survives scaling, low bit rates and
/// screenshots, because a cell is read by its middle.
package enum FrameCode {
    /// The number of cells in a row.
    package static let columns = 20
    /// The number of rows.
    package static let rows = 2
    /// Numbers repeat after this many frames: seven days at 25 frames per second.
    package static let count = 1 << numberBits

    /// The height of the code as a part of the picture's height.
    package static let height = 8.0 / 45.0

    private static let numberBits = 24
    private static let checkBits = 12
    /// The cells that every frame has: white, black at the begin, black, white at the end.
    private static let fixed = [0: true, 1: false, 38: false, 39: true]

    /// Returns the cells of a frame's number, row by row; true is white.
    package static func cells(of number: Int) -> [Bool] {
        let number = number & (count - 1)
        let word = number << checkBits | checkDigits(of: number)
        let bits = (0..<(numberBits + checkBits)).reversed().map { word >> $0 & 1 == 1 }
        return [true, false] + bits + [false, true]
    }

    /// Returns the number that cells show; nil if their check digits or their fixed cells say that they are no code.
    package static func number(of cells: [Bool]) -> Int? {
        guard cells.count == columns * rows, fixed.allSatisfy({ cells[$0.key] == $0.value }) else { return nil }
        let word = cells[2..<(2 + numberBits + checkBits)].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
        let number = word >> checkBits
        return checkDigits(of: number) == word & (1 << checkBits - 1) ? number : nil
    }

    /// Returns the number that a picture shows; nil if the picture has no legible code, or if its layout does not fit.
    ///
    /// - Parameters:
    ///   - bytes: the picture from its first pixel.
    ///   - layout: the place of the pixels.
    ///   - contrast: the least difference of white and black, of 255.
    package static func number(
        in bytes: UnsafeRawBufferPointer,
        layout: PictureLayout,
        contrast: Double = 60
    ) -> Int? {
        guard let length = layout.length, length <= bytes.count else { return nil }
        let levels = (0..<(columns * rows)).map { layout.level(ofCell: $0, in: bytes) }
        let white = (levels[0] + levels[39]) / 2
        let black = (levels[1] + levels[38]) / 2
        guard white - black >= contrast else { return nil }
        let middle = (white + black) / 2
        // A cell between black and white is half of one frame and half of another.
        guard levels.allSatisfy({ abs($0 - middle) >= (white - black) * 0.15 }) else { return nil }
        return number(of: levels.map { $0 > middle })
    }

    /// The cells of consecutive frames as a video of one byte for each cell (`rawvideo`, `gray`, 20 × 2), from black 16
    /// to white 235. ffmpeg scales it over the test picture.
    package static func video(frames: Int) -> [UInt8] {
        (0..<max(0, frames)).flatMap { cells(of: $0).map { $0 ? 235 : 16 } }
    }

    /// The remainder of a division by x¹² + x¹¹ + x³ + x² + x + 1 (CRC-12), which begins with ones, so that no picture
    /// without content has a valid code.
    private static func checkDigits(of number: Int) -> Int {
        var remainder = 0xFFF
        for bit in (0..<numberBits).reversed() {
            let isSet = (remainder >> 11 ^ number >> bit) & 1 == 1
            remainder = remainder << 1 & 0xFFF
            if isSet { remainder ^= 0x80F }
        }
        return remainder
    }
}
