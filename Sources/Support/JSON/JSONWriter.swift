package import Instrument
internal import InstrumentText

/// Writes JSON (RFC 8259) as UTF-8, straight into bytes.
///
/// Written by hand because every sample passes here: `JSONEncoder` takes ten times as long. Doubles always carry a
/// point or an exponent, so that a reader can tell them from integers. Numbers that are not finite become `null`.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    /// The order of attributes, kept from line to line.
    package var order = AttributeOrder()
    private var needsComma = false

    package init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

    package mutating func object(_ body: (inout JSONWriter) -> Void) { nest("{", "}", body) }
    package mutating func array(_ body: (inout JSONWriter) -> Void) { nest("[", "]", body) }

    package mutating func key(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A name that ``quoted(_:)`` made ready, for names that are written time and again.
    package mutating func key(quoted name: [UInt8]) {
        separate()
        bytes.append(contentsOf: name)
        needsComma = false
    }

    /// A name that stands in the source with its quotes and its colon, and needs no escape.
    package mutating func key(quoted name: StaticString) {
        raw(name)
        needsComma = false
    }

    /// A name in quotes with its colon.
    package static func quoted(_ name: String) -> [UInt8] {
        var writer = JSONWriter(capacity: name.utf8.count + 3)
        writer.key(name)
        return writer.bytes
    }

    package mutating func value(_ value: AttributeValue) {
        switch value {
        case .string(let text): string(text)
        case .int(let number): integer(number)
        case .double(let number): double(number)
        case .bool(let truth): raw(truth ? "true" : "false")
        case .array(let values): array { for value in values { $0.value(value) } }
        case .object(let values):
            object { writer in
                for (name, value) in values.sortedByBytes(of: \.key) {
                    writer.key(name)
                    writer.value(value)
                }
            }
        }
    }

    /// A value that was read or made by hand.
    package mutating func json(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let truth): raw(truth ? "true" : "false")
        case .int(let number): integer(number)
        case .double(let number): double(number)
        case .string(let text): string(text)
        case .array(let values): array { for value in values { $0.json(value) } }
        case .object(let members):
            object { writer in
                for (name, value) in members.sortedByBytes(of: \.key) {
                    writer.key(name)
                    writer.json(value)
                }
            }
        }
    }

    package mutating func string(_ text: String) {
        separate()
        quote(text)
    }

    /// An identifier as a text.
    package mutating func string(_ identifier: SampleID) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: UUIDText.length) { text in
            identifier.write(to: text)
            bytes.append(contentsOf: UnsafeBufferPointer(text))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// An integer.
    package mutating func integer(_ number: Int) {
        separate()
        bytes.append(decimal: number)
    }

    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func double(_ number: Double) {
        if !number.isFinite { return raw("null") }
        separate()
        bytes.append(contentsOf: String(number).utf8)
    }

    private mutating func raw(_ text: StaticString) {
        separate()
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func nest(_ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(UInt8(ascii: open))
        needsComma = false
        body(&self)
        bytes.append(UInt8(ascii: close))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            // Most texts need no escape, and are copied at once.
            while case let end = Self.endOfPlainText(utf8, from: start), end < utf8.count {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<end]))
                escape(utf8[end])
                start = end + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The place of the first byte that needs an escape, from a place on; the count if none does.
    private static func endOfPlainText(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let bytes = UnsafeRawBufferPointer(text)
        var place = start
        while place + 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self).hasStringEnd { break }
            place += 8
        }
        while place < bytes.count, !needsEscape(bytes[place]) { place += 1 }
        return place
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        case 0..<0x20:
            bytes.append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
            bytes.append(contentsOf: String(byte, radix: 16).utf8)
        default: bytes.append(byte)
        }
    }
}
