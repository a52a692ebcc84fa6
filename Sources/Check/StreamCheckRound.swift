internal import Instrument
public import InstrumentRules

/// The state of a stream after one round of a check: the start, or a reload of its playlists.
public struct StreamCheckRound: Sendable {
    /// The rules that were broken in this round, the findings of each rule joined to one.
    public var broken: [Finding] = []
    /// Black, frozen and silent intervals that last, or ended in this round.
    public var media: [MediaFinding] = []
    /// How long the live playlist or MPD that changed least recently has been the same; nil for a stream that is not
    /// live.
    public var playlistAge: Duration?
    /// The target duration of that playlist; nil for a stream that is not live.
    public var targetDuration: Duration?
    /// Whether the playlist or MPD of the address was ever read.
    public var isReadable = false

    /// Creates a round in which nothing was found.
    public init() {}
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
        addBroken(run, to: &round)
        addMedia(media, to: &round)
        addAge(run, renditions, to: &round)
        return round
    }

    private mutating func addBroken(_ run: RuleRun, to round: inout StreamCheckRound) {
        var (sums, latest, order) = ([Rule.ID: Int](), [Rule.ID: Finding](), [Rule.ID]())
        for finding in run.findings {
            if sums[finding.rule] == nil { order.append(finding.rule) }
            sums[finding.rule, default: 0] += finding.count
            latest[finding.rule] = finding
        }
        for rule in order where sums[rule] ?? 0 > counts[rule] ?? 0 {
            if let finding = latest[rule] { round.broken.append(finding) }
        }
        counts = sums
    }

    private mutating func addMedia(_ media: MediaCheck?, to round: inout StreamCheckRound) {
        guard let media else { return }
        round.media = media.current
        for kind in MediaFinding.Kind.allCases {
            let ended = media.endedCounts[kind] ?? 0
            if ended > endedIntervals[kind] ?? 0, !round.media.contains(where: { $0.kind == kind }),
                let finding = media.latest(kind)
            {
                round.media.append(finding)
            }
            endedIntervals[kind] = ended
        }
    }

    /// The age counts from the first to the latest response with this content: a response that does not come says
    /// nothing.
    private func addAge(_ run: RuleRun, _ renditions: [CheckedRendition], to round: inout StreamCheckRound) {
        var oldest: (age: Duration, target: Int64)?
        let consider = { (since: MonotonicInstant?, seen: MonotonicInstant?, target: Int64) in
            guard let since, let seen, target > 0 else { return }
            let age = since.duration(to: seen)
            if oldest.map({ age > $0.age }) ?? true { oldest = (age, target) }
        }
        if let manifest = run.history.manifest {
            let longest = renditions.filter(\.isLive).map(\.targetDuration).max() ?? 0
            if manifest.isDynamic { consider(run.history.edgeUnchangedSince, manifest.fetched.instant, longest) }
        } else {
            for rendition in renditions where rendition.isLive && rendition.playlistURL != nil {
                let history = run.history.rendition(rendition.name)
                consider(history?.unchangedSince, history?.current?.fetched.instant, rendition.targetDuration)
            }
        }
        guard let oldest else { return }
        round.playlistAge = oldest.age
        round.targetDuration = .nanoseconds(oldest.target)
    }
}
