internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText
internal import InstrumentXML

/// The properties that an adaptation set declares for all its representations, read once.
struct SetDescription: Hashable, Sendable {
    /// The limit of roles.
    private static let mostRoles = 16

    var id: String?
    var language: String?
    var label: String?
    var roles: [String]

    init(_ set: MarkupElement) {
        id = set.word("id")
        language = set.word("lang")
        label = set.first("Label").map { String($0.text.trimmingWhitespace) }
        roles = set.all("Role").prefix(Self.mostRoles).compactMap { $0.word("value") }
    }
}

/// A representation that can be played, in one period.
struct Track: Hashable, Sendable {
    var kind: Rendition.Kind
    /// `@id` of the representation.
    var id: String
    var bandwidth: Int64
    var codecs: [String]
    var resolution: Resolution?
    var frameRate: Double?
    var container: Rendition.Container
    var language: String?
    /// The properties of the set.
    var description: SetDescription
    /// The number of the adaptation set within its period.
    var set: Int
    var isProtected: Bool
    var part: Rendition.Part

    init(
        _ levels: RepresentationLevels,
        kind: Rendition.Kind,
        _ description: SetDescription,
        set: Int,
        part: Rendition.Part
    ) {
        self.kind = kind
        id = levels.id
        bandwidth = levels.bandwidth
        codecs = levels.codecs
        resolution = levels.resolution
        frameRate = levels.frameRate
        container = levels.container
        language = description.language ?? levels.representation.word("lang")
        self.description = description
        self.set = set
        isProtected = levels.isProtected
        self.part = part
    }

    var roles: [String] { description.roles }
    var isMain: Bool { roles.contains("main") }
    /// ISO/IEC 23009-1 section 5.8.5.5; DASH-IF writes the role with an underscore.
    var isForced: Bool { roles.contains("forced-subtitle") || roles.contains("forced_subtitle") }
    /// The properties that sets of one ladder share, where each quality has a separate set.
    var family: [String] { [codecs.first.map { String($0.prefix(4)) } ?? "", "\(isProtected)"] + roles }
}

/// A period with its playable tracks.
struct PeriodTracks: Hashable, Sendable {
    var period: DASHManifest.Period
    var base: HTTPURL
    var tracks: [Track]

    /// The rank of the period: the number of video tracks, then of all tracks.
    var rank: (Int, Int) { (tracks.count { $0.kind == .video || $0.kind == .muxed }, tracks.count) }
}

/// Joins the corresponding tracks of the periods of an MPD.
struct PeriodJoiner {
    private let periods: [(tracks: PeriodTracks, table: TrackTable)]
    private var known: Set<Rendition.ID> = []
    /// The number of renditions with each name.
    private var copies: [String: Int] = [:]
    private(set) var notices: [ManifestNotice] = []

    init(periods: [PeriodTracks]) { self.periods = periods.map { ($0, TrackTable($0.tracks)) } }

    mutating func renditions(of richest: PeriodTracks, isComplete: Bool) throws(ManifestError) -> [Rendition] {
        var renditions: [Rendition] = []
        for track in richest.tracks {
            try ManifestError.checkCancellation()
            var rendition = Rendition(
                id: id(of: track),
                kind: track.kind,
                source: source(of: track, isComplete: isComplete)
            )
            rendition.language = track.language
            rendition.name = track.description.label
            rendition.isDefault = track.isMain
            rendition.isForced = track.isForced
            rendition.isAutoselected = track.isMain || track.isForced
            rendition.characteristics = track.roles
            rendition.container = track.container
            rendition.codecs = track.codecs
            rendition.bitrate = track.bandwidth
            renditions.append(rendition)
        }
        return renditions
    }

    private mutating func id(of track: Track) -> Rendition.ID {
        let place = [track.description.id, track.language, track.roles.first].compactMap(\.self).joined(
            separator: "/"
        )
        let name = "\(track.kind)/\(place)/\(track.id)"
        while true {
            let copy = copies[name, default: 0] + 1
            copies[name] = copy
            let id = Rendition.ID(copy == 1 ? name : "\(name)#\(copy)")
            if known.insert(id).inserted { return id }
        }
    }

    private mutating func source(of track: Track, isComplete: Bool) -> Rendition.Source {
        var parts: [Rendition.Part] = []
        for (period, table) in periods {
            if let match = table.match(track) {
                parts.append(period.tracks[match].part)
            } else if let gap = gap(period) {
                let subject = track.kind == .subtitles ? ManifestNotice.Subject.missingSubtitles : .missingTrack
                notices.append(ManifestNotice(subject, "\(track.kind)"))
                parts.append(.segments(gap))
            }
        }
        let known = parts.compactMap { part -> SegmentIndex? in
            if case .segments(let index) = part { return index }
            return nil
        }
        return known.count < parts.count
            ? .parts(parts) : .segments(SegmentIndex(joining: known, isComplete: isComplete))
    }

    private func gap(_ period: PeriodTracks) -> SegmentIndex? {
        guard let end = period.period.end else { return nil }
        var segment = MediaSegment(
            sequence: 0,
            discontinuity: period.period.number,
            start: period.period.start,
            duration: end.saturatingSubtract(period.period.start),
            url: period.base
        )
        segment.isGap = true
        return SegmentIndex([segment], isComplete: true, targetDuration: 0)
    }
}

/// The ladder of an MPD.
enum DASHLadder {
    static func variants(of period: PeriodTracks, _ renditions: [Rendition]) -> [Variant] {
        let pairs = Array(zip(period.tracks, renditions))
        let audio = pairs.filter { $0.1.kind == .audio }.sorted { first, second in
            let (left, right) = (first.0, second.0)
            if left.isMain != right.isMain { return left.isMain }
            return left.set != right.set ? left.set < right.set : left.bandwidth > right.bandwidth
        }
        let subtitles = pairs.filter { $0.1.kind == .subtitles }.map(\.1.id)
        var ladder = pairs.filter { $0.1.kind == .video || $0.1.kind == .muxed }
        // Sets of other codecs or views are separate ladders; the main ladder, else the first, is played.
        let chosen = ladder.first { $0.0.isMain } ?? ladder.first
        let family = chosen?.0.family
        ladder = ladder.filter { $0.0.set == chosen?.0.set || $0.0.family == family }
        if ladder.isEmpty { ladder = audio.filter { $0.0.set == audio.first?.0.set } }
        if ladder.isEmpty { ladder = pairs }
        let sounds = audio.map(\.1.id)
        return ladder.map { track, rendition in
            let isComplete = rendition.kind == .muxed || rendition.kind == .audio
            return Variant(
                id: rendition.id.description,
                peakBitrate: track.bandwidth,
                resolution: track.resolution,
                frameRate: track.frameRate,
                codecs: track.codecs,
                main: rendition.id,
                audio: isComplete ? [rendition.id] : sounds,
                subtitles: subtitles,
                backups: []
            )
        }.enumerated().sorted { ($0.1.peakBitrate, $0.0) < ($1.1.peakBitrate, $1.0) }.map(\.element)
    }
}
