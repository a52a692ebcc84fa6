/// Finds the objects in a text that is not one object a line: a JSON array, objects over several lines, or the rows of
/// an export of ClickHouse in the formats `JSON`, `JSONCompact` and `JSONCompactEachRow…`, whose rows are arrays.
///
/// Needs memory for one object. Between objects, commas and white space are skipped; after damage, the search continues
/// with the next line that begins an object.
struct SampleSplitter {
    /// The form of a text.
    enum Form {
        /// One object a line.
        case lines
        /// Objects that a splitter finds.
        case values(SampleSplitter)
        /// No form that can be read, and the reason.
        case unreadable(String)

        /// Recognises the form by the first bytes; at least ``SampleSplitter/headSize`` of them, if the text has them.
        init(_ head: [UInt8]) {
            if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF])
                || head.starts(with: [0, 0, 0xFE, 0xFF])
            {
                let name = head.starts(with: [0xFF, 0xFE, 0, 0]) || head[0] == 0 ? "UTF-32" : "UTF-16"
                self = .unreadable(
                    "the text must be UTF-8 (found the byte order mark of \(name)); convert it, for example with iconv -f \(name) -t UTF-8"
                )
                return
            }
            let isMarked = head.starts(with: [0xEF, 0xBB, 0xBF])
            let start = head.dropFirst(isMarked ? 3 : 0).firstIndex { !$0.isSpace } ?? head.endIndex
            let text = head[start...]
            let line = 1 + head[..<start].count { $0 == UInt8(ascii: "\n") }
            if text.first == UInt8(ascii: "[") {
                let second = text.dropFirst().first { !$0.isSpace }
                var splitter = SampleSplitter(from: start, line: line, isDocument: false)
                splitter.hasRows = second.map { $0 == UInt8(ascii: "\"") || 0x30...0x39 ~= $0 } ?? false
                self = .values(splitter)
            } else if text.first == UInt8(ascii: "{") {
                let second = text.dropFirst().firstIndex { !$0.isSpace } ?? head.endIndex
                let isDocument = head[second...].starts(with: Array("\"meta\"".utf8))
                let isSpread = head[start..<second].contains(UInt8(ascii: "\n"))
                self =
                    isDocument || isSpread
                    ? .values(SampleSplitter(from: start, line: line, isDocument: isDocument)) : .lines
            } else {
                self = .lines
            }
        }
    }

    /// The result of a step.
    enum Step: Hashable {
        /// The place of an object.
        case value(Range<Int>)
        /// A part that was skipped, and the reason.
        case problem(String)
        /// The text has no complete object; the first bytes, as many as this, are no longer needed.
        case more(Int)
    }

    /// The number of bytes by which the form is recognised.
    static var headSize: Int { 64 }

    /// The number of the line of the latest step, from 1.
    private(set) var line = 1
    /// Whether an object has begun and not ended.
    var isOpen: Bool { depth > 0 && place == .samples }

    /// The part of the text.
    private enum Place { case samples, head, tail }
    private var place: Place
    /// Whether the objects are the rows of a document.
    private var isDocument = false
    /// Whether rows are arrays.
    private var hasRows = false
    /// The names of a document's columns.
    private(set) var columns: [String] = []
    private var position: Int
    /// Where the object begins.
    private var start = 0
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Whether the rest of a line, or of an object beyond the limit, is skipped.
    private var isDamaged = false
    private var isTooLong = false
    /// The bytes of the latest text in the head of a document, as far as they fit, and of the one before.
    private var text: [UInt8] = []
    private var earlierText: [UInt8] = []
    private static let longestText = 128
    private static let mostColumns = 1_000

    private init(from position: Int, line: Int, isDocument: Bool) {
        self.position = position
        place = isDocument ? .head : .samples
        self.line = line
    }

    /// The places of the objects in a line; nil if the line has anything else but what may stand between objects.
    static func objects(in line: [UInt8]) -> [Range<Int>]? {
        var splitter = SampleSplitter(from: 0, line: 1, isDocument: false)
        var places: [Range<Int>] = []
        while true {
            switch splitter.next(in: line, limit: .max) {
            case .value(let place): places.append(place)
            case .problem: return nil
            case .more: return splitter.isOpen ? nil : places
            }
        }
    }

    /// Forgets an open object at the end of the text.
    mutating func finish() { (depth, place) = (0, .tail) }

    /// The next object in `bytes`, which begin where the previous step left them.
    mutating func next(in bytes: [UInt8], limit: Int) -> Step {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") { line += 1 }
            switch place {
            case .samples: if let step = step(byte, limit) { return step }
            case .head: stepHead(byte)
            case .tail: break
            }
        }
        if isOpen, !isTooLong, position - start > limit {
            isTooLong = true
            return .problem("longer than \(limit) bytes")
        }
        let kept = isOpen && !isTooLong ? start : position
        (position, start) = (position - kept, start - kept)
        return .more(kept)
    }

    private mutating func step(_ byte: UInt8, _ limit: Int) -> Step? {
        if depth == 0 { return stepBetween(byte) }
        if isInString {
            if byte == UInt8(ascii: "\n") {
                // A text has no line feed: the object is torn, and the next line may begin another one.
                (depth, isInString, isEscaped, isTooLong) = (0, false, false, false)
                return .problem("not valid JSON: a text must not contain a line feed")
            }
            _ = isCharacter(byte)
            return nil
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            guard depth == 0 else { return nil }
            if isTooLong {
                isTooLong = false
                return nil
            }
            if position - start > limit { return .problem("longer than \(limit) bytes") }
            return .value(start..<position)
        default: break
        }
        return nil
    }

    /// Reads a byte inside a text. Returns whether it stands for itself: neither an escape nor the end of the text.
    private mutating func isCharacter(_ byte: UInt8) -> Bool {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        } else {
            return true
        }
        return false
    }

    private mutating func stepBetween(_ byte: UInt8) -> Step? {
        switch byte {
        case UInt8(ascii: "{"):
            (start, depth, isDamaged) = (position - 1, 1, false)
        case UInt8(ascii: "[") where hasRows || isDocument:
            (start, depth, isDamaged) = (position - 1, 1, false)
        case UInt8(ascii: "\n"): isDamaged = false
        case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
        case UInt8(ascii: "]"): if isDocument { place = .tail }
        // A byte order mark, and the record separator of RFC 7464.
        case 0xEF, 0xBB, 0xBF, 0x1E: break
        default:
            if isDamaged { return nil }
            isDamaged = true
            return .problem("not valid JSON: expected an object")
        }
        return nil
    }

    /// Looks for the member `data` of the document.
    private mutating func stepHead(_ byte: UInt8) {
        if isInString {
            if isCharacter(byte), text.count < Self.longestText { text.append(byte) }
            if !isInString { endText() }
            return
        }
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            (earlierText, text) = (text, [])
        case UInt8(ascii: "["):
            if depth == 1, text == Array("data".utf8) {
                (place, depth, isDocument) = (.samples, 0, true)
            } else {
                depth += 1
            }
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }
}

extension SampleSplitter {
    /// Notes the name of a column: the text behind `name` in an element of `meta`.
    fileprivate mutating func endText() {
        guard depth == 3, earlierText == Array("name".utf8), columns.count < Self.mostColumns else { return }
        columns.append(String(decoding: text, as: UTF8.self))
        // A column may be called `name`.
        text = []
    }
}

extension UInt8 {
    /// Whether the byte is white space of JSON.
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
