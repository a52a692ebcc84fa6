package import Instrument
package import InstrumentManifests

/// The history of a stream; bounded for any duration.
public struct StreamHistory: Sendable {
    /// The number of renditions that are remembered.
    static let mostRenditions = 100

    /// The presentation of the root playlist or manifest; nil before the first one.
    package internal(set) var presentation: Presentation?
    /// The multivariant playlist; nil for a media playlist that stands alone, and for DASH.
    public internal(set) var multivariant: MultivariantVersion?
    /// The renditions whose playlists or segments were observed, in the order of their first observation.
    package private(set) var renditions: [RenditionHistory] = []
    /// The latest MPD.
    package private(set) var manifest: ManifestVersion?
    /// The MPD before the latest one.
    package private(set) var previousManifest: ManifestVersion?
    /// The latest reading of the clock that the MPD names; nil without one.
    package internal(set) var clock: ClockReading?
    /// The instants at which the ends of the MPD's growing timelines were first observed, by
    /// `ManifestVersion.Edge.id`.
    package private(set) var edgeInstants: [String: MonotonicInstant] = [:]
    private var positions: [String: Int] = [:]

    /// The nanoseconds by which the clock that the MPD names is ahead of this machine; 0 without a reading.
    package var clockOffset: Int64 { clock?.offset ?? 0 }

    init() {}

    /// The history of a rendition; nil before its first observation.
    package func rendition(_ name: String) -> RenditionHistory? { positions[name].map { renditions[$0] } }

    mutating func record(_ version: ManifestVersion) {
        let known = edgeInstants
        edgeInstants = Dictionary(
            version.edges.map { ($0.id, known[$0.id] ?? version.fetched.instant) },
            uniquingKeysWith: { first, _ in first }
        )
        previousManifest = manifest
        manifest = version
    }

    /// Changes the history of a rendition, which is created if need be; nil if there are too many renditions.
    mutating func update(_ name: String, _ change: (inout RenditionHistory) -> Void) -> RenditionHistory? {
        if positions[name] == nil {
            guard renditions.count < Self.mostRenditions else { return nil }
            positions[name] = renditions.count
            renditions.append(RenditionHistory(name: name))
        }
        guard let position = positions[name] else { return nil }
        change(&renditions[position])
        return renditions[position]
    }

    /// The variants that play a rendition's pictures, or its sound where that is all there is.
    package func variants(playing name: String) -> [Variant] {
        presentation?.variants.filter { variant in
            variant.main.description == name || variant.backups.contains { $0.description == name }
        } ?? []
    }

    /// Whether a rendition belongs to the ladder: pictures or sound, and no subtitles.
    func isMedia(_ name: String) -> Bool {
        presentation?.renditions.first { $0.id.description == name }.map { $0.kind != .subtitles } ?? true
    }
}

extension StreamHistory {
    /// The other renditions with pictures or sound.
    func siblings(of name: String) -> [RenditionHistory] {
        guard isMedia(name) else { return [] }
        return renditions.filter { $0.name != name && isMedia($0.name) && $0.current?.playlist.isIFramesOnly == false }
    }

    /// Whether the audio group of a variant does not exist, which another rule reports.
    func lacksGroup(of variant: Variant) -> Bool {
        guard let group = variant.audioGroup, let media = multivariant?.playlist.media else { return false }
        return !media.contains { $0.kind == .audio && $0.group == group }
    }
}
