internal import InstrumentHTTP

/// Creates the variants and renditions of a multivariant playlist.
struct HLSLadder {
    private(set) var variants: [Variant] = []
    /// The first variant of the playlist, in the pathway that is played.
    private(set) var firstListed: Variant.ID?
    private(set) var renditions: [Rendition] = []
    private(set) var notices: [ManifestNotice] = []
    private let playlist: HLSMultivariantPlaylist
    /// Renditions by kind and group, the best choice first; a rendition without address stands for the main
    /// rendition.
    private var groups: [GroupKey: [(media: HLSMultivariantPlaylist.Media, id: Rendition.ID?)]] = [:]
    /// The renditions of each group that have an address, for all variants that choose from it.
    private var choices: [GroupKey: [Rendition.ID]] = [:]
    private var mains: [HTTPURL: Rendition.ID] = [:]
    private var redundant: [VariantKey: Int] = [:]
    private var backups: Set<Backup> = []
    /// The playlists with the same content, by the address of the first one.
    private var servers: [HTTPURL: [ContentLocations.Location]] = [:]
    private var serverOrder: [HTTPURL] = []
    private var serverPairs: Set<[HTTPURL]> = []
    /// The audio playlists of each group by name and language.
    private var audioPlaylists: [String: [AudioName: HTTPURL]] = [:]
    private var pairedGroups: Set<[String]> = []
    private var steeredGroups: Set<String> = []
    private var streams: [Rendition.ID: HLSMultivariantPlaylist.Stream] = [:]

    private struct Backup: Hashable {
        var variant: Int
        var rendition: Rendition.ID
    }

    private struct AudioName: Hashable {
        var name: String
        var language: String?
        var order: (String, String) { (name, language ?? "") }
    }

    private struct GroupKey: Hashable {
        var kind: HLSMultivariantPlaylist.Media.Kind
        var group: String
    }

    /// The properties by which streams have the same content (RFC 8216 section 4.3.4.2, redundant streams).
    private struct VariantKey: Hashable {
        var bandwidth: Int64
        var average: Int64?
        var codecs: [String]
        var resolution: Resolution?
        var frameRate: Double?
    }

    init(_ playlist: HLSMultivariantPlaylist) { self.playlist = playlist }

    mutating func build() {
        addGroups()
        let first = playlist.streams.first?.pathway
        // The first pathway is played (rfc8216bis section 4.4.6.2); the others are backups.
        for stream in playlist.streams where stream.pathway == first { addVariant(stream) }
        for stream in playlist.streams where stream.pathway != first { addVariant(stream) }
        firstListed = variants.first?.id
        let ranked = variants.enumerated().sorted { ($0.1.peakBitrate, $0.0) < ($1.1.peakBitrate, $1.0) }
        variants = ranked.map(\.element)
        if playlist.streams.contains(where: { $0.videoGroup != nil }) {
            notices.append(ManifestNotice(.alternativeVideo))
        }
    }

    private mutating func addGroups() {
        var known: Set<Rendition.ID> = []
        for media in playlist.media where media.kind == .audio || media.kind == .subtitles {
            let name = media.kind == .audio ? "audio" : "subtitles"
            var id = Rendition.ID("\(name)/\(media.group)/\(media.name)")
            if !known.insert(id).inserted { id = Rendition.ID("\(id)/\(known.count)") }
            known.insert(id)
            if let url = media.url { renditions.append(Rendition(media, id, url)) }
            if media.kind == .audio, let url = media.url {
                let name = AudioName(name: media.name, language: media.language)
                audioPlaylists[media.group, default: [:]][name] = audioPlaylists[media.group]?[name] ?? url
            }
            let key = GroupKey(kind: media.kind, group: media.group)
            groups[key, default: []].append((media, media.url == nil ? nil : id))
        }
        for key in groups.keys {
            // Sorting by rank keeps the playlist's order within a rank.
            groups[key] = (0...2).flatMap { rank in groups[key, default: []].filter { Self.rank($0.media) == rank } }
            choices[key] = groups[key, default: []].compactMap(\.id)
        }
    }

    private static func rank(_ media: HLSMultivariantPlaylist.Media) -> Int {
        media.isDefault ? 0 : media.isAutoselected ? 1 : 2
    }

    private mutating func addVariant(_ stream: HLSMultivariantPlaylist.Stream) {
        let key = VariantKey(
            bandwidth: stream.bandwidth,
            average: stream.averageBandwidth,
            codecs: stream.codecs,
            resolution: stream.resolution,
            frameRate: stream.frameRate
        )
        let main = main(of: stream)
        // A stream with equal properties and another address is a backup; with another audio group it is a variant.
        if let index = redundant[key], variants[index].main != main || variants[index].audioGroup == stream.audioGroup {
            if variants[index].main != main, backups.insert(Backup(variant: index, rendition: main)).inserted {
                variants[index].backups.append(main)
                addServers(of: stream, besides: variants[index])
            }
            return
        }
        redundant[key] = redundant[key] ?? variants.count
        if playlist.steering != nil { addSteered(stream) }
        let subtitles = stream.subtitleGroup.flatMap { choices[GroupKey(kind: .subtitles, group: $0)] } ?? []
        variants.append(
            Variant(
                id: String(variants.count),
                peakBitrate: stream.bandwidth,
                averageBitrate: stream.averageBandwidth,
                resolution: stream.resolution,
                frameRate: stream.frameRate,
                codecs: stream.codecs,
                main: main,
                audio: audio(of: stream, main),
                subtitles: subtitles,
                backups: [],
                audioGroup: stream.audioGroup
            )
        )
    }

    /// Notes the addresses of a backup and of its audio group.
    private mutating func addServers(of stream: HLSMultivariantPlaylist.Stream, besides variant: Variant) {
        guard let first = streams[variant.main] else { return }
        addServer(stream.url, stream.pathway, besides: first.url, first.pathway)
        guard let group = variant.audioGroup, let other = stream.audioGroup, group != other,
            pairedGroups.insert([group, other]).inserted
        else { return }
        let (mine, others) = (audioPlaylists[group] ?? [:], audioPlaylists[other] ?? [:])
        // The smaller group is looked up in the larger one, so that many groups cost no more than their renditions.
        let names = (mine.count < others.count ? mine.keys : others.keys).sorted { $0.order < $1.order }
        for name in names {
            guard let url = mine[name], let backup = others[name], backup != url else { continue }
            addServer(backup, stream.pathway, besides: url, first.pathway)
        }
    }

    /// Notes the addresses of a variant and of its audio group, which a steering server may clone.
    private mutating func addSteered(_ stream: HLSMultivariantPlaylist.Stream) {
        addFirst(stream.url, stream.pathway)
        guard let group = stream.audioGroup, steeredGroups.insert(group).inserted else { return }
        for (media, _) in groups[GroupKey(kind: .audio, group: group)] ?? [] {
            if let url = media.url { addFirst(url, stream.pathway) }
        }
    }

    /// Notes the address in the presentation. A stream without a pathway is in the pathway `.` (rfc8216bis section
    /// 4.4.6.2).
    private mutating func addFirst(_ url: HTTPURL, _ pathway: String?) {
        guard servers[url] == nil else { return }
        serverOrder.append(url)
        let id = pathway ?? (playlist.steering == nil ? url.origin : ".")
        servers[url] = [ContentLocations.Location(id: id, base: url)]
    }

    private mutating func addServer(
        _ backup: HTTPURL,
        _ pathway: String?,
        besides url: HTTPURL,
        _ firstPathway: String?
    ) {
        guard serverPairs.insert([url, backup]).inserted else { return }
        addFirst(url, firstPathway)
        servers[url]?.append(ContentLocations.Location(id: pathway ?? backup.origin, base: backup))
    }

    /// The playlists that other servers have as well.
    var locations: [ContentLocations] {
        let isSteered = playlist.steering != nil
        return serverOrder.compactMap { servers[$0].flatMap { ContentLocations($0, isSteered: isSteered) } }
    }

    /// The audio renditions of the stream. A rendition without an address is part of the main rendition.
    private func audio(of stream: HLSMultivariantPlaylist.Stream, _ main: Rendition.ID) -> [Rendition.ID] {
        guard let key = stream.audioGroup.map({ GroupKey(kind: .audio, group: $0) }), let group = groups[key],
            !group.isEmpty
        else { return [main] }
        let choices = choices[key] ?? []
        // One list for all variants, unless each variant has a separate rendition in it.
        return choices.count == group.count ? choices : group.map { $0.id ?? main }
    }

    private mutating func main(of stream: HLSMultivariantPlaylist.Stream) -> Rendition.ID {
        if let id = mains[stream.url] { return id }
        let id = Rendition.ID("main/\(mains.count)")
        mains[stream.url] = id
        streams[id] = stream
        let separate = stream.audioGroup.flatMap { groups[GroupKey(kind: .audio, group: $0)] }?.first?.id != nil
        var rendition = Rendition(
            id: id,
            kind: Self.kind(of: stream, hasSeparateAudio: separate),
            source: .playlist(stream.url)
        )
        rendition.codecs = stream.codecs
        renditions.append(rendition)
        return id
    }

    private static func kind(of stream: HLSMultivariantPlaylist.Stream, hasSeparateAudio: Bool) -> Rendition.Kind {
        let hasPicture = stream.resolution != nil || stream.codecs.contains(where: CodecList.isVideo)
        if !stream.codecs.isEmpty, !hasPicture { return .audio }
        if hasSeparateAudio { return .video }
        return stream.codecs.isEmpty || stream.codecs.contains(where: CodecList.isAudio) ? .muxed : .video
    }
}

extension Rendition {
    fileprivate init(_ media: HLSMultivariantPlaylist.Media, _ id: ID, _ url: HTTPURL) {
        self.init(id: id, kind: media.kind == .audio ? .audio : .subtitles, source: .playlist(url))
        language = media.language
        name = media.name
        isDefault = media.isDefault
        isAutoselected = media.isAutoselected
        isForced = media.isForced
        characteristics = media.characteristics
        if media.kind == .subtitles { container = .webVTT }
    }
}
