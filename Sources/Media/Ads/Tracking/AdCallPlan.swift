/// An address that a player would call for an ad.
package struct AdCall: Hashable, Sendable {
    /// The event at which the player calls.
    package enum Trigger: Hashable, Sendable {
        /// The playhead of the ad reaches a position, in nanoseconds.
        case position(Int64)
        /// A person or the player does something, named as in the standard.
        case action(String)
    }

    /// The event at which the player calls.
    package var trigger: Trigger
    /// The event: `impression`, `start`, `clickTracking`, `error` and so on.
    package var name: String
    /// The address with its macros filled in.
    package var url: AdURL
}

/// Lists what a player would call for an ad, and when: every event of a whole playback, then the events of persons. The
/// player is one without a view, as the probe is: `viewUndetermined` is called, and no verification script runs.
package struct AdCallPlan: Hashable, Sendable {
    /// The calls of a playback from start to end, in order.
    package var timed: [AdCall] = []
    /// The calls that depend on what persons and the player do.
    package var conditional: [AdCall] = []

    /// Computes the plan of an ad.
    /// - Parameters:
    ///   - ad: the ad.
    ///   - media: the media file that would be played; nil if none is playable.
    ///   - macros: the values of the macros, without those of the ad.
    package init(_ ad: ResolvedAd, media: MediaFile?, macros: MacroValues) {
        let values = macros.merging(ad.macros(media: media))
        var tracking = AdTracking(ad)
        let end = tracking.duration ?? 0
        let played =
            tracking.handle(.loaded) + tracking.handle(.started)
            + tracking.handle(.viewability(.undetermined)) + tracking.handle(.moved(to: end))
        timed = (played + tracking.handle(.ended)).map { beacon in
            AdCall(trigger: .position(beacon.playhead), name: beacon.kind.name, url: beacon.expanded(values))
        }
        // The end of an ad without a duration has no known position.
        if tracking.duration == nil { timed.removeAll { $0.name == TrackingEventName.complete.rawValue } }
        let known = Set(timed.map(\.name))
        let linear = ad.linear
        for event in linear?.events ?? ad.nonLinear?.events ?? [] where !known.contains(event.name.rawValue) {
            add(event.name.rawValue, event.url, values)
        }
        for url in linear?.clickTracking ?? [] { add("clickTracking", url, values) }
        for url in linear?.customClicks ?? [] { add("customClick", url, values) }
        for icon in linear?.icons ?? [] {
            for url in icon.viewTracking { add("iconViewTracking", url, values) }
            for url in icon.clickTracking { add("iconClickTracking", url, values) }
        }
        for variant in ad.nonLinear?.variants ?? [] {
            for url in variant.clickTracking { add("nonLinearClickTracking", url, values) }
        }
        for companion in ad.companions {
            for event in companion.events { add("companion " + event.name.rawValue, event.url, values) }
            for url in companion.clickTracking { add("companionClickTracking", url, values) }
        }
        let viewability = ad.viewability
        for url in viewability.viewable { add("viewable", url, values) }
        for url in viewability.notViewable { add("notViewable", url, values) }
        var error = values
        let code: VASTErrorCode = linear == nil ? .linearity : media == nil ? .noSupportedFile : .undefined
        error["ERRORCODE"] = .text(code.description)
        for url in ad.errors { add("error", url, error) }
        // Other addresses are never opened.
        timed.removeAll { !$0.url.isOfServer }
        conditional.removeAll { !$0.url.isOfServer }
    }

    private mutating func add(_ name: String, _ url: AdURL, _ values: MacroValues) {
        conditional.append(AdCall(trigger: .action(name), name: name, url: values.expand(url)))
    }
}

extension AdCall {
    /// The position in an ad as VAST writes times: `HH:MM:SS.mmm`.
    package static func text(ofTime nanoseconds: Int64) -> String { AdTime.text(nanoseconds) }
}
