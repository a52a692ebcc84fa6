internal import Instrument
internal import InstrumentText
package import InstrumentXML

extension MarkupElement {
    /// No keyword, number or date of an MPD is longer, in bytes. A longer one counts as absent, so that an attribute
    /// that thousands of representations inherit does not cost each of them its whole length.
    static var longestWord: Int { longestName }

    /// An attribute that is a keyword, a list of keywords or a number, and no address.
    package func word(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.utf8.count <= Self.longestWord ? $0 : nil }
    }

    /// A whole number. Players also read one that is written with a fraction of zero: `2.0`.
    package func integer(_ attribute: String) -> Int64? { word(attribute).flatMap { Self.integer(of: $0) } }

    static func integer(of text: String) -> Int64? {
        let (whole, fraction) = text.trimmingWhitespace.split(at: ".")
        guard fraction?.utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) ?? true else { return nil }
        return DecimalText.integer(whole)
    }

    /// A duration of XML Schema, in nanoseconds. White space around it means nothing.
    package func duration(_ attribute: String) -> Int64? {
        word(attribute).flatMap { CalendarText.nanoseconds(duration: $0.trimmingWhitespace) }
    }

    /// `FIRST-LAST`, both in.
    func byteRange(_ attribute: String) -> ByteRange? { word(attribute).flatMap { Self.byteRange(of: $0) } }

    /// `FIRST-LAST`, both in.
    package static func byteRange(of text: String) -> ByteRange? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = DecimalText.integer(parts[0]) else { return nil }
        if parts[1].isEmpty { return ByteRange(offset: first, length: nil) }
        guard let last = DecimalText.integer(parts[1]), last >= first else { return nil }
        return ByteRange(offset: first, length: last.saturatingSubtract(first).saturatingAdd(1))
    }
}
