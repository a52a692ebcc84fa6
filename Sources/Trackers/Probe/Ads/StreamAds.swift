internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP
internal import InstrumentManifests

/// What a stream says of ads and signals. Positions are nanoseconds on the timeline of the presentation.
struct StreamAds: Hashable, Sendable {
    /// An address to call when the playhead reaches a position (`urn:mpeg:dash:event:callback:2015`).
    struct Callback: Hashable, Sendable {
        var position: Int64
        var id: String
        var url: AdURL
    }

    /// A period of an MPD that holds an ad: part of the presentation, so that content does not stop for it.
    struct StitchedAd: Hashable, Sendable {
        var id: String
        var start: Int64
        var end: Int64
    }

    /// The interstitials of the manifest, and alternative presentations of an MPD in their form.
    var interstitials: [Interstitial] = []
    /// The signals that have a position.
    var signals: [AdSignal] = []
    /// The addresses to call.
    var callbacks: [Callback] = []
    /// The periods that hold ads, in order.
    var stitched: [StitchedAd] = []
    /// The starts of segments, for `X-SNAP`.
    var boundaries: [Int64] = []
    /// The end of the known media; nil if unknown.
    var end: Int64?
    /// Whether more media will come.
    var isLive = false
    /// Whether signals of segments replace earlier ones of the same manifest (false) or add to them.
    var addsSignals = false
}

extension StreamAds {
    /// Reads a media playlist.
    /// - Parameter shift: what is added to positions of the playlist to give positions of the presentation.
    init(_ playlist: HLSMediaPlaylist, movedBy shift: Int64, _ findings: inout [AdFinding]) {
        let found = Interstitials(playlist)
        let carried = AdSignals(playlist)
        findings += found.findings + carried.findings
        interstitials = found.all.map { interstitial in
            var moved = interstitial
            moved.start = interstitial.start.saturatingAdd(shift)
            return moved
        }
        signals = carried.signals.compactMap { signal in
            guard let position = signal.position else { return nil }
            var moved = signal
            // The line changes with every reload, and the signal stays the same.
            (moved.position, moved.line) = (position.saturatingAdd(shift), nil)
            return moved
        }
        let starts = playlist.segments.map { $0.start.saturatingAdd(shift) }
        end = playlist.duration.saturatingAdd(shift)
        boundaries = starts + [playlist.duration.saturatingAdd(shift)]
        isLive = !playlist.hasEnded
    }

    /// Reads the events of an MPD.
    init(_ presentation: Presentation, index: SegmentIndex?, _ findings: inout [AdFinding]) {
        let isOver = presentation.kind != .live && presentation.kind != .event
        let carried = AdSignals(presentation.events, upTo: isOver ? presentation.duration ?? index?.end : nil)
        findings += carried.findings
        signals = carried.signals.filter { $0.position != nil }
        for place in signals.indices { signals[place].line = nil }
        var known: Set<String> = []
        for (number, event) in presentation.events.enumerated() {
            var id = event.id ?? "event-\(number)"
            switch ManifestAdEvent(event) {
            case .callback(let url): callbacks.append(Callback(position: event.start, id: id, url: url))
            case .alternative(let alternative):
                // Identifiers are unique within a stream of events, and an MPD may have several.
                if !known.insert(id).inserted {
                    id += "@\(event.start)"
                    guard known.insert(id).inserted else { continue }
                }
                do throws(HTTPError) {
                    let url = try presentation.url.resolving(alternative.uri)
                    interstitials.append(Interstitial(alternative, id: id, url: url))
                } catch {
                    let message = "the address of an alternative presentation must be http or https"
                    findings.append(
                        AdFinding(.error, rule: "ISO/IEC 23009-1 (2025)", message: message, line: event.line)
                    )
                }
            case nil: break
            }
        }
        stitched = Self.stitched(presentation.periods, host: presentation.url.host)
        end = presentation.duration ?? index?.end
        isLive = !isOver
        // A template of a day has thousands of segments: boundaries matter only to interstitials.
        if let index, !interstitials.isEmpty { boundaries = index.prefix(20_000).map(\.start) + [index.end] }
    }

    /// The periods that hold ads: of another asset than the one that lasts longest, where periods that name no asset
    /// count as one asset together; or, where no period names its asset, at another host than the MPD.
    private static func stitched(_ periods: [PresentationPeriod], host: String) -> [StitchedAd] {
        guard periods.count > 1 else { return [] }
        var durations: [String?: Int64] = [:]
        for period in periods {
            // A period without an end is content that is still produced.
            let length = period.end.map { $0.saturatingSubtract(period.start) } ?? .max
            durations[period.asset] = (durations[period.asset] ?? 0).saturatingAdd(length)
        }
        // Of assets that last equally long, the first one is the content.
        let longest = durations.values.max()
        let main = periods.first { durations[$0.asset] == longest }?.asset
        let namesAssets = periods.contains { $0.asset != nil }
        return periods.enumerated().compactMap { number, period in
            guard let end = period.end, end > period.start else { return nil }
            let isAd = namesAssets ? period.asset != main : period.host.map { $0 != host } ?? false
            return isAd ? StitchedAd(id: period.id ?? "period-\(number)", start: period.start, end: end) : nil
        }
    }
}
