/// Finds the first anchor (`&name`) or alias (`*name`) of a YAML text without expanding anything.
///
/// A mark counts only where a value may begin: not in quotes, comments and block scalars, and not inside of a plain
/// text (YAML 1.1, chapters 5 to 9, as libyaml scans them). The scan takes time in proportion to the text.
struct AnchorScan {
    private let bytes: [UInt8]
    private var position = 0
    private var (line, column) = (1, 1)
    /// The number of texts, brackets and entries of lists so far.
    private var valueCount = 0
    /// The number of open brackets.
    private var flowDepth = 0
    /// The column of the innermost block collection; 0 outside of all.
    private var indent = 0
    /// The column of the text that may turn out to be a key.
    private var textColumn: Int?

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The line and the column of the first anchor or alias, counted from 1; nil without one.
    static func first(in bytes: [UInt8]) -> (line: Int, column: Int)? {
        var scan = AnchorScan(bytes)
        return scan.find()
    }

    /// The number of values in a text, within a factor of two, and not below it by more: what a parser has to keep.
    static func valueCount(in bytes: [UInt8]) -> Int {
        var scan = AnchorScan(bytes)
        while scan.find() != nil { scan.advance() }
        return scan.valueCount
    }

    private mutating func find() -> (line: Int, column: Int)? {
        var lineOfToken = 0
        while skipBlanks(), let byte = current {
            if flowDepth == 0, line != lineOfToken { indent = min(indent, column) }
            lineOfToken = line
            switch byte {
            case UInt8(ascii: "&"), UInt8(ascii: "*"):
                if !isBlank(at: position + 1) { return (line, column) }
                advance()
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                valueCount += 1
                textColumn = column
                skipQuoted(byte)
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                valueCount += 1
                flowDepth += 1
                advance()
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                flowDepth = max(0, flowDepth - 1)
                advance()
            case UInt8(ascii: ","): advance()
            case UInt8(ascii: "!"): while current != nil, !isBlank(at: position) { advance() }
            case UInt8(ascii: "|"), UInt8(ascii: ">"):
                valueCount += 1
                if flowDepth == 0 { skipBlockScalar() } else { skipPlain() }
            default:
                if takeIndicator(byte) { continue }
                valueCount += 1
                skipPlain()
            }
        }
        return nil
    }

    /// Takes `- `, `? `, `: `, `---`, `...` and a directive; false for the begin of a text.
    private mutating func takeIndicator(_ byte: UInt8) -> Bool {
        if column == 1, isDocumentMark || byte == UInt8(ascii: "%") {
            indent = 0
            if byte == UInt8(ascii: "%") { skipLine() } else { for _ in 0..<3 { advance() } }
            return true
        }
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "?"):
            guard isBlank(at: position + 1) else { return false }
            valueCount += 1
            if flowDepth == 0 { indent = column }
        case UInt8(ascii: ":"):
            guard isBlank(at: position + 1) || flowDepth > 0 else { return false }
            if flowDepth == 0, let textColumn { indent = textColumn }
            textColumn = nil
        default: return false
        }
        advance()
        return true
    }

    // MARK: Texts
    private mutating func skipQuoted(_ quote: UInt8) {
        advance()
        while let byte = current {
            advance()
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                advance()
            } else if byte == quote {
                // Two apostrophes are one character of the text.
                guard quote == UInt8(ascii: "'"), current == quote else { return }
                advance()
            }
        }
    }

    private mutating func skipPlain() {
        textColumn = column
        while let byte = current {
            if isBlank(at: position) {
                let before = line
                skipSpaces()
                if line != before, flowDepth == 0, column <= indent || column == 1 && isDocumentMark { return }
                if current == UInt8(ascii: "#") { return }
                continue
            }
            if byte == UInt8(ascii: ":"), isBlank(at: position + 1) || isFlowMark(at: position + 1) { return }
            if isFlowMark(at: position) { return }
            advance()
        }
    }

    /// Passes over the lines of a literal or folded text.
    private mutating func skipBlockScalar() {
        advance()
        var needed: Int?
        while let byte = current, !isBlank(at: position) {
            if (0x31...0x39).contains(byte) { needed = max(0, indent - 1) + Int(byte - 0x30) }
            advance()
        }
        skipLine()
        while current != nil {
            let start = self
            while current == UInt8(ascii: " ") { advance() }
            if isLineEnd(at: position) {
                skipLine()
                continue
            }
            let spaces = column - 1
            needed = needed ?? max(spaces, indent, 1)
            guard spaces >= needed ?? 1 else {
                self = start
                return
            }
            skipLine()
        }
    }

    // MARK: Bytes
    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private var isDocumentMark: Bool {
        guard bytes.count - position >= 3, isBlank(at: position + 3) else { return false }
        let mark = bytes[position..<position + 3]
        return mark.elementsEqual("---".utf8) || mark.elementsEqual("...".utf8)
    }

    /// Whether a space, the end of a line or the end of the text is there.
    private func isBlank(at place: Int) -> Bool {
        place >= bytes.count || [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place])
    }

    private func isLineEnd(at place: Int) -> Bool {
        place >= bytes.count || bytes[place] == 0x0A || bytes[place] == 0x0D
    }

    private func isFlowMark(at place: Int) -> Bool {
        flowDepth > 0 && place < bytes.count && ",[]{}".utf8.contains(bytes[place])
    }

    private mutating func advance() {
        guard let byte = current else { return }
        position += 1
        if byte == 0x0A || byte == 0x0D && current != 0x0A {
            (line, column) = (line + 1, 1)
        } else if byte & 0xC0 != 0x80 {
            // The bytes of a character count once.
            column += 1
        }
    }

    private mutating func skipSpaces() { while current != nil, isBlank(at: position) { advance() } }

    private mutating func skipLine() {
        let begin = line
        while current != nil, line == begin { advance() }
    }

    /// Passes over spaces, line ends and comments; true if something follows.
    private mutating func skipBlanks() -> Bool {
        skipSpaces()
        while current == UInt8(ascii: "#") {
            skipLine()
            skipSpaces()
        }
        return current != nil
    }
}
