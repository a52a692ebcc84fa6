import Foundation

/// How cost grows with the number of streams, as a picture: processor time and memory a stream over the count, the
/// latter on a logarithmic scale.
struct CostPlot {
    private let rows: [Row]
    private let width = 640.0
    private let height = 260.0
    private let margin = 60.0

    init(_ rows: [Row]) { self.rows = rows.sorted { $0.count < $1.count } }

    var svg: String {
        let panels = [
            panel("CPU-s per stream-minute", "#1f6fb2", \.processorSeconds, limit: 0.05, at: 0),
            panel("MB per stream", "#b2521f", \.megabytes, limit: 1.2, at: height),
        ]
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height * 2))" \
            font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>
            \(panels.joined(separator: "\n"))
            </svg>

            """
    }

    private func panel(_ title: String, _ colour: String, _ value: KeyPath<Row, Double>, limit: Double, at top: Double)
        -> String
    {
        let most = max(rows.map { $0[keyPath: value] }.max() ?? 1, limit) * 1.15
        let last = log10(Double(max(rows.last?.count ?? 10, 10)))
        func x(_ count: Int) -> Double { margin + log10(Double(max(count, 1))) / last * (width - 2 * margin) }
        func y(_ value: Double) -> Double { top + height - 40 - value / most * (height - 80) }
        func number(_ value: Double) -> String { String(format: "%.1f", value) }
        let points = rows.map { "\(number(x($0.count))),\(number(y($0[keyPath: value])))" }
        var parts = ["<text x=\"\(margin)\" y=\"\(top + 22)\" font-weight=\"bold\">\(title)</text>"]
        parts.append(
            "<line x1=\"\(margin)\" x2=\"\(width - margin)\" y1=\"\(number(y(0)))\" y2=\"\(number(y(0)))\" stroke=\"#888\"/>"
        )
        parts.append(
            "<line x1=\"\(margin)\" x2=\"\(width - margin)\" y1=\"\(number(y(limit)))\" y2=\"\(number(y(limit)))\" stroke=\"#888\" "
                + "stroke-dasharray=\"4 4\"/><text x=\"\(width - margin + 4)\" y=\"\(number(y(limit) + 4))\">aim \(limit)</text>"
        )
        parts.append(
            "<polyline points=\"\(points.joined(separator: " "))\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>"
        )
        for row in rows {
            let (x, y) = (x(row.count), y(row[keyPath: value]))
            parts.append("<circle cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"3.5\" fill=\"\(colour)\"/>")
            parts.append(
                "<text x=\"\(number(x))\" y=\"\(number(y - 8))\" text-anchor=\"middle\">\(String(format: "%.3f", row[keyPath: value]))</text>"
            )
            parts.append(
                "<text x=\"\(number(x))\" y=\"\(number(top + height - 24))\" text-anchor=\"middle\">\(row.count)</text>"
            )
        }
        return parts.joined(separator: "\n")
    }
}
