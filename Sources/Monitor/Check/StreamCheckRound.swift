internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
package import InstrumentRules

/// The state of a stream after one round of a check: the start, or a reload of its playlists.
package struct StreamCheckRound: Sendable {
    /// The rules that were broken in this round in the order of the rules, each with its latest violation.
    package var broken: [Finding] = []
    /// Black, frozen and silent intervals that last, or ended in this round.
    package var media: [MediaFinding] = []
    /// How long the live playlist or timeline that is oldest, measured by its target duration, has had no new segment;
    /// nil for a stream that is not live, and for an MPD whose segments follow from the time alone.
    package var playlistAge: Duration?
    /// The target duration of that playlist; for an MPD the longest time for which no segment may be added. Nil without
    /// an age.
    package var targetDuration: Duration?
    /// The short-term loudness of the latest three seconds of sound, in LUFS; nil without a check of loudness, and
    /// before three seconds of sound.
    package var loudness: Double?
    /// Whether the playlist or MPD of the address was ever read.
    package var isReadable = false
    /// What is kept of the faults that begin in this round, by the rule or the kind of the finding.
    package var evidence: [String: [CheckEvidence]] = [:]
    /// What the playlist or manifest declares and rarely changes, by subject; empty before the first one.
    package internal(set) var outline: [String: Set<String>] = [:]
    /// The live playlists by rendition, or the timelines of the MPD.
    package private(set) var livePlaylists: [String: LivePlaylist] = [:]

    /// Creates a round in which nothing was found.
    package init() {}

    /// Takes live playlists; the age of the round is that of the one that exceeds its target duration most.
    package mutating func take(_ playlists: [String: LivePlaylist]) {
        livePlaylists = playlists
        let oldest = playlists.values.max { $0.age / $0.targetDuration < $1.age / $1.targetDuration }
        (playlistAge, targetDuration) = (oldest?.age, oldest?.targetDuration)
    }
}

/// How long a live playlist or a timeline of an MPD has had no new segment.
package struct LivePlaylist: Hashable, Sendable {
    /// The newest segment: the same as long as none is added.
    package var edge: String
    /// From the first to the latest response with this segment: a response that does not come says nothing.
    package var age: Duration
    /// Above zero.
    package var targetDuration: Duration

    package init(edge: String, age: Duration, targetDuration: Duration) {
        (self.edge, self.age, self.targetDuration) = (edge, age, targetDuration)
    }
}

/// Derives what is new in a round from the sums of a check.
struct RoundCounter {
    private var counts: [Rule.ID: Int] = [:]
    private var endedIntervals: [MediaFinding.Kind: Int] = [:]

    mutating func round(
        _ run: RuleRun,
        _ renditions: [CheckedRendition],
        _ media: MediaCheck?
    ) -> StreamCheckRound {
        var round = StreamCheckRound()
        round.isReadable = run.history.presentation != nil
        round.outline = StreamOutline.values(of: run.history)
        addBroken(run, to: &round)
        addMedia(media, to: &round)
        addAge(run, renditions, to: &round)
        return round
    }

    private mutating func addBroken(_ run: RuleRun, to round: inout StreamCheckRound) {
        for rule in run.rules {
            guard let sum = run.sums[rule.id], sum.count > counts[rule.id] ?? 0 else { continue }
            round.broken.append(sum.latest)
        }
        counts = run.sums.mapValues(\.count)
    }

    private mutating func addMedia(_ media: MediaCheck?, to round: inout StreamCheckRound) {
        guard let media else { return }
        round.media = media.current
        round.loudness = media.shortTermLoudness
        for kind in MediaFinding.Kind.allCases {
            let ended = media.endedCounts[kind] ?? 0
            let hasEnded = ended > endedIntervals[kind] ?? 0
            endedIntervals[kind] = ended
            guard hasEnded, !round.media.contains(where: { $0.kind == kind }), let finding = media.latest(kind),
                kind != .freeze || !media.isBlack(during: finding)
            else { continue }
            round.media.append(finding)
        }
    }

    private func addAge(_ run: RuleRun, _ renditions: [CheckedRendition], to round: inout StreamCheckRound) {
        var playlists: [String: LivePlaylist] = [:]
        let add = { (name: String, edge: String, since: MonotonicInstant?, seen: MonotonicInstant?, target: Int64) in
            guard let since, let seen, target > 0 else { return }
            let age = since.duration(to: seen)
            playlists[name] = LivePlaylist(edge: edge, age: age, targetDuration: .nanoseconds(target))
        }
        if let manifest = run.history.manifest {
            for edge in manifest.edges {
                let since = run.history.edgeInstants[edge.id]
                add(edge.name, edge.id, since, manifest.fetched.instant, edge.patience)
            }
        } else {
            for rendition in renditions where rendition.isLive && rendition.playlistURL != nil {
                guard let history = run.history.rendition(rendition.name), let current = history.current else {
                    continue
                }
                add(rendition.name, current.edge, history.edgeSince, current.fetched.instant, rendition.targetDuration)
            }
        }
        round.take(playlists)
    }
}
