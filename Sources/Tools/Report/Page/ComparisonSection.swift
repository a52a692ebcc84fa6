internal import InstrumentPageDesign

/// The table of differences between two sets.
enum ComparisonSection {
    static func html(_ comparison: Comparison, _ limits: PageLimits) -> HTML {
        let rows = comparison.rows.map { row -> HTML in
            let mark: HTML = row.isSignificant ? " class=\"significant\"" : ""
            return """
                <tr\(mark)><th scope="row">\(row.title)</th><td>\(row.this)</td><td>\(row.other)</td><td>\(row.difference)</td>\
                <td>\(row.verdict)</td><td>\(row.method)</td></tr>
                """
        }
        let inputs = PageDesign.cut(comparison.other.inputs.joined(separator: ", "), to: limits.source)
        return """
            <section aria-labelledby="comparison">
            <h2 id="comparison">Comparison</h2>
            <p>Against <bdi><code>\(inputs)</code></bdi>: \(comparison.other.count) sessions.</p>
            <div class="scroll" role="group" aria-labelledby="comparison" tabindex="0">
            <table>
            <thead><tr><th scope="col">Quantity</th><th scope="col">This set</th><th scope="col">Other set</th>\
            <th scope="col">Difference</th><th scope="col">Result</th><th scope="col">Test</th></tr></thead>
            <tbody>\(rows.joined())</tbody>
            </table>
            </div>
            <p class="note">\(Comparison.methods)</p>
            </section>
            """
    }
}
