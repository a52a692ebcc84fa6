/// Cuts what a socket gives into lines, which may come in parts or several at once.
///
/// A line that is too long is passed over to its end, so that no peer can make us keep more than that.
struct LineFramer {
    /// What stands between two line feeds.
    enum Line: Hashable {
        case whole([UInt8])
        case tooLong
    }

    let maxLength: Int
    private var partial: [UInt8] = []
    private var isSkipping = false

    init(maxLength: Int) { self.maxLength = max(1, maxLength) }

    /// The lines that end in `bytes`; what comes after the last of them waits. Empty lines are left out.
    mutating func append(_ bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            take(rest[..<end])
            rest = rest[(end + 1)...]
            if isSkipping { lines.append(.tooLong) } else if !partial.isEmpty { lines.append(.whole(partial)) }
            (partial, isSkipping) = ([], false)
        }
        take(rest)
        return lines
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        if isSkipping { return }
        if partial.count + bytes.count > maxLength {
            (partial, isSkipping) = ([], true)
        } else {
            partial += bytes
        }
    }
}
