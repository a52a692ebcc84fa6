internal import InstrumentPageDesign

/// The filters of the table of sessions by where sessions come from: the stream, the place of the monitor, the profile
/// of the player, the host, and each label that differs between sessions.
///
/// Values are text from outside: they stand in options alone, and rows name them by number.
struct SessionFilters {
    /// Filters of a page; labels beyond them are found by the text filter of the command line.
    static let mostFilters = 10
    /// Choices of a filter: the most frequent values.
    static let mostChoices = 100

    private struct Filter {
        var dimension: SessionDimension
        /// The numbers of the values by value.
        var numbers: [String: Int]
        /// The values in the order of their numbers.
        var values: [String]
    }

    private let filters: [Filter]

    init(_ sessions: [ReportSession]) {
        let labels = Set(sessions.flatMap { $0.origin.labels.keys }).sorted()
        let dimensions: [SessionDimension] = [.stream, .location, .profile, .host] + labels.map { .label($0) }
        var filters: [Filter] = []
        for dimension in dimensions where filters.count < Self.mostFilters {
            var counts: [String: Int] = [:]
            for session in sessions { counts[dimension.value(of: session), default: 0] += 1 }
            // A filter with one choice selects nothing.
            guard counts.count > 1 else { continue }
            let frequent = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.mostChoices)
            let values = frequent.map(\.key).sorted()
            let numbers = Dictionary(values.enumerated().map { ($1, $0) }) { first, _ in first }
            filters.append(Filter(dimension: dimension, numbers: numbers, values: values))
        }
        self.filters = filters
    }

    /// The choices, for the head of the table.
    var html: HTML {
        filters.map { filter -> HTML in
            let options = filter.values.enumerated().map { number, value -> HTML in
                "<option value=\"\(number)\">\(value.isEmpty ? "–" : PageDesign.cut(value, to: 60))</option>"
            }
            return """
                <label><bdi>\(PageDesign.cut(filter.dimension.name, to: 40))</bdi> <select class="from"><option value="">all</option>\
                \(options.joined())</select></label>

                """
        }.joined()
    }

    /// The numbers of a session's values, one for each filter, separated by commas; empty for a value without a choice.
    func numbers(of session: ReportSession) -> String {
        filters.map { filter in filter.numbers[filter.dimension.value(of: session)].map(String.init) ?? "" }
            .joined(separator: ",")
    }
}
