internal import Instrument
internal import InstrumentProbe
internal import InstrumentText

/// Bitrate and buffer over time, a panel for each rule, as SVG.
///
/// Grey: the network's bandwidth. Blue: the bitrate of the fetched segments. Orange: the buffer. Red: stalls.
struct AdaptationPlot {
    private static let (width, height, left, top) = (1000.0, 150.0, 110.0, 24.0)
    private let rows: [AdaptationRow]
    private let trace: BandwidthTrace
    private let seconds: Double
    private let bitrate: Double
    private let buffer: Double

    init(_ rows: [AdaptationRow], trace: BandwidthTrace, media: SegmentedMedia) {
        self.rows = rows
        self.trace = trace
        seconds = max(1, rows.map { $0.result.totalTime.seconds }.max() ?? 1)
        bitrate = Double(media.ladder[media.ladder.highest].peakBitrate) * 1.1
        let levels = rows.flatMap(\.result.segments).map { $0.levelAfter.seconds }
        buffer = max(1, levels.max() ?? 1) * 1.1
    }

    var svg: String {
        let total = Double(rows.count) * (Self.height + 20) + Self.top + 10
        let panels = rows.enumerated().map { panel($1, y: Self.top + Double($0) * (Self.height + 20)) }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.text(Self.width + Self.left + 10)) \(Self.text(total))" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            <text x="4" y="15">\(Markup.escaped(trace.name)): bitrate (blue, to \(Self.text(bitrate / 1000)) kbit/s), network (grey), \
            buffer (orange, to \(Self.text(buffer)) s), stalls (red), \(Self.text(seconds)) s</text>
            \(panels.joined(separator: "\n"))
            </svg>

            """
    }

    private func panel(_ row: AdaptationRow, y: Double) -> String {
        let stalls = row.result.stalls.map { stall in
            let x = x(stall.start.seconds)
            let width = max(1, self.x((stall.start + stall.duration).seconds) - x)
            return rectangle(x, y, width, "#e33")
        }
        return """
            <rect x="\(Self.text(Self.left))" y="\(Self.text(y))" width="\(Self.text(Self.width))" \
            height="\(Self.text(Self.height))" fill="none" stroke="#ccc"/>
            <text x="4" y="\(Self.text(y + 15))">\(Markup.escaped(row.rule))</text>
            \(stalls.joined())
            \(line(network(y), "#bbb"))
            \(line(fetched(row.result, y), "#26c"))
            \(line(levels(row.result, y), "#e80"))
            """
    }

    private func network(_ y: Double) -> [(Double, Double)] {
        var points: [(Double, Double)] = []
        var time = 0.0
        // More points could not be distinguished.
        while time < seconds, points.count < 4000 {
            for period in trace.periods where time < seconds {
                let end = time + period.duration.seconds
                let height = level(Double(period.bitrate) / bitrate, y)
                points += [(x(time), height), (x(min(end, seconds)), height)]
                time = end
            }
        }
        return points
    }

    private func fetched(_ result: AdaptationResult, _ y: Double) -> [(Double, Double)] {
        result.segments.flatMap { segment -> [(Double, Double)] in
            let height = level(Double(segment.bitrate) / bitrate, y)
            return [(x(segment.requested.seconds), height), (x(segment.arrived.seconds), height)]
        }
    }

    private func levels(_ result: AdaptationResult, _ y: Double) -> [(Double, Double)] {
        result.segments.flatMap { segment -> [(Double, Double)] in
            [
                (x(segment.requested.seconds), level(segment.levelBefore.seconds / buffer, y)),
                (x(segment.arrived.seconds), level(segment.levelAfter.seconds / buffer, y)),
            ]
        }
    }

    private func x(_ time: Double) -> Double { Self.left + Self.width * time / seconds }
    private func level(_ share: Double, _ y: Double) -> Double { y + Self.height * (1 - min(1, share)) }

    private func line(_ points: [(Double, Double)], _ color: String) -> String {
        let text = points.map { "\(Self.text($0.0)),\(Self.text($0.1))" }.joined(separator: " ")
        return "<polyline points=\"\(text)\" fill=\"none\" stroke=\"\(color)\"/>"
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ color: String) -> String {
        "<rect x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" width=\"\(Self.text(width))\" height=\"\(Self.text(Self.height))\" "
            + "fill=\"\(color)\" fill-opacity=\"0.4\"/>"
    }

    private static func text(_ value: Double) -> String { value.fixed(digits: 1) }
}
