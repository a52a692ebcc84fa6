internal import Instrument

/// Reads XML from an untrusted source into elements, in one pass over its bytes.
///
/// Supports the part of XML 1.0 (fifth edition) that MPD, VAST and VMAP use: elements, attributes, text, CDATA
/// sections, comments, processing instructions, character references and the five predefined entities. Rejects a
/// document type, which can declare entities, where it begins; in a CDATA section or a comment `<!DOCTYPE` is text
/// (sections 2.5 and 2.7), as in the pages of companions. A separate implementation, because libxml2, which Foundation
/// uses on Linux, compares each attribute of an element with all others, and because Foundation's parser traps on names
/// that are not UTF-8.
package struct MarkupReader {
    /// An open element.
    private struct Open {
        var element: MarkupElement
        /// The name as written, with its prefix, which the end tag must repeat.
        var writtenName: ArraySlice<UInt8>
        var text: [UInt8] = []
    }

    private let limits: MarkupLimits
    /// The name of the document in messages, with its article.
    private let document: String
    private var cursor: MarkupCursor
    private var stack: [Open] = []
    private var result: MarkupElement?
    private var prefix: [UInt8] = []
    private var count = 0

    private init(_ bytes: [UInt8], _ document: String, limits: MarkupLimits) {
        self.limits = limits
        self.document = document
        cursor = MarkupCursor(bytes)
    }

    /// Returns the root element of a document.
    ///
    /// - Parameters:
    ///   - bytes: the whole document, in UTF-8, UTF-16, Latin-1 or Windows-1252 (``MarkupEncoding``).
    ///   - document: the name of the document in messages, with its article: `the MPD`.
    ///   - limits: the largest document to accept.
    /// - Throws: ``MarkupError``, whose message repeats names of elements and attributes only.
    package static func read(
        _ bytes: [UInt8],
        as document: String,
        limits: MarkupLimits
    ) throws(MarkupError) -> MarkupElement {
        try readDocument(bytes, as: document, limits: limits).root
    }

    /// Returns the root element of a document and the namespace of this element, which is nil without one.
    ///
    /// - Parameters:
    ///   - bytes: the whole document, in UTF-8, UTF-16, Latin-1 or Windows-1252 (``MarkupEncoding``).
    ///   - document: the name of the document in messages, with its article: `the MPD`.
    ///   - limits: the largest document to accept.
    /// - Throws: ``MarkupError``, whose message repeats names of elements and attributes only.
    package static func readDocument(
        _ bytes: [UInt8],
        as document: String,
        limits: MarkupLimits
    ) throws(MarkupError) -> (root: MarkupElement, namespace: String?) {
        guard bytes.count <= limits.bytes else {
            throw MarkupError(.limitExceeded, "\(document) must have at most \(limits.bytes) bytes")
        }
        guard let text = MarkupEncoding.utf8(bytes) else {
            throw MarkupError(
                .encoding,
                "\(document) must be encoded in UTF-8 (or as its XML declaration says, in UTF-16 or ISO-8859-1)"
            )
        }
        var reader = MarkupReader(text, document, limits: limits)
        try reader.check(text)
        let root = try reader.root()
        let prefix = reader.prefix.isEmpty ? "" : ":" + String(decoding: reader.prefix.dropLast(), as: UTF8.self)
        return (root, root["xmlns" + prefix])
    }

    /// - Parameter bytes: the document in UTF-8.
    private func check(_ bytes: [UInt8]) throws(MarkupError) {
        if let place = bytes.firstIndex(of: 0) {
            let line = bytes[..<place].count { $0 == 0x0A } + 1
            throw MarkupError(.encoding, "\(document) must not contain the character 0", line: line)
        }
    }
}

// MARK: The document
extension MarkupReader {
    private mutating func root() throws(MarkupError) -> MarkupElement {
        _ = cursor.take("\u{FEFF}")
        while !cursor.isAtEnd {
            if count & 1_023 == 0 { try MarkupError.checkCancellation() }
            if cursor.next == UInt8(ascii: "<") { try markup() } else { try text() }
        }
        if let open = stack.last {
            throw malformed("the element `\(Self.shown(open.writtenName))` of line \(open.element.line) is not closed")
        }
        guard let result else { throw malformed("it has no root element") }
        return result
    }

    private mutating func markup() throws(MarkupError) {
        switch cursor.second {
        case UInt8(ascii: "/"): try endTag()
        case UInt8(ascii: "?"): try skip(past: "?>", "a processing instruction")
        case UInt8(ascii: "!"):
            if cursor.take("<!--") {
                try skip(past: "--", "a comment")
                guard cursor.take(">") else { throw malformed("a comment contains `--`") }
            } else if cursor.take("<![CDATA[") {
                guard !stack.isEmpty else { throw malformed("a CDATA section is outside the root element") }
                add(try upTo("]]>", "a CDATA section"))
            } else if cursor.take("<!DOCTYPE") || cursor.take("<!ENTITY") {
                let message = "\(document) must not declare a document type; remove the `<!DOCTYPE`"
                throw MarkupError(.documentType, message, line: cursor.line)
            } else {
                throw malformed("a declaration (`<!`) is not allowed in \(document)")
            }
        default: try startTag()
        }
    }

    private mutating func skip(past end: StaticString, _ what: String) throws(MarkupError) { _ = try upTo(end, what) }

    private mutating func upTo(_ end: StaticString, _ what: String) throws(MarkupError) -> ArraySlice<UInt8> {
        if let found = cursor.upTo(end) { return found }
        throw malformed("\(what) has no end")
    }

    private mutating func text() throws(MarkupError) {
        let found = cursor.upToByte(UInt8(ascii: "<"))
        if stack.isEmpty {
            guard found.allSatisfy(\.isWhitespace) else {
                throw malformed("text is outside the root element")
            }
            return
        }
        add(try resolved(found)[...])
    }

    /// Drops a text that exceeds the limit, and marks its element.
    private mutating func add(_ text: ArraySlice<UInt8>) {
        guard let last = stack.indices.last else { return }
        guard stack[last].text.count + text.count <= limits.textBytes else {
            stack[last].element.isTextIncomplete = true
            return
        }
        stack[last].text += text
    }
}

// MARK: Tags
extension MarkupReader {
    private mutating func startTag() throws(MarkupError) {
        let line = cursor.line
        cursor.skip(1)
        let written = try name()
        count += 1
        if count == 1, let colon = written.firstIndex(of: UInt8(ascii: ":")) { prefix = Array(written[...colon]) }
        guard result == nil || !stack.isEmpty else { throw malformed("it has a second root element") }
        guard count <= limits.elements else {
            throw MarkupError(.limitExceeded, "\(document) must have at most \(limits.elements) elements", line: line)
        }
        guard stack.count < limits.depth else {
            let message = "the elements of \(document) are nested more than \(limits.depth) deep"
            throw MarkupError(.limitExceeded, message, line: line)
        }
        let attributes = try attributes()
        let isEmpty = cursor.take("/")
        guard cursor.take(">") else {
            throw malformed("the start tag of `\(Self.shown(written))` does not end with `>`")
        }
        let own = written.starts(with: prefix) ? written.dropFirst(prefix.count) : written
        let element = MarkupElement(name: String(decoding: own, as: UTF8.self), attributes: attributes, line: line)
        stack.append(Open(element: element, writtenName: written))
        if isEmpty { close() }
    }

    private mutating func endTag() throws(MarkupError) {
        cursor.skip(2)
        let written = try name()
        cursor.skipSpace()
        guard cursor.take(">") else { throw malformed("the end tag of `\(Self.shown(written))` does not end with `>`") }
        guard let open = stack.last else {
            throw malformed("there is an end tag `\(Self.shown(written))` and no element is open")
        }
        guard open.writtenName == written else {
            let names = "`\(Self.shown(open.writtenName))`, and the end tag is `\(Self.shown(written))`"
            throw malformed("the open element is \(names)")
        }
        close()
    }

    private mutating func close() {
        guard var open = stack.popLast() else { return }
        open.element.text = String(decoding: open.text, as: UTF8.self).streamSafe
        if let parent = stack.indices.last {
            stack[parent].element.append(open.element)
        } else {
            result = open.element
        }
    }

    private mutating func attributes() throws(MarkupError) -> [String: String] {
        var attributes: [String: String] = [:]
        while true {
            let isSeparate = cursor.skipSpace()
            guard let next = cursor.next, next != UInt8(ascii: ">"), next != UInt8(ascii: "/") else {
                return attributes
            }
            guard isSeparate else { throw malformed("a space between two attributes is missing") }
            let name = try name()
            guard attributes.count < limits.attributes else {
                let message = "an element of \(document) has more than \(limits.attributes) attributes"
                throw MarkupError(.limitExceeded, message, line: cursor.line)
            }
            cursor.skipSpace()
            guard cursor.take("=") else { throw malformed("the attribute `\(Self.shown(name))` has no value") }
            cursor.skipSpace()
            let value = try value(of: name)
            guard attributes.updateValue(value, forKey: String(decoding: name, as: UTF8.self).streamSafe) == nil else {
                throw malformed("the attribute `\(Self.shown(name))` occurs twice in one element")
            }
        }
    }

    private mutating func value(of name: ArraySlice<UInt8>) throws(MarkupError) -> String {
        guard let quote = cursor.next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw malformed("the value of the attribute `\(Self.shown(name))` is not in quotes")
        }
        cursor.skip(1)
        let text = cursor.upToByte(quote)
        guard cursor.next == quote else { throw malformed("the value of `\(Self.shown(name))` has no closing quote") }
        cursor.skip(1)
        guard text.count <= limits.textBytes else {
            let message = "an attribute of \(document) has more than \(limits.textBytes) bytes"
            throw MarkupError(.limitExceeded, message, line: cursor.line)
        }
        guard !text.contains(UInt8(ascii: "<")) else {
            throw malformed("the value of the attribute `\(Self.shown(name))` contains `<`; write `&lt;`")
        }
        // Line breaks and tabs in a value are spaces (section 3.3.3).
        let plain = text.contains(where: { $0 < 0x20 }) ? text.map { $0 < 0x20 ? 0x20 : $0 }[...] : text
        return String(decoding: try resolved(plain), as: UTF8.self).streamSafe
    }

    private mutating func name() throws(MarkupError) -> ArraySlice<UInt8> {
        let name = cursor.name()
        guard let first = name.first, MarkupCursor.canBeginName(first) else {
            throw malformed("a name is missing, or begins with an invalid character")
        }
        guard name.count <= MarkupElement.longestName else {
            let message = "a name in \(document) has more than \(MarkupElement.longestName) bytes"
            throw MarkupError(.limitExceeded, message, line: cursor.line)
        }
        return name
    }
}

// MARK: Characters
extension MarkupReader {
    /// The bytes with character references and predefined entities replaced (sections 4.1 and 4.6).
    private func resolved(_ text: ArraySlice<UInt8>) throws(MarkupError) -> [UInt8] {
        guard text.contains(where: { $0 == UInt8(ascii: "&") || $0 < 0x20 }) else { return Array(text) }
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        result.reserveCapacity(text.count)
        while let byte = rest.popFirst() {
            guard byte >= 0x20 || byte.isWhitespace else { throw malformed("it contains a control character") }
            guard byte == UInt8(ascii: "&") else {
                result.append(byte)
                continue
            }
            // The longest reference is `&#x10FFFF;`, with leading zeros.
            guard let end = rest.prefix(16).firstIndex(of: UInt8(ascii: ";")),
                let scalar = Self.scalar(rest[..<end])
            else { throw malformed("`&` does not begin a known reference; write `&amp;` for the character") }
            result += Array(String(Character(scalar)).utf8)
            rest = rest[(end + 1)...]
        }
        return result
    }

    private static func scalar(_ reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
        switch String(decoding: reference, as: UTF8.self) {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        case let text where text.hasPrefix("#"):
            let isHexadecimal = text.hasPrefix("#x")
            let number = UInt32(text.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
            // The control characters that XML allows are white space (section 2.2).
            return number.flatMap { $0 >= 0x20 || [9, 10, 13].contains($0) ? Unicode.Scalar($0) : nil }
        default: return nil
        }
    }

    /// Returns a name for an error message.
    private static func shown(_ name: ArraySlice<UInt8>) -> String { String(decoding: name.prefix(40), as: UTF8.self) }

    private func malformed(_ what: String) -> MarkupError {
        MarkupError(.malformed, "\(document) is not well-formed XML: \(what)", line: cursor.line)
    }
}
