/// Makes lines of pieces, and throws away those that are too long.
struct LineSplitter: Sendable {
    private var line: [UInt8] = []
    private var isOverlong = false
    private let maxLength: Int

    init(maxLength: Int) { self.maxLength = maxLength }

    /// The lines that a piece completes, without their ends; nil stands for one that was too long.
    mutating func add(_ piece: some Sequence<UInt8>) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        for byte in piece {
            if byte == UInt8(ascii: "\n") {
                lines.append(isOverlong ? nil : line)
                line.removeAll(keepingCapacity: true)
                isOverlong = false
            } else if line.count >= maxLength {
                isOverlong = true
            } else {
                line.append(byte)
            }
        }
        return lines
    }
}
