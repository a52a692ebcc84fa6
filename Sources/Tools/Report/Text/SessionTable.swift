internal import Instrument
internal import InstrumentQuality
internal import InstrumentTerminal
internal import InstrumentText

/// The listed sessions as comma-separated values (RFC 4180), for spreadsheets.
package enum SessionTable {
    private static let header = [
        "begin", "sender", "session", "title", "source", "outcome", "startTimeMs", "stalls", "rebufferTimeMs",
        "rebufferRatio",
        "playTimeMs", "averageBitrate", "failureCode", "failureStatus", "failure", "lostEvents", "stream", "location",
        "profile", "host", "labels",
    ]

    /// The table with its header. Numbers are in the units of the metrics.
    package static func csv(_ set: SessionSet) -> String {
        ([header] + set.listed.map(row)).map { $0.map(cell).joined(separator: ",") + "\r\n" }.joined()
    }

    private static func row(_ session: ReportSession) -> [String] {
        let number = { (measure: Measure) in
            session.values[measure.position].map { value in
                // The value was multiplied by the factor: the quotient is not exact.
                let raw = (value / measure.factor * 1e6).rounded() / 1e6
                return raw == raw.rounded() ? raw.fixed(digits: 0) : "\(raw)"
            } ?? ""
        }
        let values: [String] = [
            WallTime(milliseconds: session.begin).rfc3339, session.key.sender, String(session.key.number),
            session.title,
            session.source, session.ending,
            number(.startTime), String(session.stallCount), number(.rebufferTime), number(.rebufferRatio),
            number(.playTime), number(.bitrate), session.failure?.code ?? "",
            session.failure?.status.map(String.init) ?? "", session.failure?.description ?? "",
            session.lostEvents ?? "",
        ]
        return values + cells(of: session.origin)
    }

    private static func cells(of origin: SessionOrigin) -> [String] {
        [origin.stream ?? "", origin.location ?? "", origin.profile ?? "", origin.host ?? "", origin.labelText]
    }

    /// A quoted cell. A spreadsheet executes a text that begins with `=`, `+`, `-` or `@`, also after white space: an
    /// apostrophe before such a text makes it plain. Controls and invisible characters become visible.
    private static func cell(_ text: String) -> String {
        let visible = TerminalText(text).string
        let first = visible.unicodeScalars.first { !$0.properties.isWhitespace }
        let isNumber = Double(visible) != nil
        let isFormula = first.map { "=+-@\t\r|＝＋－＠".unicodeScalars.contains($0) } ?? false
        let safe = isFormula && !isNumber ? "'" + visible : visible
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}
