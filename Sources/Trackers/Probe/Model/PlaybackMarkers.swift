internal import Instrument

/// The markers ahead of the playhead, by their positions. A stream can announce any number of them at one position, so
/// each operation of a playing playhead takes constant time.
struct PlaybackMarkers: Hashable, Sendable {
    /// In order; a slice, from whose start a marker goes without moving the others.
    private var ahead: ArraySlice<PlaybackMarker> = []
    /// The first marker that holds the playhead.
    private(set) var firstHold: PlaybackMarker?

    init() {}

    init(_ markers: some Sequence<PlaybackMarker>) {
        ahead = markers.sorted { ($0.position, $0.id) < ($1.position, $1.id) }[...]
        firstHold = ahead.first(where: \.holds)
    }

    var first: PlaybackMarker? { ahead.first }

    /// The first marker at the end of the media, wherever the end is; no other marker is behind those at the end.
    var firstAtEnd: PlaybackMarker? {
        guard ahead.last?.position == PlaybackMarker.endPosition else { return nil }
        return ahead[place(of: PlaybackMarker.endPosition)]
    }

    /// Takes away the markers before a position.
    mutating func drop(before position: Int64) {
        ahead = ahead[place(of: position)...]
        if let hold = firstHold, hold.position < position { firstHold = ahead.first(where: \.holds) }
    }

    /// Takes away one marker.
    mutating func remove(_ marker: PlaybackMarker) {
        if ahead.first == marker {
            ahead.removeFirst()
        } else if let place = ahead[place(of: marker.position)...].firstIndex(of: marker) {
            ahead.remove(at: place)
        }
        if firstHold == marker { firstHold = ahead.first(where: \.holds) }
    }

    /// The place of the first marker at a position or behind it.
    private func place(of position: Int64) -> Int { ahead.partitioningIndex { $0.position >= position } }
}
