internal import Instrument

/// The tracks of a period, indexed so that the track that continues a track of another period is found without a
/// search through all tracks.
struct TrackTable {
    /// The properties that tracks must share; nil matches every value.
    private struct Key: Hashable {
        var kind: Rendition.Kind
        var language: Wanted<String?> = .any
        var roles: Wanted<[String]> = .any
        var family: Wanted<String> = .any
    }

    private enum Wanted<Value: Hashable>: Hashable {
        case any
        case only(Value)
    }

    /// Tracks with the same key.
    private struct Group {
        /// The first track of each `@id`.
        private var byID: [String: (bandwidth: Int64, track: Int)] = [:]
        /// The first track of each bitrate, from the lowest to the highest once sorted.
        private var rates: [(bandwidth: Int64, track: Int)] = []
        private var known: Set<Int64> = []

        mutating func add(_ track: Track, at place: Int) {
            if byID[track.id] == nil { byID[track.id] = (track.bandwidth, place) }
            if known.insert(track.bandwidth).inserted { rates.append((track.bandwidth, place)) }
        }

        mutating func sort() { rates.sort { $0.bandwidth < $1.bandwidth } }

        /// Returns the track with the same `@id` and a similar bitrate. In a period of another origin, such as an ad,
        /// the same `@id` may name any quality, and players choose by the bitrate.
        func same(as track: Track) -> Int? {
            guard let known = byID[track.id] else { return nil }
            let (lower, higher) = (min(known.bandwidth, track.bandwidth), max(known.bandwidth, track.bandwidth))
            return lower <= 0 || higher / 2 <= lower ? known.track : nil
        }

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
        keys(of: track, language: .only(track.language)) + keys(of: track, language: .any)
    }

    private static func keys(of track: Track, language: Wanted<String?>) -> [Key] {
        let (kind, roles, family) = (
            track.kind, Wanted.only(track.roles), Wanted.only(CodecList.family(of: track.codecs))
        )
        return [
            Key(kind: kind, language: language, roles: roles, family: family),
            Key(kind: kind, language: language, roles: roles),
            Key(kind: kind, language: language, family: family),
            Key(kind: kind, language: language),
        ]
    }

    /// Returns the position of the same representation, else of the nearest one with the same kind, language, role and
    /// codecs, in this order: players look for a track of the viewer's language and role in the next period, and for
    /// codecs that they need not change for.
    func match(_ track: Track) -> Int? {
        let group = Self.keys(of: track).lazy.compactMap { groups[$0] }.first
        return group?.same(as: track) ?? group?.nearest(to: track.bandwidth)
    }
}
