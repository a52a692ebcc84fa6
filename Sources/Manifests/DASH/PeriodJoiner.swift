internal import Instrument
internal import InstrumentTransport

/// A representation that can be played, in one period.
struct Track: Hashable, Sendable {
    var levels: RepresentationLevels
    var kind: Rendition.Kind
    /// Tells the adaptation sets of a period apart.
    var set: Int
    var part: Rendition.Part

    var language: String? { levels.set["lang"] ?? levels.representation["lang"] }
    var roles: [String] { levels.set.all("Role").compactMap { $0["value"] } }
    var isMain: Bool { roles.contains("main") }
    /// What sets of one ladder have in common, where each quality has a set of its own.
    var family: [String] { [levels.codecs.first.map { String($0.prefix(4)) } ?? "", "\(levels.isProtected)"] + roles }
}

/// A period with what can be played in it.
struct PeriodTracks: Hashable, Sendable {
    var period: DASHManifest.Period
    var base: HTTPURL
    var tracks: [Track]

    /// How rich it is: its pictures, then all.
    var rank: (Int, Int) { (tracks.count { $0.kind == .video || $0.kind == .muxed }, tracks.count) }
}

/// Joins what belongs together in the periods of an MPD.
struct PeriodJoiner {
    let periods: [PeriodTracks]
    let calendarOrigin: WallTime?
    private(set) var notices: [ManifestNotice] = []

    init(periods: [PeriodTracks], calendarOrigin: WallTime?) {
        (self.periods, self.calendarOrigin) = (periods, calendarOrigin)
    }

    mutating func renditions(of richest: PeriodTracks, isComplete: Bool) -> [Rendition] {
        var known: Set<Rendition.ID> = []
        return richest.tracks.map { track in
            var rendition = Rendition(
                id: Self.id(of: track, &known),
                kind: track.kind,
                source: source(of: track, isComplete: isComplete)
            )
            rendition.language = track.language
            rendition.name = track.levels.set.first("Label")?.text.trimmingWhitespace
            rendition.isDefault = track.isMain
            rendition.isAutoselected = track.isMain
            rendition.characteristics = track.roles
            rendition.container = track.levels.container
            rendition.codecs = track.levels.codecs
            rendition.bitRate = track.levels.bandwidth
            return rendition
        }
    }

    private static func id(of track: Track, _ known: inout Set<Rendition.ID>) -> Rendition.ID {
        let place = [track.levels.set["id"], track.language, track.roles.first].compactMap(\.self).joined(
            separator: "/"
        )
        let name = "\(track.kind)/\(place)/\(track.levels.id)"
        var id = Rendition.ID(name)
        var copy = 1
        while !known.insert(id).inserted {
            copy += 1
            id = Rendition.ID("\(name)#\(copy)")
        }
        return id
    }

    private mutating func source(of track: Track, isComplete: Bool) -> Rendition.Source {
        var parts: [Rendition.Part] = []
        for period in periods {
            if let match = Self.match(track, in: period) {
                parts.append(match.part)
            } else if let gap = gap(period) {
                notices.append(
                    ManifestNotice(.oddity, "a period lacks \(track.kind) that others have; it is a gap there")
                )
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

    /// The same representation, else the one of the same kind, role and language that comes nearest.
    private static func match(_ track: Track, in period: PeriodTracks) -> Track? {
        let same = period.tracks.filter { $0.kind == track.kind }
        let inLanguage = same.filter { $0.language == track.language }
        let candidates = inLanguage.isEmpty ? same : inLanguage
        let inRole = candidates.filter { $0.roles == track.roles }
        let best = inRole.isEmpty ? candidates : inRole
        if let twin = best.first(where: { $0.levels.id == track.levels.id }) { return twin }
        let below = best.filter { $0.levels.bandwidth <= track.levels.bandwidth }
        return below.max { $0.levels.bandwidth < $1.levels.bandwidth }
            ?? best.min { $0.levels.bandwidth < $1.levels.bandwidth }
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
            return left.set != right.set ? left.set < right.set : left.levels.bandwidth > right.levels.bandwidth
        }
        let subtitles = pairs.filter { $0.1.kind == .subtitles }.map(\.1.id)
        var ladder = pairs.filter { $0.1.kind == .video || $0.1.kind == .muxed }
        // Sets of other codecs or views are ladders of their own; the main one, else the first, is played.
        let chosen = ladder.first { $0.0.isMain } ?? ladder.first
        ladder = ladder.filter { $0.0.set == chosen?.0.set || $0.0.family == chosen?.0.family }
        if ladder.isEmpty { ladder = audio.filter { $0.0.set == audio.first?.0.set } }
        if ladder.isEmpty { ladder = pairs }
        return ladder.map { track, rendition in
            let isComplete = rendition.kind == .muxed || rendition.kind == .audio
            return Variant(
                id: rendition.id.description,
                peakBitRate: track.levels.bandwidth,
                resolution: track.levels.resolution,
                frameRate: track.levels.frameRate,
                codecs: track.levels.codecs,
                main: rendition.id,
                audio: isComplete ? [rendition.id] : audio.map(\.1.id),
                subtitles: subtitles,
                backups: []
            )
        }.enumerated().sorted { ($0.1.peakBitRate, $0.0) < ($1.1.peakBitRate, $1.0) }.map(\.element)
    }
}
