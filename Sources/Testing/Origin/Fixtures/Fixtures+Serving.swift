internal import NIOCore

extension Fixtures {
    /// The resource at a path under `vod/`, `event/` or `live/`.
    /// - Parameter base: the address of the origin as the client reached it, with its session.
    func resource(
        _ kind: StreamKind,
        _ names: [String],
        _ query: StreamQuery,
        _ moment: Moment,
        base: String = "/"
    ) -> Resource? {
        guard let first = names.first else { return nil }
        let rest = Array(names.dropFirst())
        if let packaging = Track.Packaging(rawValue: first) {
            return hls(kind, packaging, rest, query, moment)
        }
        if kind == .vod, let scheme = EncryptionScheme(rawValue: first) { return encrypted(scheme, rest) }
        if kind == .vod, let encryption = PlaylistEncryption(rawValue: first) { return encrypted(encryption, rest) }
        switch (kind, first) {
        case (.vod, "dash"): return dash(rest, query, base)
        case (.live, "dash"): return liveDash(rest, query, moment, base)
        case (.vod, "subtitles"), (.live, "subtitles"):
            return SubtitleStream(fixtures: self).resource(kind, rest, query, moment)
        case (.live, "ll"):
            return LowLatencyStream(tracks: lowLatencyTracks, moment: moment).resource(rest, query, of: self)
        case (.vod, "range"): return ranges(rest)
        case (.vod, "movie.mp4") where rest.isEmpty: return Resource("video/mp4", .buffer(movie))
        case (.vod, "movie.ts") where rest.isEmpty: return Resource("video/mp2t", .buffer(transport[1]))
        default: return nil
        }
    }

    private func hls(
        _ kind: StreamKind,
        _ packaging: Track.Packaging,
        _ names: [String],
        _ query: StreamQuery,
        _ moment: Moment
    ) -> Resource? {
        guard let name = names.first else { return nil }
        if names.count == 2 {
            let count = track(Self.trackName(name), packaging)?.count ?? 0
            return segment(names, packaging, in: window(kind, packaging, count, query, moment))
        }
        guard names.count == 1, name.hasSuffix(".m3u8") else { return nil }
        if name == "master.m3u8" {
            return Resource(ContentType.hls, Body(masterPlaylist(packaging, query: query.text)))
        }
        if kind == .vod, let playlist = serverPlaylist(name, packaging, query) {
            return Resource(ContentType.hls, Body(playlist))
        }
        if let ads = AdPlaylist.named(name), ads.isServed(kind, packaging),
            let track = track(Self.variants[0].name, packaging)
        {
            let window = window(kind, packaging, track.count, query, moment)
            let plain = mediaPlaylist(track, packaging, kind, window, query: query.text)
            let text = ads.text(of: plain, segmentSeconds: packaging.seconds, from: window.listed.lowerBound)
            return Resource(ContentType.hls, Body(text))
        }
        guard let track = track(String(name.dropLast(5)), packaging) else { return nil }
        let window = window(kind, packaging, track.count, query, moment)
        return Resource(ContentType.hls, Body(mediaPlaylist(track, packaging, kind, window, query: query.text)))
    }

    /// `TRACK/init.mp4`, `TRACK/NUMBER.ts`, `TRACK/NUMBER.m4s` or `TRACK/tTIME.m4s`.
    private func segment(_ names: [String], _ packaging: Track.Packaging, in window: LiveWindow) -> Resource? {
        guard names.count == 2 else { return nil }
        let name = Self.trackName(names[0])
        guard let track = track(name, packaging) else { return nil }
        if names[1] == "init.mp4", let file = fragmentedFile(name), packaging == .fragmented {
            return Resource("video/mp4", file.initializationBody)
        }
        let parts = names[1].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == track.ending, let number = number(parts[0], name),
            window.available.contains(number), let body = track.body(number)
        else { return nil }
        let type = ContentType.of(path: names[1])
        if name == names[0] { return Resource(type, body) }
        let isTransport = packaging.isTransport
        return SignalSegments.body(body, number: number, isTransport: isTransport).map { Resource(type, $0) }
    }

    /// The name of a track without the mark of segments that carry signals.
    private static func trackName(_ name: String) -> String {
        name.hasPrefix(SignalSegments.prefix) ? String(name.dropFirst(SignalSegments.prefix.count)) : name
    }

    private func number(_ text: Substring, _ name: String) -> Int? {
        guard text.hasPrefix("t") else { return Int(text) }
        guard let time = Int(text.dropFirst()) else { return nil }
        return fragmentedFile(name)?.fragments.firstIndex { $0.start == time }
    }

    func window(
        _ kind: StreamKind,
        _ packaging: Track.Packaging,
        _ count: Int,
        _ query: StreamQuery,
        _ moment: Moment
    ) -> LiveWindow {
        let length = Int64(packaging.seconds) * 1_000
        switch kind {
        case .vod: return .whole(count: count)
        case .event: return .event(at: moment, segment: length, count: count)
        case .live: return .live(at: moment, segment: length, window: query.window)
        }
    }

    /// A master playlist with the highest variant first, with two servers, or with a steering server.
    private func serverPlaylist(_ name: String, _ packaging: Track.Packaging, _ query: StreamQuery) -> String? {
        switch name {
        case "descending.m3u8":
            masterPlaylist(packaging, query: query.text, order: Self.variants.indices.reversed())
        case "servers.m3u8": masterPlaylist(packaging, query: query.text, servers: PlaylistServer.both)
        case "steering.m3u8":
            masterPlaylist(
                packaging,
                query: query.text,
                servers: PlaylistServer.both,
                steering: SteeringServer(query)
            )
        default: nil
        }
    }

    private func dash(_ names: [String], _ query: StreamQuery, _ base: String) -> Resource? {
        guard let name = names.first else { return nil }
        if names.count == 2 { return segment(names, .fragmented, in: .whole(count: segmentCount)) }
        guard names.count == 1 else { return nil }
        if name.hasSuffix(".mpd"), let addressing = DASHAddressing(rawValue: String(name.dropLast(4))) {
            return Resource(ContentType.dash, Body(manifest(addressing)))
        }
        if name == "servers.mpd" {
            return Resource(ContentType.dash, Body(manifest(.number, servers: PlaylistServer.both)))
        }
        if name == "steering.mpd" {
            let manifest = manifest(.number, servers: PlaylistServer.both, steering: SteeringServer(query))
            return Resource(ContentType.dash, Body(manifest))
        }
        if let ads = AdManifest.named(name) { return Resource(ContentType.dash, Body(ads.text(of: self, base: base))) }
        guard name.hasSuffix(".mp4"), let file = fragmentedFile(String(name.dropLast(4))) else { return nil }
        return Resource("video/mp4", .buffer(file.bytes))
    }

    private func liveDash(
        _ names: [String],
        _ query: StreamQuery,
        _ moment: Moment,
        _ base: String
    ) -> Resource? {
        let clock = names.count == 1 ? DASHClock.named(names[0]) : nil
        if names == ["number.mpd"] || clock != nil {
            let manifest = liveManifest(at: moment, window: query.window, clock: clock ?? .direct, base: base)
            return Resource(ContentType.dash, Body(manifest))
        }
        if names == ["patch.mpd"] || names == ["patch.mpp"] {
            let manifest = PatchedManifest(self, at: moment, window: query.window)
            if names == ["patch.mpd"] { return Resource(ContentType.dash, Body(manifest.manifest)) }
            let patch = query.patched.flatMap { manifest.patch(since: $0) }
            return patch.map { Resource(ContentType.dashPatch, Body($0)) }
        }
        return segment(names, .fragmented, in: window(.live, .fragmented, segmentCount, query, moment))
    }

    private func ranges(_ names: [String]) -> Resource? {
        guard names.count == 1, let name = names.first else { return nil }
        if name == "master.m3u8" { return Resource(ContentType.hls, Body(masterPlaylist(.transport, query: ""))) }
        if name.hasSuffix(".m3u8"), let track = track(String(name.dropLast(5)), .transport) {
            return Resource(ContentType.hls, Body(rangePlaylist(track)))
        }
        guard let index = Self.variants.firstIndex(where: { $0.name + ".ts" == name }) else { return nil }
        return Resource("video/mp2t", .buffer(transport[index]))
    }

    /// The paths that a player may open.
    var catalogue: [CatalogueEntry] {
        var entries: [CatalogueEntry] = []
        for packaging in Track.Packaging.allCases {
            entries.append(CatalogueEntry("vod/\(packaging.rawValue)/master.m3u8", "HLS, \(packaging.summary)"))
        }
        for packaging in Track.Packaging.allCases {
            let folder = "vod/\(packaging.rawValue)"
            let text = "HLS, \(packaging.summary)"
            entries.append(CatalogueEntry("\(folder)/descending.m3u8", "\(text), the highest variant first"))
            entries.append(CatalogueEntry("\(folder)/servers.m3u8", "\(text), redundant streams of servers a and b"))
            entries.append(CatalogueEntry("\(folder)/steering.m3u8", "\(text), content steering from server a to b"))
        }
        entries.append(CatalogueEntry("vod/range/master.m3u8", "HLS, transport stream, byte ranges of one file each"))
        entries.append(CatalogueEntry("vod/aes/index.m3u8", "HLS, transport stream, encrypted with AES-128"))
        entries.append(CatalogueEntry("vod/sample-aes/index.m3u8", "HLS, transport stream, samples with SAMPLE-AES"))
        for addressing in DASHAddressing.allCases {
            entries.append(CatalogueEntry("vod/dash/\(addressing.rawValue).mpd", "DASH, \(addressing.summary)"))
        }
        entries.append(CatalogueEntry("vod/dash/servers.mpd", "DASH, base addresses of servers a and b"))
        entries.append(CatalogueEntry("vod/dash/steering.mpd", "DASH, content steering from server a to b"))
        entries.append(CatalogueEntry("vod/movie.mp4", "a progressive MP4 film"))
        entries.append(CatalogueEntry("vod/movie.ts", "a progressive transport stream"))
        for packaging in Track.Packaging.allCases {
            let seam =
                packaging.isTransport ? "a discontinuity at each loop" : "timestamps that continue through the loops"
            entries.append(
                CatalogueEntry("live/\(packaging.rawValue)/master.m3u8", "live HLS, \(packaging.summary), \(seam)")
            )
        }
        for ads in AdPlaylist.allCases {
            for kind in StreamKind.allCases where ads.isServed(kind, ads.packaging) {
                let path = "\(kind.rawValue)/\(ads.packaging.rawValue)/ads-\(ads.rawValue).m3u8"
                entries.append(CatalogueEntry(path, (kind == .live ? "live " : "") + ads.summary))
            }
        }
        for ads in AdManifest.allCases {
            entries.append(CatalogueEntry("vod/dash/ads-\(ads.rawValue).mpd", ads.summary))
        }
        entries += Self.encryptedCatalogue + SubtitleStream.catalogue
        entries.append(CatalogueEntry("live/ll/master.m3u8", "live HLS, low latency, parts of half a second"))
        entries.append(CatalogueEntry("live/ll/low-latency.mpd", "live DASH, low latency, segments in chunks"))
        entries.append(CatalogueEntry("live/dash/number.mpd", "live DASH, timestamps that continue through the loops"))
        for clock in DASHClock.allCases where clock != .direct {
            let path = "live/dash/clock-\(clock.rawValue).mpd"
            entries.append(CatalogueEntry(path, "live DASH, the server's time by UTCTiming http-\(clock.rawValue)"))
        }
        entries.append(CatalogueEntry("live/dash/patch.mpd", "live DASH, SegmentTimeline, updates as MPD patches"))
        for packaging in Track.Packaging.allCases {
            let path = "event/\(packaging.rawValue)/master.m3u8"
            entries.append(CatalogueEntry(path, "an HLS event that grows to its end, \(packaging.summary)"))
        }
        return entries
    }
}

extension Track.Packaging {
    fileprivate var summary: String {
        switch self {
        case .transport: "transport stream, 2 s"
        case .longTransport: "transport stream, 6 s"
        case .fragmented: "fragmented MP4, 2 s, two languages apart"
        }
    }
}

extension Fixtures {
    /// The resource with these names under `vod/cenc/` or `vod/cbcs/`: fragmented MP4 with encrypted samples.
    func encrypted(_ scheme: EncryptionScheme, _ names: [String]) -> Resource? {
        guard let name = names.first else { return nil }
        switch names.count {
        case 1: return encryptedManifest(scheme, name)
        case 2: return encryptedMedia(scheme, name, names[1])
        default: return nil
        }
    }

    private func encryptedManifest(_ scheme: EncryptionScheme, _ name: String) -> Resource? {
        if name == "master.m3u8" { return Resource(ContentType.hls, Body(masterPlaylist(.fragmented, query: ""))) }
        if name == "number.mpd" {
            let lines = manifest(.number).split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.contains("<AdaptationSet ") ? "\(line)\n" + scheme.elements.dropLast() : String(line)
            }
            return Resource(ContentType.dash, Body(lines.joined(separator: "\n")))
        }
        guard name.hasSuffix(".m3u8"), let track = track(String(name.dropLast(5)), .fragmented) else { return nil }
        let plain = mediaPlaylist(track, .fragmented, .vod, .whole(count: track.count), query: "")
        let lines = plain.split(separator: "\n").map {
            $0.hasPrefix("#EXT-X-MAP:") ? "\(scheme.tag)\n\($0)" : String($0)
        }
        return Resource(ContentType.hls, Body(lines.joined(separator: "\n") + "\n"))
    }

    private func encryptedMedia(_ scheme: EncryptionScheme, _ name: String, _ part: String) -> Resource? {
        guard let file = fragmentedFile(name),
            let encryption = SampleEncryption(scheme, isVideo: Self.variants.contains { $0.name == name })
        else { return nil }
        func bytes(_ body: Body?) -> [UInt8]? {
            body.flatMap { $0.bytes(at: 0, count: $0.count) }.map { Array($0.readableBytesView) }
        }
        let media: [UInt8]?
        if part == "init.mp4" {
            media = bytes(file.initializationBody).flatMap(encryption.initialization)
        } else {
            guard part.hasSuffix(".m4s"), let number = Int(part.dropLast(4)) else { return nil }
            media = bytes(file.body(of: number, round: 0)).flatMap(encryption.fragment)
        }
        return media.map { Resource("video/mp4", Body($0)) }
    }

    /// The resource with these names under `vod/aes/` or `vod/sample-aes/`: a transport stream and its key.
    func encrypted(_ encryption: PlaylistEncryption, _ names: [String]) -> Resource? {
        guard names.count == 1, let name = names.first else { return nil }
        if name == "index.m3u8" { return Resource(ContentType.hls, Body(encryptedPlaylist(encryption))) }
        if name == "key" { return Resource("application/octet-stream", Body(Self.key)) }
        guard name.hasSuffix(".ts"), let number = Int(name.dropLast(3)), encrypted.indices.contains(number) else {
            return nil
        }
        let body = encryption == .aes ? encrypted[number] : segmentWithEncryptedSamples(number)
        return body.map { Resource("video/mp2t", $0) }
    }

    private func segmentWithEncryptedSamples(_ number: Int) -> Body? {
        guard let plain = track(Self.variants[0].name, .transport)?.body(number),
            let bytes = plain.bytes(at: 0, count: plain.count),
            let encryption = TransportEncryption(key: Self.key, vector: Self.initializationVector)
        else { return nil }
        return encryption.segment(Array(bytes.readableBytesView)).map { Body($0) }
    }

    static var encryptedCatalogue: [CatalogueEntry] {
        EncryptionScheme.allCases.flatMap { scheme in
            let text = "fragmented MP4, samples encrypted with Common Encryption (\(scheme.rawValue))"
            return [
                CatalogueEntry("vod/\(scheme.rawValue)/master.m3u8", "HLS, \(scheme.method), \(text)"),
                CatalogueEntry("vod/\(scheme.rawValue)/number.mpd", "DASH, \(text)"),
            ]
        }
    }
}
