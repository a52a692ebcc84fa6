package import Instrument
package import InstrumentText

/// Writes JSON (RFC 8259) as UTF-8, straight into bytes.
///
/// Written by hand because every sample passes here: `JSONEncoder` takes ten times as long. Doubles always carry a
/// point or an exponent, so that a reader can tell them from integers. Numbers that are not finite become `null`.
package struct JSONWriter: ~Copyable {
    private var output: ByteWriter
    /// The order of attributes, kept from line to line.
    private var order: AttributeOrder
    private var needsComma = false

    /// Creates a writer; its order of attributes may be that of an earlier one.
    package init(capacity: Int = 1024, order: AttributeOrder = AttributeOrder()) {
        output = ByteWriter(capacity: capacity)
        self.order = order
    }

    /// A copy of the bytes.
    package var bytes: [UInt8] { output.bytes }
    /// The number of bytes.
    package var count: Int { output.count }

    /// Ends the writer: its bytes without a copy. Its order of attributes is for the next writer.
    package consuming func finish(keeping order: inout AttributeOrder) -> ByteWriter {
        order = self.order
        return output
    }

    package mutating func object(_ body: (inout JSONWriter) -> Void) { nest("{", "}", body) }
    package mutating func array(_ body: (inout JSONWriter) -> Void) { nest("[", "]", body) }

    package mutating func key(_ name: String) {
        separate()
        quote(name)
        output.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A name that ``quoted(_:)`` made ready, for names that are written time and again.
    package mutating func key(quoted name: [UInt8]) {
        separate()
        output.append(name)
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

    /// The attributes as one object, sorted by the bytes of their names.
    package mutating func attributes(_ attributes: Attributes) {
        separate()
        output.append(UInt8(ascii: "{"))
        attributes.withElements { elements in
            let order = order.order(of: elements)
            order.names.withUnsafeBufferPointer { names in
                // The names are those of `order`, one behind the other, as long as its entries say.
                var name = names.baseAddress
                for entry in order.entries {
                    let length = Int(entry.length)
                    output.append(UnsafeBufferPointer(start: name, count: length))
                    name = name.map { $0 + length }
                    needsComma = false
                    value(elements[Int(entry.position)].value)
                }
            }
        }
        output.append(UInt8(ascii: "}"))
        needsComma = true
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
        let place = output.room(for: UUIDText.length + 2)
        place.initialize(to: UInt8(ascii: "\""))
        identifier.write(to: UnsafeMutableBufferPointer(start: place + 1, count: UUIDText.length))
        (place + 1 + UUIDText.length).initialize(to: UInt8(ascii: "\""))
        output.advance(by: UUIDText.length + 2)
    }

    /// An integer.
    package mutating func integer(_ number: Int) {
        separate()
        output.append(decimal: number)
    }

    package mutating func newline() {
        output.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func double(_ number: Double) {
        if !number.isFinite { return raw("null") }
        separate()
        output.append(String(number))
    }

    private mutating func raw(_ text: StaticString) {
        separate()
        output.append(text)
    }

    private mutating func nest(_ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONWriter) -> Void) {
        separate()
        output.append(UInt8(ascii: open))
        needsComma = false
        body(&self)
        output.append(UInt8(ascii: close))
        needsComma = true
    }

    @inline(__always)
    private mutating func separate() {
        if needsComma { output.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        // Texts that are bridged from another world have no contiguous bytes.
        if text.utf8.withContiguousStorageIfAvailable({ quote($0) }) == nil {
            Array(text.utf8).withUnsafeBufferPointer { quote($0) }
        }
    }

    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        output.append(UInt8(ascii: "\""))
        var rest = text
        while true {
            let room = UnsafeMutableRawPointer(output.room(for: rest.count))
            let plain = Self.copyPlainText(UnsafeRawBufferPointer(rest), to: room)
            output.advance(by: plain)
            // Most texts need no escape, and are copied at once.
            if plain == rest.count { break }
            escape(rest[plain])
            rest = UnsafeBufferPointer(rebasing: rest[(plain + 1)...])
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Copies a text up to the first byte that needs an escape, to memory for all of it; returns the number of bytes.
    private static func copyPlainText(_ text: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer) -> Int {
        var copied = 0
        while copied + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: copied, as: UInt64.self)
            if word.hasStringEnd { break }
            place.storeBytes(of: word, toByteOffset: copied, as: UInt64.self)
            copied += 8
        }
        while copied < text.count, !needsEscape(text[copied]) {
            place.storeBytes(of: text[copied], toByteOffset: copied, as: UInt8.self)
            copied += 1
        }
        return copied
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): output.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): output.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): output.append(UInt8(ascii: "t"))
        case 0..<0x20:
            output.append(byte < 0x10 ? "u000" : "u00")
            output.append(String(byte, radix: 16))
        default: output.append(byte)
        }
    }
}
