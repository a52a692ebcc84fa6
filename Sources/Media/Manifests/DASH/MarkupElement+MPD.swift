internal import Instrument
package import InstrumentXML

extension MarkupElement {
    /// No keyword, number or date of an MPD is longer, in bytes. A longer one counts as absent, so that an attribute
    /// that thousands of representations inherit does not cost each of them its whole length.
    static var longestWord: Int { longestName }

    /// An attribute that is a keyword, a list of keywords or a number, and no address.
    package func word(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.utf8.count <= Self.longestWord ? $0 : nil }
    }

    package func integer(_ attribute: String) -> Int64? { word(attribute).flatMap { DecimalText.integer($0) } }
    package func duration(_ attribute: String) -> Int64? {
        word(attribute).flatMap { CalendarText.nanoseconds(duration: $0) }
    }

    /// `FIRST-LAST`, both in.
    func byteRange(_ attribute: String) -> ByteRange? {
        let parts = (word(attribute) ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = DecimalText.integer(parts[0]) else { return nil }
        if parts[1].isEmpty { return ByteRange(offset: first, length: nil) }
        guard let last = DecimalText.integer(parts[1]), last >= first else { return nil }
        return ByteRange(offset: first, length: last.saturatingSubtract(first).saturatingAdd(1))
    }
}
