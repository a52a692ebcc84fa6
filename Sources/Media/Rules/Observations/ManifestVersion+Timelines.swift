internal import Instrument
internal import InstrumentManifests
internal import InstrumentXML

extension ManifestVersion {
    /// Each timeline once, even if several representations inherit it.
    static func timelines(_ periods: [Period]) -> [Timeline] {
        var timelines: [Timeline] = []
        for (position, period) in periods.enumerated() {
            // The places of the timelines that the representations of the period, or of the set, inherit.
            var ofPeriod: Int?
            for set in period.sets {
                var ofSet: Int?
                for representation in set.all("Representation") {
                    let levels = [representation, set, period.element]
                    guard let (found, level) = timeline(levels) else { continue }
                    // The level says whose timeline it is; a line does not, because an MPD may be one line.
                    let known = level == 1 ? ofSet : level == 2 ? ofPeriod : nil
                    let place = known ?? timelines.count
                    if known == nil { timelines.append(read(found, levels, position)) }
                    if level == 1 { ofSet = place } else if level == 2 { ofPeriod = place }
                    if let id = representation["id"] { timelines[place].representations.append(id) }
                }
            }
        }
        return timelines
    }

    private static let kinds = ["SegmentTemplate", "SegmentList"]

    private static func timeline(_ levels: [MarkupElement]) -> (MarkupElement, level: Int)? {
        for (level, element) in levels.enumerated() {
            for kind in kinds {
                if let found = element.first(kind)?.first("SegmentTimeline") { return (found, level) }
            }
        }
        return nil
    }

    private static func read(_ element: MarkupElement, _ levels: [MarkupElement], _ period: Int) -> Timeline {
        func inherited(_ name: String) -> Int64? {
            for level in levels {
                for kind in kinds { if let value = level.first(kind)?.integer(name) { return value } }
            }
            return nil
        }
        var entries: [Timeline.Entry] = []
        var next: Int64? = 0
        for entry in element.all("S") {
            guard let duration = entry.integer("d"), duration > 0 else { continue }
            let written = entry.integer("t")
            let repeats = entry.word("r") ?? "0"
            let count = repeats.hasPrefix("-") ? nil : (DecimalText.integer(repeats) ?? 0).saturatingAdd(1)
            entries.append(
                Timeline.Entry(
                    start: written ?? next ?? 0,
                    hasStart: written != nil,
                    duration: duration,
                    count: count,
                    line: entry.line
                )
            )
            next = entries.last?.end
        }
        return Timeline(
            period: period,
            timescale: max(1, inherited("timescale") ?? 1),
            offset: inherited("presentationTimeOffset") ?? 0,
            entries: entries,
            isMedia: isMedia(levels),
            line: element.line
        )
    }

    /// Whether the first of the levels that says something says pictures or sound; true if none does.
    private static func isMedia(_ levels: [MarkupElement]) -> Bool {
        for level in levels {
            for attribute in ["contentType", "mimeType"] {
                guard let kind = level[attribute]?.prefix(while: { $0 != "/" }), !kind.isEmpty else { continue }
                return kind == "video" || kind == "audio"
            }
        }
        return true
    }
}
