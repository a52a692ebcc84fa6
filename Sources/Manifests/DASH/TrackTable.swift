internal import Instrument

/// The tracks of a period, indexed so that the track that continues a track of another period is found without a
/// search through all tracks.
struct TrackTable {
    /// The properties that tracks must share; nil matches every value.
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
        /// The first track of each bitrate, from the lowest to the highest once sorted.
        var rates: [(bandwidth: Int64, track: Int)] = []
        private var known: Set<Int64> = []

        mutating func add(_ track: Track, at place: Int) {
            if byID[track.id] == nil { byID[track.id] = place }
            if known.insert(track.bandwidth).inserted { rates.append((track.bandwidth, place)) }
        }

        mutating func sort() { rates.sort { $0.bandwidth < $1.bandwidth } }

        /// Returns the track with the highest bitrate up to `bandwidth`, else the track with the lowest.
        func nearest(to bandwidth: Int64) -> Int? {
            let above = rates.partitioningIndex { $0.bandwidth > bandwidth }
            return rates.isEmpty ? nil : rates[max(0, above - 1)].track
        }
    }

    private var groups: [Key: Group] = [:]

    init(_ tracks: [Track]) {
        for (place, track) in tracks.enumerated() {
            for key in Self.keys(of: track) { groups[key, default: Group()].add(track, at: place) }
        }
        for key in groups.keys { groups[key]?.sort() }
    }

    /// From all properties in common to only the kind in common.
    private static func keys(of track: Track) -> [Key] {
        [
            Key(kind: track.kind, language: .only(track.language), roles: .only(track.roles)),
            Key(kind: track.kind, language: .only(track.language)),
            Key(kind: track.kind, roles: .only(track.roles)),
            Key(kind: track.kind),
        ]
    }

    /// Returns the position of the same representation, else of the nearest one with the same kind, role and
    /// language.
    func match(_ track: Track) -> Int? {
        let keys = Self.keys(of: track)
        // The language counts before the role: without a track in this language, all languages are candidates.
        let candidates = groups[keys[1]] != nil ? keys[..<2] : keys[2...]
        let group = candidates.lazy.compactMap { groups[$0] }.first
        return group?.byID[track.id] ?? group?.nearest(to: track.bandwidth)
    }
}
