internal import InstrumentPageDesign

/// The figures of groups of sessions, those with the largest share of failures first.
enum GroupSection {
    /// The titles of the columns behind those of the dimensions.
    static let columns = ["Sessions", "Failed", "Start time, median", "Rebuffer ratio", "Average bitrate, median"]

    static func html(_ groups: SessionGroups) -> HTML {
        if groups.dimensions.isEmpty { return "" }
        let heads = (groups.dimensions.map(\.name) + columns).map { title -> HTML in
            "<th scope=\"col\"><bdi>\(title)</bdi></th>"
        }
        let rows = groups.sorted.map { group -> HTML in
            let values = Self.names(of: group, count: groups.dimensions.count)
            let names = zip(groups.dimensions.map(\.name), values).map { title, name -> HTML in
                "<td data-t=\"\(title)\"><bdi>\(PageDesign.cut(name, to: 80))</bdi></td>"
            }
            let cells = zip(columns, cells(of: group)).map { title, cell -> HTML in
                "<td data-t=\"\(title)\">\(cell)</td>"
            }
            return "<tr>\(names.joined())\(cells.joined())</tr>"
        }
        return """
            <section aria-labelledby="groups">
            <h2 id="groups">Sessions by \(groups.dimensions.map(\.name).joined(separator: ", "))</h2>
            <div class="scroll" role="region" aria-labelledby="groups" tabindex="0">
            <table class="left stacked">
            <thead><tr>\(heads.joined())</tr></thead>
            <tbody>\(rows.joined())</tbody>
            </table>
            </div>
            </section>
            """
    }

    /// The names of a group, one for each dimension.
    static func names(of group: SessionGroups.Group, count: Int) -> [String] {
        group.names + Array(repeating: "", count: max(0, count - group.names.count))
    }

    /// The figures of a group, in the order of ``columns``.
    static func cells(of group: SessionGroups.Group) -> [String] {
        let share = Decimal.percent(group.failures, of: group.counts.sessions)
        return [
            "\(group.counts.sessions)", "\(group.failures) (\(share))",
            group.startTime.map(Measure.startTime.text) ?? "–",
            group.rebufferRatio.map(Measure.rebufferRatio.text) ?? "–", group.bitrate.map(Measure.bitrate.text) ?? "–",
        ]
    }
}
