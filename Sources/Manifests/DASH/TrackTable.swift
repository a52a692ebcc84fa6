/// The tracks of a period, arranged so that the one that continues a track of another period is found without a
/// search through all of them.
struct TrackTable {
    /// What tracks have to have in common; what is nil does not count.
    private struct Key: Hashable {
        var kind: Rendition.Kind
        var language: Wanted<String?> = .any
        var roles: Wanted<[String]> = .any
    }

    private enum Wanted<Value: Hashable>: Hashable {
        case any
        case only(Value)
    }

    /// Tracks with the same key.
    private struct Group {
        /// The first track of each `@id`.
        var byID: [String: Int] = [:]
        /// The first track of each bit rate, from the lowest rate to the highest once it is sorted.
        var rates: [(bandwidth: Int64, track: Int)] = []
        private var known: Set<Int64> = []

        mutating func add(_ track: Track, at place: Int) {
            if byID[track.id] == nil { byID[track.id] = place }
            if known.insert(track.bandwidth).inserted { rates.append((track.bandwidth, place)) }
        }

        mutating func sort() { rates.sort { $0.bandwidth < $1.bandwidth } }

        /// The track with the nearest bit rate that is not above `bandwidth`, else the one with the lowest.
        func nearest(to bandwidth: Int64) -> Int? {
            var (low, high) = (0, rates.count)
            while low < high {
                let middle = (low + high) / 2
                if rates[middle].bandwidth <= bandwidth { low = middle + 1 } else { high = middle }
            }
            return rates.isEmpty ? nil : rates[max(0, low - 1)].track
        }
    }

    private var groups: [Key: Group] = [:]

    init(_ tracks: [Track]) {
        for (place, track) in tracks.enumerated() {
            for key in Self.keys(of: track) { groups[key, default: Group()].add(track, at: place) }
        }
        for key in groups.keys { groups[key]?.sort() }
    }

    /// From what has all in common to what has nothing but the kind.
    private static func keys(of track: Track) -> [Key] {
        [
            Key(kind: track.kind, language: .only(track.language), roles: .only(track.roles)),
            Key(kind: track.kind, language: .only(track.language)),
            Key(kind: track.kind, roles: .only(track.roles)),
            Key(kind: track.kind),
        ]
    }

    /// The place of the same representation, else of the one of the same kind, role and language that comes nearest.
    func match(_ track: Track) -> Int? {
        let keys = Self.keys(of: track)
        // The language counts before the role: one that nobody speaks here leaves all languages to choose from.
        let candidates = groups[keys[1]] != nil ? keys[..<2] : keys[2...]
        let group = candidates.lazy.compactMap { groups[$0] }.first
        return group?.byID[track.id] ?? group?.nearest(to: track.bandwidth)
    }
}
