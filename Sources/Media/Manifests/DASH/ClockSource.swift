package import Instrument
package import InstrumentHTTP
internal import InstrumentText
internal import InstrumentXML

/// A resource that tells the time of a server, by which the segments of a live MPD become available (`UTCTiming`,
/// ISO/IEC 23009-1 section 5.8.5.7).
package struct ClockSource: Hashable, Sendable {
    /// How a response tells the time.
    package enum Method: Hashable, Sendable, CaseIterable {
        /// By the header field `Date` of the response to a `HEAD` request (`urn:mpeg:dash:utc:http-head`).
        case dateHeader
        /// By its body, a date of XML Schema or ISO 8601 (`urn:mpeg:dash:utc:http-xsdate`,
        /// `urn:mpeg:dash:utc:http-iso`).
        case body
    }

    /// How the response tells the time.
    package var method: Method
    /// The address of the resource.
    package var url: HTTPURL

    /// Creates a source.
    package init(_ method: Method, at url: HTTPURL) {
        self.method = method
        self.url = url
    }

    /// The time that a body tells; nil if it is no date.
    package static func time(inBody bytes: [UInt8]) -> WallTime? {
        guard bytes.count <= 1024 else { return nil }
        return CalendarText.wallTime(String(decoding: bytes, as: UTF8.self).trimmingWhitespace)
    }

    /// The sources of the `UTCTiming` elements, in the order of the document; each can name several addresses.
    static func sources(of elements: NamedElements, relativeTo base: HTTPURL) -> [ClockSource] {
        elements.flatMap { element -> [ClockSource] in
            let scheme = element["schemeIdUri"] ?? ""
            let method: Method? =
                if scheme.hasPrefix("urn:mpeg:dash:utc:http-head:") {
                    .dateHeader
                } else if scheme.hasPrefix("urn:mpeg:dash:utc:http-xsdate:")
                    || scheme.hasPrefix("urn:mpeg:dash:utc:http-iso:")
                {
                    .body
                } else {
                    nil
                }
            guard let method else { return [] }
            let addresses = (element["value"] ?? "").split { $0.isWhitespace }.prefix(8)
            return addresses.compactMap { try? ReferenceBase(url: base).resolve(String($0)) }.map {
                ClockSource(method, at: $0)
            }
        }
    }
}
