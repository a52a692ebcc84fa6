internal import Instrument
internal import InstrumentCheck

/// Continues the ages of live playlists from one run of a check to the next, which knows nothing of the run before.
struct PlaylistAges {
    private struct Known {
        var playlist: LivePlaylist
        var seen: MonotonicInstant
    }

    /// The playlists of the latest round that read any, with their whole ages.
    private var known: [String: Known] = [:]
    /// What the ages of this run lack.
    private var missing: [String: Duration] = [:]
    private var isFirstRound = true

    /// Begins another run.
    mutating func beginRun() { isFirstRound = true }

    /// The round with the whole ages of its playlists.
    mutating func complete(_ round: StreamCheckRound, at now: MonotonicInstant) -> StreamCheckRound {
        guard !round.livePlaylists.isEmpty else { return round }
        var playlists = round.livePlaylists
        for (name, playlist) in round.livePlaylists {
            if let old = known[name], old.playlist.edge == playlist.edge {
                if isFirstRound { missing[name] = old.playlist.age + old.seen.duration(to: now) }
            } else {
                missing[name] = nil
            }
            var whole = playlist
            whole.age += missing[name] ?? .zero
            playlists[name] = whole
        }
        isFirstRound = false
        known = playlists.mapValues { Known(playlist: $0, seen: now) }
        var whole = round
        whole.take(playlists)
        return whole
    }
}
