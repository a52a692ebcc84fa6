internal import InstrumentText

/// A tag of an ad break that is older than date ranges, or not of RFC 8216.
///
/// Packagers write several dialects; the value stays as written.
package struct HLSAdTag: Hashable, Sendable {
    /// The name of a tag.
    package enum Kind: String, Hashable, Sendable {
        /// `EXT-X-CUE-OUT`: a break begins.
        case cueOut = "#EXT-X-CUE-OUT"
        /// `EXT-X-CUE-OUT-CONT`: a break runs.
        case cueOutContinue = "#EXT-X-CUE-OUT-CONT"
        /// `EXT-X-CUE-IN`: a break ends.
        case cueIn = "#EXT-X-CUE-IN"
        /// `EXT-OATCLS-SCTE35`: a section in base64.
        case oatcls = "#EXT-OATCLS-SCTE35"
        /// `EXT-X-SCTE35`: a section in the attribute `CUE`.
        case scte35 = "#EXT-X-SCTE35"
        /// `EXT-X-SPLICEPOINT-SCTE35`: a section in base64.
        case splicePoint = "#EXT-X-SPLICEPOINT-SCTE35"
    }

    /// The name.
    package var kind: Kind
    /// The text after the colon; empty without one.
    package var value: String
    /// The number of the segment that the tag stands before.
    package var segment: Int64
    /// The start of that segment, in nanoseconds from the playlist's first segment.
    package var position: Int64
    /// The line, counted from 1.
    package var line: Int

    /// The value of an attribute; nil if the value is no list with that attribute.
    package func attribute(_ name: String) -> String? { AttributeList(value[...])[name] }

    /// The nanoseconds of a number of seconds; nil for any other text.
    package func nanoseconds(_ text: String) -> Int64? { DecimalText.nanoseconds(text.trimmingSpaces) }

    /// The elapsed time and the duration of `EXT-X-CUE-OUT-CONT`, in nanoseconds: `10/30`, `10`, or
    /// `ElapsedTime=10,Duration=30`.
    package var progress: (elapsed: Int64?, duration: Int64?) {
        let list = AttributeList(value[...])
        if list["ElapsedTime"] != nil || list["Duration"] != nil {
            return (list.nanoseconds("ElapsedTime"), list.nanoseconds("Duration"))
        }
        let parts = value.prefix { $0 != "," }.split(separator: "/", omittingEmptySubsequences: false)
        return (
            parts.first.flatMap { DecimalText.nanoseconds($0.trimmingSpaces) },
            parts.count > 1 ? DecimalText.nanoseconds(parts[1].trimmingSpaces) : nil
        )
    }
}
