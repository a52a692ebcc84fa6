package import Instrument

/// A range of calendar time with metadata (`EXT-X-DATERANGE`, RFC 8216 section 4.3.2.7).
///
/// Several tags may have one `ID`: their attributes are merged. Tags that contradict each other make the range invalid.
package struct DateRange: Hashable, Sendable, Identifiable {
    /// The class of interstitials (RFC 8216bis, appendix D).
    package static let interstitialClass = "com.apple.hls.interstitial"

    /// The identifier, which no other range of the playlist has.
    package var id: String
    /// `CLASS`: ranges of a class have the same meaning; nil if absent.
    package var rangeClass: String?
    /// The instant at which the range begins.
    package var start: WallTime
    /// `END-DATE`; nil if absent.
    package var end: WallTime?
    /// The duration in nanoseconds: `DURATION`, else the time up to `END-DATE`, else `PLANNED-DURATION`.
    package var duration: Int64?
    /// The duration in nanoseconds: `DURATION`, else the time up to `END-DATE`; nil without both.
    package var actualDuration: Int64?
    /// Whether the range is about advertising: it has an SCTE-35 attribute, or is an interstitial.
    package var isAdvertising: Bool
    /// All attributes as written, without quotes.
    package var attributes: [String: String] = [:]
    /// The name of an attribute that two tags of the range give different values; nil for a valid range.
    package var contradiction: String?
    /// The line of the first tag, counted from 1.
    package var line: Int?

    /// Whether the range has an attribute of SCTE-35.
    package var hasSpliceInformation: Bool { attributes.keys.contains { $0.hasPrefix("SCTE35-") } }

    /// The nanoseconds of an attribute that is a number of seconds; nil if the attribute is absent or malformed.
    package func nanoseconds(_ name: String) -> Int64? { attributes[name].flatMap { DecimalText.nanoseconds($0) } }
}

extension DateRange {
    /// Creates the range of the attributes of its tags; nil without `ID` and a valid `START-DATE`.
    init?(attributes: [String: String], line: Int?) {
        guard let id = attributes["ID"], let start = attributes["START-DATE"].flatMap({ CalendarText.wallTime($0) })
        else { return nil }
        let end = attributes["END-DATE"].flatMap { CalendarText.wallTime($0) }
        let actual = attributes["DURATION"].flatMap { DecimalText.nanoseconds($0) } ?? end?.nanoseconds(since: start)
        let rangeClass = attributes["CLASS"]
        self.init(
            id: id,
            rangeClass: rangeClass,
            start: start,
            end: end,
            duration: actual ?? attributes["PLANNED-DURATION"].flatMap { DecimalText.nanoseconds($0) },
            actualDuration: actual,
            isAdvertising: rangeClass == Self.interstitialClass
                || attributes.keys.contains { $0.hasPrefix("SCTE35-") },
            attributes: attributes,
            line: line
        )
    }
}

/// Merges the tags of date ranges by their identifiers.
struct DateRangeTable: Hashable, Sendable {
    private struct Entry: Hashable {
        var attributes: [String: String]
        var contradiction: String?
        var line: Int
    }

    private var entries: [Entry] = []
    private var positions: [String: Int] = [:]

    var count: Int { entries.count }

    /// Adds a tag; false for a tag without `ID`.
    mutating func add(_ attributes: [String: String], line: Int) -> Bool {
        guard let id = attributes["ID"] else { return false }
        guard let position = positions[id] else {
            positions[id] = entries.count
            entries.append(Entry(attributes: attributes, line: line))
            return true
        }
        for (name, value) in attributes {
            if let known = entries[position].attributes[name], known != value {
                // The first name in byte order, so that equal playlists give equal ranges.
                let names = [entries[position].contradiction, name].compactMap { $0 }
                entries[position].contradiction = names.min { $0.precedesInBytes($1) }
            } else {
                entries[position].attributes[name] = value
            }
        }
        return true
    }

    /// The ranges in the order of their first tags, and the lines of tags without a valid `START-DATE`.
    var ranges: (valid: [DateRange], invalidLines: [Int]) {
        var (valid, invalid) = ([DateRange](), [Int]())
        for entry in entries {
            if var range = DateRange(attributes: entry.attributes, line: entry.line) {
                range.contradiction = entry.contradiction
                valid.append(range)
            } else {
                invalid.append(entry.line)
            }
        }
        return (valid, invalid)
    }
}
