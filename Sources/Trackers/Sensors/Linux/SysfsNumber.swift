/// Reads a number of the kernel; nil for text that is not a number, and for NaN and infinity.
func sysfsNumber(_ text: some StringProtocol) -> Double? {
    guard let number = Double(text), number.isFinite else { return nil }
    return number
}

/// The mounting of a sensor: three rows that convert its axes to the device's (Linux,
/// `Documentation/ABI/testing/sysfs-bus-iio`, `mount_matrix`).
struct MountMatrix: Hashable, Sendable {
    private let rows: [[Double]]

    static let identity = MountMatrix(rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    private init(rows: [[Double]]) { self.rows = rows }

    /// Reads `1, 0, 0; 0, 1, 0; 0, 0, 1`; nil for anything else.
    init?(_ text: String) {
        let rows = text.split(separator: ";", omittingEmptySubsequences: false).map { row in
            row.split(separator: ",", omittingEmptySubsequences: false).map { cell in
                sysfsNumber(cell.drop(while: \.isWhitespace).reversedTrimmed)
            }
        }
        guard rows.count == 3, rows.allSatisfy({ $0.count == 3 && !$0.contains(nil) }) else { return nil }
        self.rows = rows.map { $0.compactMap { $0 } }
    }

    /// A component is known if all its parts are known.
    func applied(to vector: [Double?]) -> [Double?] {
        rows.map { row in
            var sum = 0.0
            for (factor, component) in zip(row, vector) where factor != 0 {
                guard let component else { return nil }
                sum += factor * component
            }
            return sum.isFinite ? sum : nil
        }
    }
}

extension Substring {
    fileprivate var reversedTrimmed: Substring {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
