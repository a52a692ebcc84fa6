/// An event in the playback of an ad.
public enum AdPlaybackEvent: Hashable, Sendable {
    /// The media is ready to play.
    case loaded
    /// The first frame is shown. An ad without this event calls no address but those of `loaded` and of errors.
    case started
    /// The playhead moved to a position, in nanoseconds: forwards or backwards.
    case moved(to: Int64)
    /// The person paused the ad.
    case paused
    /// The person resumed the ad.
    case resumed
    /// The person muted or unmuted the ad.
    case muted(Bool)
    /// The player grew to the whole screen, or shrank.
    case expanded(Bool)
    /// The person clicked the ad.
    case clicked
    /// The person skipped the ad.
    case skipped
    /// The person closed the ad, its end card included.
    case closed
    /// The ad was played to its end.
    case ended
    /// The ad cannot be played.
    case failed(VASTErrorCode)
    /// The ad began or ceased to wait for data.
    case buffering(Bool)
    /// The player knows whether the ad can be seen, or knows that it cannot know.
    case viewability(AdViewability)
    /// Any other event of the standard, such as `acceptInvitation`.
    case interaction(TrackingEventName)
}

/// Whether an ad can be seen (`ViewableImpression` of VAST 4.2, section 3.5).
public enum AdViewability: String, Hashable, Sendable {
    /// The ad met the criteria of a viewable impression.
    case viewable
    /// The ad did not meet the criteria.
    case notViewable
    /// The player cannot determine whether the ad can be seen: a player without a view.
    case undetermined = "viewUndetermined"
}

/// An address to call now, with what its macros need.
public struct AdBeacon: Hashable, Sendable {
    /// The kind of a beacon.
    public enum Kind: Hashable, Sendable {
        /// An impression.
        case impression
        /// A tracking event.
        case event(TrackingEventName)
        /// A click.
        case click
        /// Whether the ad can be seen.
        case viewability(AdViewability)
        /// A verification script did not run, with the code of the reason (VAST 4.2, section 3.17.4).
        case verificationNotExecuted(reason: Int)
        /// An error.
        case error(VASTErrorCode)

        /// The name in lists: `impression`, an event's name, `clickTracking`, `viewable`, `verificationNotExecuted`,
        /// `error`.
        package var name: String {
            switch self {
            case .impression: "impression"
            case .event(let name): name.rawValue
            case .click: "clickTracking"
            case .viewability(let viewability): viewability.rawValue
            case .verificationNotExecuted: "verificationNotExecuted"
            case .error: "error"
            }
        }
    }

    /// The reported event.
    public var kind: Kind
    /// The address, with macros.
    public var url: AdURL
    /// The position in the ad, in nanoseconds.
    public var playhead: Int64

    /// Creates a beacon.
    package init(kind: Kind, url: AdURL, playhead: Int64) {
        (self.kind, self.url, self.playhead) = (kind, url, playhead)
    }

    /// The address with its macros replaced: those of the call, and ADPLAYHEAD, ERRORCODE, REASON.
    package func expanded(_ values: MacroValues) -> AdURL {
        var all = values
        all.set("ADPLAYHEAD", AdTime.text(playhead))
        if case .error(let code) = kind { all.set("ERRORCODE", code.description) }
        if case .verificationNotExecuted(let reason) = kind { all.set("REASON", String(reason)) }
        return all.expand(url)
    }
}

/// Computes which addresses of an ad are called when: each event once and in order, however the playhead moves.
/// A value without clock or network. A jump forwards fires every event that it passes, in order; the first frame fires
/// the impressions, and `verificationNotExecuted` of each verification script, because this project executes none.
/// An ad that ends without ``AdPlaybackEvent/started`` fires nothing: an impression counts when rendering has begun
/// (IAB and MRC, Digital Video Impression Measurement Guidelines; `start` in VAST 4.2, section 3.14.1), and nobody pays
/// for an ad that may not have been seen. A player that learns of the first frame late reports it before the end.
/// After the end, a skip, a close or a failure only `closeLinear` and errors fire. An ad that has begun and ends
/// without ``AdPlaybackEvent/viewability(_:)`` counts as undetermined.
package struct AdTracking: Hashable, Sendable {
    /// The player supports no verification framework (VAST 4.2, section 3.17.4).
    private static let verificationIsUnsupported = 2

    private enum Phase: Hashable { case waiting, playing, over }

    /// An event at a position.
    private struct Milestone: Hashable {
        var position: Int64
        var name: TrackingEventName
        var urls: [AdURL]
    }

    private let impressions: [AdURL]
    private let errors: [AdURL]
    private let clicks: [AdURL]
    private let notVerified: [AdURL]
    private var viewability: VASTAd.Viewability?
    private let events: [TrackingEventName: [AdURL]]
    private let skipPosition: Int64?
    private var milestones: [Milestone]
    private var next = 0
    private var phase = Phase.waiting
    private var isShown = false
    private var isPaused = false
    private var isMuted = false
    private var isExpanded = false
    private var isLoaded = false
    private var isClosed = false

    /// The position in the ad, in nanoseconds.
    package private(set) var playhead: Int64 = 0
    /// The duration that quartiles refer to, in nanoseconds; nil if unknown.
    package let duration: Int64?

    /// Creates the tracking of an ad.
    /// - Parameters:
    ///   - ad: the ad with its wrappers.
    ///   - mediaDuration: the duration of the media in nanoseconds, which wins over the declared one; nil if unknown.
    package init(_ ad: ResolvedAd, mediaDuration: Int64? = nil) {
        let linear = ad.linear
        duration = mediaDuration ?? linear?.duration
        impressions = ad.impressions
        errors = ad.errors
        notVerified = ad.verifications.flatMap(\.notExecuted)
        viewability = ad.viewability
        clicks = linear?.clickTracking ?? ad.nonLinear?.variants.flatMap(\.clickTracking) ?? []
        let all = linear?.events ?? ad.nonLinear?.events ?? []
        events = Dictionary(grouping: all.filter { $0.name != .progress }) { $0.name }.mapValues { $0.map(\.url) }
        skipPosition = linear?.skipOffset?.nanoseconds(of: duration)
        milestones = Self.milestones(all, duration)
    }

    /// The positions at which an event is due, in order.
    var dueTimes: [Int64] { milestones[next...].map(\.position) }

    /// Whether the person may skip the ad now.
    package var canSkip: Bool { phase == .playing && skipPosition.map { playhead >= $0 } ?? false }

    /// The events with a position, in the order in which they fire. At one position, the order is that of the standard:
    /// quartiles before `progress`.
    private static func milestones(_ events: [TrackingEvent], _ duration: Int64?) -> [Milestone] {
        let shares: [TrackingEventName: Double] = [.firstQuartile: 25, .midpoint: 50, .thirdQuartile: 75]
        var places: [[Int64]: Milestone] = [:]
        for event in events {
            let offset = shares[event.name].map { AdOffset.percent($0) } ?? event.offset
            guard let position = offset?.nanoseconds(of: duration), position <= duration ?? .max else { continue }
            let rank = Int64(shares[event.name] ?? 100)
            places[[position, rank], default: Milestone(position: position, name: event.name, urls: [])].urls.append(
                event.url
            )
        }
        return places.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }

    /// Returns the beacons that an event fires, in order.
    package mutating func handle(_ event: AdPlaybackEvent) -> [AdBeacon] {
        switch event {
        case .loaded: return load()
        case .started: return start()
        case .moved(let position): return move(to: position)
        case .paused: return change(\.isPaused, to: true, [.pause])
        case .resumed: return change(\.isPaused, to: false, [.resume])
        case .muted(let value): return change(\.isMuted, to: value, value ? [.mute] : [.unmute])
        case .expanded(let value):
            // The first name is that of VAST 2 to 4.0, the second that of 4.1.
            let names: [TrackingEventName] = value ? [.fullscreen, .playerExpand] : [.exitFullscreen, .playerCollapse]
            return change(\.isExpanded, to: value, names)
        case .clicked:
            return phase == .playing ? clicks.map { AdBeacon(kind: .click, url: $0, playhead: playhead) } : []
        case .skipped: return canSkip ? decide(.undetermined) + skip() : []
        case .closed: return decide(.undetermined) + close()
        case .ended: return end()
        case .failed(let code): return decide(.undetermined) + fail(code)
        case .buffering: return []
        case .viewability(let viewability): return decide(viewability)
        case .interaction(let name): return phase == .playing ? fire(name) : []
        }
    }

    private mutating func start() -> [AdBeacon] {
        guard phase == .waiting else { return [] }
        let loaded = load()
        (phase, isShown) = (.playing, true)
        let shown = impressions.map { AdBeacon(kind: .impression, url: $0, playhead: playhead) }
        let reason = AdBeacon.Kind.verificationNotExecuted(reason: Self.verificationIsUnsupported)
        let notVerified = notVerified.map { AdBeacon(kind: reason, url: $0, playhead: playhead) }
        return loaded + shown + notVerified + fire(.creativeView) + fire(.start) + pass(upTo: 0)
    }

    private mutating func move(to position: Int64) -> [AdBeacon] {
        guard phase == .playing else { return [] }
        let position = max(0, min(position, duration ?? .max))
        guard position >= playhead else {
            playhead = position
            return fire(.rewind)
        }
        let beacons = pass(upTo: position)
        playhead = position
        return beacons
    }

    /// Fires the milestones up to a position. Each beacon carries the position at which it was due.
    private mutating func pass(upTo position: Int64) -> [AdBeacon] {
        var beacons: [AdBeacon] = []
        while next < milestones.count, milestones[next].position <= position {
            let milestone = milestones[next]
            beacons += milestone.urls.map {
                AdBeacon(kind: .event(milestone.name), url: $0, playhead: milestone.position)
            }
            next += 1
        }
        return beacons
    }

    /// The first determination counts; the addresses of the others are not called.
    private mutating func decide(_ decision: AdViewability) -> [AdBeacon] {
        guard phase == .playing, let known = viewability else { return [] }
        viewability = nil
        return known.urls(for: decision).map { AdBeacon(kind: .viewability(decision), url: $0, playhead: playhead) }
    }

    private mutating func skip() -> [AdBeacon] {
        phase = .over
        return fire(.skip)
    }

    private mutating func close() -> [AdBeacon] {
        guard isShown, !isClosed else { return [] }
        (isClosed, phase) = (true, .over)
        // VAST 2 names the event `close`.
        return fire(.closeLinear) + fire(.close)
    }

    private mutating func end() -> [AdBeacon] {
        defer { phase = .over }
        guard phase == .playing else { return [] }
        let beacons = pass(upTo: .max) + decide(.undetermined)
        playhead = duration ?? playhead
        return beacons + fire(.complete)
    }

    private mutating func fail(_ code: VASTErrorCode) -> [AdBeacon] {
        guard phase != .over else { return [] }
        phase = .over
        return errors.map { AdBeacon(kind: .error(code), url: $0, playhead: playhead) }
    }

    /// Fires events when a state changes; before the first frame and after the end the state changes silently.
    private mutating func change(
        _ state: WritableKeyPath<AdTracking, Bool>,
        to value: Bool,
        _ names: [TrackingEventName]
    ) -> [AdBeacon] {
        guard self[keyPath: state] != value else { return [] }
        self[keyPath: state] = value
        return phase == .playing ? names.flatMap(fire) : []
    }

    private mutating func load() -> [AdBeacon] {
        guard !isLoaded, phase != .over else { return [] }
        isLoaded = true
        return fire(.loaded)
    }

    private func fire(_ name: TrackingEventName) -> [AdBeacon] {
        (events[name] ?? []).map { AdBeacon(kind: .event(name), url: $0, playhead: playhead) }
    }
}

extension VASTAd.Viewability {
    fileprivate func urls(for decision: AdViewability) -> [AdURL] {
        switch decision {
        case .viewable: viewable
        case .notViewable: notViewable
        case .undetermined: undetermined
        }
    }
}
