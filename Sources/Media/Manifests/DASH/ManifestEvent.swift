internal import Instrument
package import InstrumentXML

/// An event of an MPD (`EventStream/Event`, ISO/IEC 23009-1 section 5.10.2).
package struct ManifestEvent: Hashable, Sendable {
    /// `schemeIdUri` of the stream.
    package var scheme: String
    /// `value` of the stream.
    package var value: String?
    /// `id`; nil if absent.
    package var id: String?
    /// The start on the presentation timeline, in nanoseconds.
    package var start: Int64
    /// The duration in nanoseconds; nil if unknown.
    package var duration: Int64?
    /// `messageData`; nil if absent.
    package var messageData: String?
    /// The line, counted from 1.
    package var line: Int
    /// The event with its content.
    package var element: MarkupElement
    /// Ticks in a second.
    private var timescale: Int64

    /// Nanoseconds of ticks of the stream.
    package func nanoseconds(ticks: Int64) -> Int64 { ticks.nanoseconds(timescale: timescale) }
}

extension ManifestEvent {
    /// The events of a period, up to a limit.
    static func events(of period: DASHManifest.Period, limit: Int) -> [ManifestEvent] {
        var events: [ManifestEvent] = []
        for stream in period.element.all("EventStream") {
            let scheme = stream.word("schemeIdUri") ?? ""
            let timescale = max(1, stream.integer("timescale") ?? 1)
            let offset = stream.integer("presentationTimeOffset") ?? 0
            for element in stream.all("Event") {
                guard events.count < limit else { return events }
                let time = element.integer("presentationTime")
                // An event whose time cannot be read has no place; one without a time is at 0 (section 5.10.2.2).
                if time == nil, element["presentationTime"] != nil { continue }
                let ticks = (time ?? 0).saturatingSubtract(offset)
                events.append(
                    ManifestEvent(
                        scheme: scheme,
                        value: stream.word("value"),
                        id: element.word("id"),
                        start: period.start.saturatingAdd(ticks.nanoseconds(timescale: timescale)),
                        duration: element.integer("duration").map { $0.nanoseconds(timescale: timescale) },
                        messageData: element.word("messageData"),
                        line: element.line,
                        element: element,
                        timescale: timescale
                    )
                )
            }
        }
        return events
    }
}
