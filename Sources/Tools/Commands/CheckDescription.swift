internal import Instrument
internal import InstrumentCheck
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentRules
internal import InstrumentTerminal
internal import InstrumentText

/// A stream as a check understood it, as JSON (docs/check-schema.md).
enum DescriptionJSON {
    static func value(of stream: StreamDescription) -> JSONValue {
        [
            "kind": .string(stream.kind.rawValue),
            "duration": seconds(stream.duration),
            "targetLatency": seconds(stream.targetLatency),
            "window": seconds(stream.window),
            "liveEdge": date(stream.liveEdge),
            "variants": .array(stream.variants.map(variant)),
            "renditions": .array(stream.renditions.map(rendition)),
            "periods": .array(stream.periods.map(period)),
            "eventSchemes": .object(stream.eventSchemes.mapValues { .int($0) }),
            "steered": .bool(stream.isSteered),
        ]
    }

    private static func variant(_ variant: StreamDescription.Variant) -> JSONValue {
        [
            "id": .string(variant.id),
            "bandwidth": number(variant.bandwidth),
            "averageBandwidth": number(variant.averageBandwidth),
            "width": variant.width.map { .int($0) } ?? .null,
            "height": variant.height.map { .int($0) } ?? .null,
            "frameRate": variant.frameRate.map { .double($0) } ?? .null,
            "codecs": strings(variant.codecs),
            "rendition": .string(variant.rendition),
            "audio": strings(variant.audio),
            "subtitles": strings(variant.subtitles),
        ]
    }

    private static func rendition(_ rendition: StreamDescription.Rendition) -> JSONValue {
        var value: [String: JSONValue] = [
            "name": .string(rendition.name),
            "kind": .string(rendition.kind),
            "language": text(rendition.language),
            "title": text(rendition.title),
            "default": .bool(rendition.isDefault),
            "forced": .bool(rendition.isForced),
            "container": text(rendition.container),
            "codecs": strings(rendition.codecs),
            "bandwidth": number(rendition.bandwidth),
            "encryption": strings(rendition.encryption),
            "initialization": .bool(rendition.hasInitialization),
        ]
        value["segments"] = rendition.segmentCount.map { .int($0) } ?? .null
        value["firstSequence"] = number(rendition.firstSequence)
        value["lastSequence"] = number(rendition.lastSequence)
        value["duration"] = seconds(rendition.duration)
        value["targetDuration"] = seconds(rendition.segmentCount == nil ? nil : rendition.targetDuration)
        value["longestSegment"] = seconds(rendition.longestSegment)
        value["discontinuities"] = .int(rendition.discontinuityCount)
        value["gaps"] = .int(rendition.gapCount)
        value["parts"] = .int(rendition.partCount)
        value["partTarget"] = seconds(rendition.partTarget)
        value["holdBack"] = seconds(rendition.holdBack)
        value["liveEdge"] = date(rendition.liveEdge)
        value["adBreaks"] = .int(rendition.adBreakCount)
        return .object(value)
    }

    private static func period(_ period: StreamDescription.Period) -> JSONValue {
        ["id": text(period.id), "start": seconds(period.start), "end": seconds(period.end)]
    }

    private static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    private static func strings(_ values: [String]) -> JSONValue { .array(values.map { .string($0) }) }
    private static func number(_ value: Int64?) -> JSONValue { value.map { .int(Int($0)) } ?? .null }
    private static func date(_ value: WallTime?) -> JSONValue { value.map { .string($0.rfc3339) } ?? .null }
    private static func seconds(_ value: Int64?) -> JSONValue { value.map { .double(Double($0) / 1e9) } ?? .null }
}

/// A stream as a check understood it, as tables for people.
enum DescriptionText {
    static func lines(of stream: StreamDescription) -> [TerminalText] {
        var lines: [TerminalText] = ["  " + head(of: stream)]
        lines += table([["variant", "kbit/s", "size", "fps", "codecs", "rendition"]] + stream.variants.map(variant))
        lines += table(
            [["rendition", "kind", "language", "segments", "from", "to", "seconds", "target", "encryption"]]
                + stream.renditions.map(rendition)
        )
        if stream.periods.count > 1 {
            lines += table(
                [["period", "start", "end"]]
                    + stream.periods.map { period in
                        ["\(period.id ?? "-")", "\(period.start.shownSeconds)", "\(shown(period.end))"]
                    }
            )
        }
        return lines
    }

    private static func head(of stream: StreamDescription) -> TerminalText {
        var parts = ["\(stream.kind.rawValue)"]
        if let duration = stream.duration { parts.append("duration \(duration.shownSeconds)") }
        if let window = stream.window { parts.append("window \(window.shownSeconds)") }
        if let latency = stream.targetLatency { parts.append("target latency \(latency.shownSeconds)") }
        if let edge = stream.liveEdge { parts.append("live edge \(edge.rfc3339)") }
        let breaks = stream.renditions.map(\.adBreakCount).max() ?? 0
        if breaks > 0 { parts.append(String(counting: breaks, "ad break")) }
        for (scheme, count) in stream.eventSchemes.sorted(by: { $0.key < $1.key }) {
            parts.append("\(String(counting: count, "event")) of \(scheme)")
        }
        if stream.isSteered { parts.append("steered") }
        return TerminalText(parts.joined(separator: ", "))
    }

    private static func variant(_ variant: StreamDescription.Variant) -> [TerminalText] {
        let rung = variant.bandwidth.map { "\($0 / 1_000)" } ?? "-"
        let size = variant.width.flatMap { width in variant.height.map { "\(width)x\($0)" } } ?? "-"
        let rate = variant.frameRate.map { "\(($0 * 1_000).rounded() / 1_000)" } ?? "-"
        let codecs = variant.codecs.isEmpty ? "-" : variant.codecs.joined(separator: ",")
        return [
            "\(variant.id)", "\(rung)", "\(size)", "\(rate)", "\(codecs)", "\(variant.rendition)",
        ]
    }

    private static func rendition(_ rendition: StreamDescription.Rendition) -> [TerminalText] {
        let target = rendition.segmentCount == nil ? nil : rendition.targetDuration
        let encryption = rendition.encryption.isEmpty ? "-" : rendition.encryption.joined(separator: ",")
        return [
            "\(rendition.name)", "\(rendition.kind)", "\(rendition.language ?? "-")",
            "\(rendition.segmentCount.map(String.init) ?? "-")",
            "\(rendition.firstSequence.map(String.init) ?? "-")", "\(rendition.lastSequence.map(String.init) ?? "-")",
            "\(shown(rendition.duration))", "\(shown(target))", "\(encryption)",
        ]
    }

    private static func shown(_ nanoseconds: Int64?) -> String { nanoseconds?.shownSeconds ?? "-" }

    private static func table(_ rows: [[TerminalText]]) -> [TerminalText] {
        ColumnTable(rows).lines.map { "    " + $0 }
    }
}
