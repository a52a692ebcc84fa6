/// Milliseconds for each rendition, in the order of their first times; beyond a limit of renditions: `other`.
///
/// An event adds to the rendition of the event before, nearly always: that costs one comparison and no hash.
struct RenditionTimes: Sendable {
    private static let other = "other"

    private(set) var all: [(name: String, milliseconds: Int)] = []
    private var latest = 0
    private let limit: Int

    /// Creates times of no rendition.
    init(limit: Int) { self.limit = limit }

    /// The milliseconds by the names of the renditions.
    var byName: [String: Int] { Dictionary(all.map { ($0.name, $0.milliseconds) }) { first, _ in first } }

    /// Adds to the time of a rendition.
    mutating func add(_ milliseconds: Int, to rendition: String) {
        if latest >= all.count || all[latest].name != rendition { latest = place(of: rendition) }
        all[latest].milliseconds += milliseconds
    }

    /// The place of a rendition, at most `limit` and that of the others.
    private mutating func place(of rendition: String) -> Int {
        if let known = all.firstIndex(where: { $0.name == rendition }) { return known }
        if all.count >= limit {
            if let known = all.firstIndex(where: { $0.name == Self.other }) { return known }
            all.append((Self.other, 0))
        } else {
            all.append((rendition, 0))
        }
        return all.count - 1
    }
}

extension RenditionTimes: Hashable {
    /// The same times of the same renditions, in any order.
    static func == (left: RenditionTimes, right: RenditionTimes) -> Bool {
        left.all.count == right.all.count && left.byName == right.byName
    }

    func hash(into hasher: inout Hasher) { hasher.combine(byName) }
}
