internal import InstrumentPageDesign
internal import InstrumentText

/// The distributions of the measures, drawn as SVG.
enum ChartSection {
    private static let (width, height) = (360.0, 200.0)
    private static let (left, right, top, bottom) = (44.0, 8.0, 10.0, 40.0)

    static func html(_ set: SessionSet, _ other: SessionSet?) -> HTML {
        let figures = Measure.charted.map { figure($0, set, other) }
        return """
            <section aria-labelledby="distributions">
            <h2 id="distributions">Distributions</h2>
            <p>Each bar is the share of sessions with a value in its range.\(other == nil ? "" : " The outlined bars are the other set.")</p>
            <div class="charts">
            \(figures.joined())
            </div>
            </section>
            """
    }

    private static func figure(_ measure: Measure, _ set: SessionSet, _ other: SessionSet?) -> HTML {
        let histogram = Histogram(measure, set.values[measure.position], other?.values[measure.position] ?? [])
        guard !histogram.bins.isEmpty else {
            return "<figure><figcaption>\(measure.title)</figcaption><p>No session has a value.</p></figure>"
        }
        let summary = [0.5, 0.95].compactMap { share in
            set.quantile(share, of: measure).map { (share == 0.5 ? "median " : "95th percentile ") + measure.text($0) }
        }
        let description = "\(Decimal.count(histogram.count, "session")); " + summary.joined(separator: ", ")
        return """
            <figure>
            <figcaption>\(measure.title) <span class="note">\(description)</span></figcaption>
            \(svg(histogram, hasOther: other != nil, title: measure.title, description: description))
            \(table(histogram, hasOther: other != nil))
            </figure>
            """
    }

    /// The same numbers for people who do not see the picture.
    private static func table(_ histogram: Histogram, hasOther: Bool) -> HTML {
        let rows = histogram.bins.map { bin -> HTML in
            let other: HTML = hasOther ? "<td>\(bin.otherCount)</td>" : ""
            return "<tr><th scope=\"row\">\(histogram.label(of: bin))</th><td>\(bin.count)</td>\(other)</tr>"
        }
        let head: HTML = hasOther ? "<th scope=\"col\">Other set</th>" : ""
        return """
            <details><summary>Numbers</summary>
            <table><thead><tr><th scope="col">Range</th><th scope="col">Sessions</th>\(head)</tr></thead>
            <tbody>\(rows.joined())</tbody></table></details>
            """
    }

    private static func svg(_ histogram: Histogram, hasOther: Bool, title: String, description: String) -> HTML {
        let shares = histogram.bins.map { histogram.shares(of: $0) }
        let most = max(shares.map { max($0.this, $0.other) }.max() ?? 0, 0.01)
        let scale = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1].first { $0 >= most } ?? 1
        let step = (width - left - right) / Double(histogram.bins.count)
        let (base, room) = (height - bottom, height - bottom - top)
        var marks: HTML = ""
        for line in 0...2 {
            let y = base - room * Double(line) / 2
            marks += """
                <line class="grid" x1="\(number(left))" x2="\(number(width - right))" y1="\(number(y))" y2="\(number(y))"/>\
                <text class="axis" x="\(number(left - 6))" y="\(number(y + 4))" text-anchor="end">\
                \(percent(scale * Double(line) / 2))</text>
                """
        }
        for (index, bin) in histogram.bins.enumerated() {
            let (x, share) = (left + step * Double(index), shares[index])
            let bar = room * share.this / scale
            marks += """
                <rect class="bar" x="\(number(x + 1))" width="\(number(max(1, step - 2)))" y="\(number(base - bar))" \
                height="\(number(bar))"><title>\(histogram.label(of: bin)): \(bin.count) sessions</title></rect>
                """
            if hasOther {
                let outline = room * share.other / scale
                marks += """
                    <rect class="other" x="\(number(x + 2))" width="\(number(max(1, step - 4)))" y="\(number(base - outline))" \
                    height="\(number(outline))"><title>other set, \(histogram.label(of: bin)): \(bin.otherCount) sessions</title></rect>
                    """
            }
            marks += label(histogram, index, x)
        }
        return """
            <svg class="chart" viewBox="0 0 \(number(width)) \(number(height))" role="img">\
            <title>\(title)</title><desc>\(description)</desc>\(marks)\
            <text class="axis" x="\(number((left + width - right) / 2))" y="\(number(height - 4))" text-anchor="middle">\
            \(histogram.measure.unit)</text></svg>
            """
    }

    /// The lower bound of every fourth bin, and of the last one.
    private static func label(_ histogram: Histogram, _ index: Int, _ x: Double) -> HTML {
        let isLast = index == histogram.bins.count - 1 && histogram.bins[index].high == nil
        guard index % 3 == 0 || isLast else { return "" }
        let text = (isLast ? "≥" : "") + histogram.short(histogram.bins[index].low)
        let anchor: HTML = isLast ? "start" : "middle"
        return """
            <text class="axis" x="\(number(x))" y="\(number(height - bottom + 16))" text-anchor="\(anchor)">\(text)</text>
            """
    }

    private static func percent(_ share: Double) -> String { (100 * share).fixed(digits: 0) + " %" }

    /// A coordinate with one digit.
    private static func number(_ value: Double) -> HTML { HTML(trusted: value.fixed(digits: 1)) }
}
