package import Instrument
package import InstrumentHTTP

/// The content of a manifest, whatever its format: a ladder of variants, their renditions, and rules of live playback.
/// A value without clock or network. `init` does not block; its time is linear in the manifest's size.
package struct Presentation: Hashable, Sendable {
    /// The format of the manifest.
    package enum Format: Hashable, Sendable {
        /// HTTP Live Streaming (RFC 8216).
        case hls
        /// Dynamic Adaptive Streaming over HTTP (ISO/IEC 23009-1).
        case dash
    }

    /// Whether the presentation is complete or live.
    package enum Kind: Hashable, Sendable {
        /// The presentation is complete.
        case onDemand
        /// The server adds segments, and removes none.
        case event
        /// The server adds segments, and old segments expire.
        case live
        /// Unknown before a media playlist is fetched (a multivariant playlist does not declare it).
        case unknown
    }

    /// The format of the manifest.
    package var format: Format
    /// The address of the manifest after redirects, which is the base of its references.
    package var url: HTTPURL
    /// Whether the presentation is complete or live.
    package var kind: Kind
    /// The duration in nanoseconds; nil for live streams and before a media playlist was fetched.
    package var duration: Int64?
    /// The ladder, from the lowest to the highest peak bit rate. Never empty.
    package var variants: [Variant]
    /// The variant that the manifest lists first, with which some players begin; nil for DASH, whose order has no
    /// meaning.
    package var firstListedVariant: Variant.ID?
    /// All renditions.
    package var renditions: [Rendition]
    /// Where playback starts, if the manifest declares it (`EXT-X-START`).
    package var startOffset: StartOffset?
    /// Whether each segment of every rendition can be decoded without the previous segments
    /// (`EXT-X-INDEPENDENT-SEGMENTS`).
    package var hasIndependentSegments: Bool
    /// Whether a multivariant playlist leaves open which closed captions its video carries: it has neither renditions
    /// of that type nor `CLOSED-CAPTIONS=NONE`. False for other manifests.
    package var hasUndeclaredCaptions = false
    /// The rules of live playback and of reloading the manifest; nil if the manifest never changes, and for HLS,
    /// where each rendition's playlist is reloaded instead.
    package var live: LiveRules?
    /// Variables that media playlists may import (`EXT-X-DEFINE`).
    package var definitions: VariableDefinitions = [:]
    /// The servers that have the same resources; empty if each resource has one address.
    package var locations: [ContentLocations] = []
    /// The steering server; nil without one.
    package var steering: ContentSteering?
    /// The resources that tell the server's time, in order of preference; empty for HLS, and for an MPD that needs none
    /// or tells the time itself.
    package var clockSources: [ClockSource] = []
    /// Events of an MPD, such as ad breaks, in document order; empty for HLS.
    package var events: [ManifestEvent] = []
    /// The periods of an MPD, in order; empty for HLS.
    package var periods: [PresentationPeriod] = []
    /// Defects and unsupported features.
    package var notices: [ManifestNotice]
    /// The addresses of elements of the MPD that are elsewhere (xlink) and were not loaded, in document order.
    package var missingElements: [HTTPURL] = []
    /// The MPD that patches change; nil if the MPD names no patches.
    var document: DASHManifest?

    /// The calendar time at which the first period of a live MPD begins, by the local clock; nil for others.
    package var beginning: WallTime? {
        live?.origin?.advanced(nanoseconds: periods.first?.start ?? 0)
    }

    /// The calendar time at which the first media of a live MPD are available, by the local clock; nil for others.
    package var firstAvailability: WallTime? {
        let segments = renditions.compactMap { rendition -> WallTime? in
            if case .segments(let index) = rendition.source { index.first?.availability } else { nil }
        }
        return beginning.map { segments.min() ?? $0 }
    }

    /// Whether no period will follow the last one (DASH).
    package var hasLastPeriod: Bool { live.map { $0.updatePeriod == nil && periods.last?.end != nil } ?? true }

    /// Returns the rendition with this identifier.
    package func rendition(_ id: Rendition.ID) -> Rendition? { renditions.first { $0.id == id } }
}

/// The declared start of playback (`EXT-X-START`, RFC 8216 section 4.3.5.2).
package struct StartOffset: Hashable, Sendable {
    /// Nanoseconds from the start or, if negative, from the end.
    package var offset: Int64
    /// Whether the part of the segment before this point should not be shown.
    package var isPrecise: Bool
}

/// The rules of live playback. Times are nanoseconds.
package struct LiveRules: Hashable, Sendable {
    /// The target latency.
    package var targetLatency: Int64
    /// `@suggestedPresentationDelay`, whatever the service description asks for; nil if not declared.
    package var suggestedDelay: Int64?
    /// Whether the manifest asks players to change the playback rate: its service description for everybody has rates
    /// (`PlaybackRate`) or a target latency.
    package var asksForCatchUp = false
    /// The limits of latency and playback rate.
    package var service = ServiceLimits()
    /// The media that a player should buffer before it starts (`@minBufferTime`); nil if not declared.
    package var minimumBuffer: Int64?
    /// The seek window behind the live edge; nil reaches back to the oldest segment.
    package var windowDuration: Int64?
    /// The shortest time between two loads of the manifest; nil needs no reload.
    package var updatePeriod: Int64?
    /// The calendar time of the presentation timeline's zero, by the local clock (corrected by `UTCTiming`); nil if
    /// unknown.
    package var origin: WallTime?
    /// The address of the next load (`Location`); nil for the same address.
    package var reloadURL: HTTPURL?
    /// Where to load a patch instead of the whole manifest (DASH); nil without patches.
    package var patch: PatchLocation?

    /// The target latency that the manifest declares; nil if ``targetLatency`` is the usual one.
    package var declaredLatency: Int64? { service.targetLatency ?? suggestedDelay }
}
