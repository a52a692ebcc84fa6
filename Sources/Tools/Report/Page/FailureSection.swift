internal import InstrumentPageDesign

/// The failed sessions, grouped by cause.
enum FailureSection {
    static func html(_ set: SessionSet) -> HTML {
        let causes = set.sortedCauses
        guard !causes.isEmpty else {
            return """
                <section aria-labelledby="failures">
                <h2 id="failures">Failures</h2>
                <p>No session failed.</p>
                </section>
                """
        }
        let rows = causes.map { cause, count -> HTML in
            """
            <tr><td data-t="sessions">\(count)</td>\
            <td data-t="share">\(Decimal.percent(count, of: set.estimated.sessions))</td>\
            <td data-t="when">\(cause.hasStarted ? "during playback" : "before the start")</td>\
            <td data-t="code"><bdi>\(cause.code ?? "–")</bdi></td>\
            <td data-t="HTTP status">\(cause.status.map(String.init) ?? "–")</td>\
            <td class="wide"><bdi>\(cause.description)</bdi></td></tr>
            """
        }
        return """
            <section aria-labelledby="failures">
            <h2 id="failures">Failures by cause</h2>
            <div class="scroll" role="group" aria-labelledby="failures" tabindex="0">
            <table class="left stacked">
            <thead><tr><th scope="col">Sessions</th><th scope="col">Share</th><th scope="col">When</th><th scope="col">Code</th>\
            <th scope="col">HTTP status</th><th scope="col">Description</th></tr></thead>
            <tbody>\(rows.joined())</tbody>
            </table>
            </div>
            </section>
            """
    }
}
