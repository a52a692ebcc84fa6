internal import Instrument
package import InstrumentHTTP
package import InstrumentManifests

/// The schedule of a playlist's content with its interstitials, from one position to the end.
/// A value without clock or network. It assumes a playback without seeks; a player that seeks computes the schedule
/// from the new position, with the interstitials that have played. All times are nanoseconds.
package struct InterstitialSchedule: Hashable, Sendable {
    /// The known properties of an interstitial's media.
    package enum Media: Hashable, Sendable {
        /// Nothing yet: the announced duration counts.
        case unknown
        /// The assets; empty plays nothing.
        case assets([InterstitialAsset])
        /// The media failed; the content continues in its place.
        case failed
    }

    /// A stretch of the playout.
    package struct Item: Hashable, Sendable {
        /// The media of a stretch.
        package enum Content: Hashable, Sendable {
            /// The content, from a position of its timeline on.
            case primary(from: Int64)
            /// An asset of an interstitial: its index, its address if known, and where in the asset the stretch begins.
            case interstitial(id: String, asset: Int, url: HTTPURL?, from: Int64)
        }

        /// The media.
        package var content: Content
        /// The begin on the timeline of the playout.
        package var start: Int64
        /// The duration.
        package var duration: Int64

        /// The end on the timeline of the playout.
        package var end: Int64 { start.saturatingAdd(duration) }
    }

    /// A break: the interstitials of one position, and where the content resumes.
    package struct Break: Hashable, Sendable {
        /// The interstitials in the order in which they play.
        package var interstitials: [String]
        /// The position of the content at which the break begins.
        package var position: Int64
        /// The position at which the content resumes.
        package var resumePosition: Int64
        /// The begin on the timeline of the playout.
        package var start: Int64
        /// The duration.
        package var duration: Int64
        /// The offset to request if the player joins in the middle of the first interstitial (`_HLS_start_offset`).
        package var joinOffset: Int64
    }

    /// The stretches, in order.
    package private(set) var items: [Item] = []
    /// The breaks, in order.
    package private(set) var breaks: [Break] = []
    /// The interstitials that play, in order.
    package var played: [String] { breaks.flatMap(\.interstitials) }

    private let interstitials: [Interstitial]
    private let media: [String: Media]
    private let boundaries: [Int64]
    private let contentDuration: Int64

    /// Computes the schedule.
    ///
    /// - Parameters:
    ///   - interstitials: the interstitials, in the order of their tags.
    ///   - media: what is known of their media, by identifier.
    ///   - contentDuration: the duration of the content; for a live playlist the end of the window.
    ///   - boundaries: the starts of the content's segments, in order, for `X-SNAP`.
    ///   - position: where the content begins to play.
    ///   - isJoining: whether the playback begins now, so that `PRE` interstitials play.
    ///   - played: the interstitials with `ONCE` that have played before.
    package init(
        _ interstitials: [Interstitial],
        media: [String: Media] = [:],
        contentDuration: Int64,
        boundaries: [Int64] = [],
        from position: Int64 = 0,
        isJoining: Bool = true,
        played: Set<String> = []
    ) {
        self.interstitials = interstitials.filter { !($0.cue.contains(.once) && played.contains($0.id)) }
        (self.media, self.boundaries) = (media, boundaries)
        self.contentDuration = max(0, contentDuration)
        build(from: max(0, min(position, self.contentDuration)), isJoining)
    }

    /// Computes the schedule of a playlist from its start, or from `position`.
    package init(
        _ playlist: HLSMediaPlaylist,
        media: [String: Media] = [:],
        from position: Int64 = 0,
        played: Set<String> = []
    ) {
        self.init(
            Interstitials(playlist).all,
            media: media,
            contentDuration: playlist.duration,
            boundaries: playlist.segments.map(\.start) + [playlist.duration],
            from: position,
            played: played
        )
    }
}

extension InterstitialSchedule {
    private mutating func build(from position: Int64, _ isJoining: Bool) {
        var position = position
        if isJoining { position = play(interstitials.filter { $0.cue.contains(.pre) }, at: position, from: position) }
        for group in midRolls(from: position) {
            // A break whose position the content has passed does not play: a resume offset jumped over it.
            guard let first = group.first, anchor(of: first) >= position || covers(group, position) else { continue }
            let start = max(anchor(of: first), position)
            content(from: position, to: start)
            position = play(group, at: anchor(of: first), from: start)
        }
        content(from: position, to: contentDuration)
        let posts = interstitials.filter { $0.cue.contains(.post) }
        _ = play(posts, at: contentDuration, from: contentDuration)
    }

    /// The interstitials in the content by their positions, those of one position in the order of their tags.
    private func midRolls(from position: Int64) -> [[Interstitial]] {
        let rolls = interstitials.enumerated().filter { $0.element.cue.isDisjoint(with: [.pre, .post]) }
            .filter { 0...contentDuration ~= $0.element.start }
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
        var groups: [[Interstitial]] = []
        for roll in rolls {
            if let last = groups.last?.last, last.start == roll.start {
                groups[groups.count - 1].append(roll)
            } else {
                groups.append([roll])
            }
        }
        return groups
    }

    /// The position at which the content pauses: the start, or with `X-SNAP` the nearest boundary of a segment.
    private func anchor(of interstitial: Interstitial) -> Int64 {
        interstitial.snap.contains(.out) ? snapped(interstitial.start) : interstitial.start
    }

    private func snapped(_ position: Int64) -> Int64 {
        let after = boundaries.partitioningIndex { $0 >= position }
        guard after < boundaries.count else { return boundaries.last ?? position }
        guard after > 0 else { return boundaries[after] }
        let (left, right) = (boundaries[after - 1], boundaries[after])
        return position.saturatingSubtract(left) <= right.saturatingSubtract(position) ? left : right
    }

    /// Whether a break replaces the content at a position: the player joins in the middle of the break.
    private func covers(_ group: [Interstitial], _ position: Int64) -> Bool {
        guard let first = group.first else { return false }
        let replaced = group.reduce(Int64(0)) { $0.saturatingAdd(resumeOffset(of: $1)) }
        return anchor(of: first) < position && position < anchor(of: first).saturatingAdd(replaced)
    }

    /// How far the content advances behind an interstitial.
    private func resumeOffset(of interstitial: Interstitial) -> Int64 {
        guard plays(interstitial) else { return 0 }
        return interstitial.resumeOffset ?? duration(of: interstitial)
    }

    /// Whether the interstitial has media to play.
    private func plays(_ interstitial: Interstitial) -> Bool {
        switch media[interstitial.id] {
        case .failed: false
        case .assets(let assets): !assets.isEmpty
        case .unknown, nil: true
        }
    }

    /// The duration: of the assets, else as announced, with the limit.
    private func duration(of interstitial: Interstitial) -> Int64 {
        guard case .assets(let assets) = media[interstitial.id] else { return interstitial.announcedDuration }
        return interstitial.limited(assets.reduce(0) { $0.saturatingAdd($1.duration) })
    }

    private mutating func content(from start: Int64, to end: Int64) {
        guard end > start else { return }
        append(.primary(from: start), duration: end - start)
    }

    private mutating func append(_ content: Item.Content, duration: Int64) {
        let item = Item(content: content, start: items.last?.end ?? 0, duration: duration)
        // Content that continues behind a break without media is one stretch.
        if case .primary(let from) = content, let last = items.last, case .primary(let before) = last.content,
            before.saturatingAdd(last.duration) == from
        {
            items[items.count - 1].duration += duration
        } else {
            items.append(item)
        }
    }

    /// Plays a break; returns the position at which the content resumes.
    private mutating func play(_ group: [Interstitial], at anchor: Int64, from position: Int64) -> Int64 {
        let group = group.filter { plays($0) }
        guard let last = group.last else { return position }
        let start = items.last?.end ?? 0
        let joinOffset = position - anchor
        var skip = joinOffset
        for interstitial in group { play(interstitial, skipping: &skip) }
        let offset = group.reduce(Int64(0)) { $0.saturatingAdd(resumeOffset(of: $1)) }
        var resume = max(0, min(anchor.saturatingAdd(offset), contentDuration))
        if last.snap.contains(.in), last.cue.isDisjoint(with: [.pre, .post]) { resume = snapped(resume) }
        let end = items.last?.end ?? 0
        breaks.append(
            Break(
                interstitials: group.map(\.id),
                position: position,
                resumePosition: resume,
                start: start,
                duration: end - start,
                joinOffset: joinOffset
            )
        )
        return resume
    }

    /// Plays the assets of an interstitial up to its limit, without what the player has missed.
    private mutating func play(_ interstitial: Interstitial, skipping skip: inout Int64) {
        var left = duration(of: interstitial)
        let assets: [(url: HTTPURL?, duration: Int64)] =
            switch media[interstitial.id] {
            case .assets(let assets): assets.map { ($0.url, $0.duration) }
            default: [(interstitial.assetURL, left)]
            }
        for (index, asset) in assets.enumerated() {
            let whole = min(asset.duration, left)
            left -= whole
            let missed = min(skip, whole)
            skip -= missed
            if whole > missed {
                let content = Item.Content.interstitial(id: interstitial.id, asset: index, url: asset.url, from: missed)
                append(content, duration: whole - missed)
            }
        }
    }
}

extension Interstitial {
    fileprivate var assetURL: HTTPURL? { if case .asset(let url) = source { url } else { nil } }
}
