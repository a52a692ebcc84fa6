internal import Instrument
internal import InstrumentManifests
internal import InstrumentText

/// An `EXT-X-DATERANGE` as written.
struct DateRangeTag {
    var id: String
    var attributes: [String: String]
    var line: Int

    static func all(in playlist: MediaPlaylistVersion) -> [DateRangeTag] {
        playlist.tags("EXT-X-DATERANGE").compactMap { tag in
            let attributes = tag.attributes
            return attributes["ID"].map { DateRangeTag(id: $0, attributes: attributes, line: tag.line) }
        }
    }

    func problem(_ found: String, _ expected: String) -> Problem {
        Problem(found: found, expected: expected, advice: "Correct EXT-X-DATERANGE `\(id.excerpt())`.", line: line)
    }

    /// The defects of the tag, alone or in comparison with an earlier tag of the same identifier.
    func contradiction(with known: [String: String]) -> Problem? {
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            if let before = known[name], before != value {
                return problem("another value of \(name.excerpt())", "one value for each attribute of an identifier")
            }
        }
        return interval(known) ?? endOnNext(known)
    }

    /// The attributes of a tag, and what it leaves out as an earlier tag said. Nothing is copied: a date range can be
    /// continued by any number of tags.
    private struct Both {
        private let (new, known): ([String: String], [String: String])
        init(_ new: [String: String], _ known: [String: String]) { (self.new, self.known) = (new, known) }
        subscript(name: String) -> String? { new[name] ?? known[name] }
    }

    private func interval(_ known: [String: String]) -> Problem? {
        let all = Both(attributes, known)
        for name in ["DURATION", "PLANNED-DURATION"] {
            if let text = all[name], (DecimalText.nanoseconds(text) ?? -1) < 0 {
                return problem("a \(name) of `\(text.excerpt())`", "a \(name) of 0 or more seconds")
            }
        }
        // A range without START-DATE has another rule.
        guard let startText = all["START-DATE"] else { return nil }
        guard let start = CalendarText.wallTime(startText) else {
            return problem("no valid START-DATE", "a START-DATE in ISO 8601")
        }
        guard let text = all["END-DATE"] else { return nil }
        guard let end = CalendarText.wallTime(text) else {
            return problem("an END-DATE of `\(text.excerpt())`", "an END-DATE in ISO 8601")
        }
        if end < start { return problem("an END-DATE before START-DATE", "an END-DATE at or after START-DATE") }
        if let duration = all["DURATION"].flatMap({ DecimalText.nanoseconds($0) }),
            end.nanoseconds(since: start).saturatingSubtract(duration).magnitude > 2_000_000
        {
            return problem(
                "a DURATION of \(duration.shownSeconds)",
                "the time from START-DATE to END-DATE, \(end.nanoseconds(since: start).shownSeconds)"
            )
        }
        return nil
    }

    private func endOnNext(_ known: [String: String]) -> Problem? {
        let all = Both(attributes, known)
        guard let value = all["END-ON-NEXT"] else { return nil }
        if value != "YES" { return problem("END-ON-NEXT=\(value.excerpt())", "END-ON-NEXT=YES") }
        if all["CLASS"] == nil { return problem("END-ON-NEXT without CLASS", "a CLASS with END-ON-NEXT") }
        if all["DURATION"] != nil || all["END-DATE"] != nil {
            return problem("END-ON-NEXT beside DURATION or END-DATE", "END-ON-NEXT alone")
        }
        return nil
    }
}
