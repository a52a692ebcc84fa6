internal import Instrument
internal import InstrumentText

/// The playlists of the fixtures (RFC 8216).
extension Fixtures {
    /// Returns a master playlist, which passes `query` to its media playlists.
    /// - Parameters:
    ///   - order: the places of the variants in the order of the playlist; by default the smallest first.
    ///   - servers: where the playlists are; more than one for redundant streams.
    ///   - steering: the steering server, of which the servers are pathways.
    func masterPlaylist(
        _ packaging: Track.Packaging,
        query: String,
        order: [Int] = Array(variants.indices),
        servers: [PlaylistServer] = [PlaylistServer()],
        steering: SteeringServer? = nil
    ) -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
        if let steering, let pathway = servers.first?.name {
            let address = "SERVER-URI=\"\(steering.address)\""
            lines.append("#EXT-X-CONTENT-STEERING:\(address),PATHWAY-ID=\"\(pathway)\"")
        }
        let folder = "vod/\(packaging.rawValue)/"
        let hasSound = packaging == .fragmented
        if hasSound {
            for server in servers { lines += soundLines(server, prefix: server.prefix(of: folder), query: query) }
        }
        let sound = hasSound ? Self.languages.compactMap { track($0.name, packaging) } : []
        let peak = sound.map(\.peakBitrate).max() ?? 0
        let average = sound.map(\.averageBitrate).max() ?? 0
        for index in order where Self.variants.indices.contains(index) {
            let variant = Self.variants[index]
            guard let track = track(variant.name, packaging) else { continue }
            for server in servers {
                var line =
                    "#EXT-X-STREAM-INF:BANDWIDTH=\(track.peakBitrate + peak),"
                    + "AVERAGE-BANDWIDTH=\(track.averageBitrate + average),"
                    + "CODECS=\"\(video[index].codecs),mp4a.40.2\",RESOLUTION=\(variant.width)x\(variant.height),"
                    + "FRAME-RATE=25.000"
                if hasSound { line += ",AUDIO=\"\(server.group)\"" }
                if steering != nil, let pathway = server.name { line += ",PATHWAY-ID=\"\(pathway)\"" }
                lines += [line, "\(server.prefix(of: folder))\(variant.name).m3u8\(query)"]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func soundLines(_ server: PlaylistServer, prefix: String, query: String) -> [String] {
        Self.languages.enumerated().map { index, language in
            let usual = index == 0 ? "YES" : "NO"
            return "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(server.group)\",NAME=\"\(language.title)\","
                + "LANGUAGE=\"\(language.name)\",DEFAULT=\(usual),AUTOSELECT=YES,CHANNELS=\"2\","
                + "URI=\"\(prefix)\(language.name).m3u8\(query)\""
        }
    }

    /// Returns a media playlist of the segments that `window` lists.
    func mediaPlaylist(
        _ track: Track,
        _ packaging: Track.Packaging,
        _ kind: StreamKind,
        _ window: LiveWindow,
        query: String
    )
        -> String
    {
        let target = track.durations.max().map { Int($0.rounded()) } ?? packaging.seconds
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(max(target, packaging.seconds))"]
        let isLooped = kind == .live && packaging.isTransport
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(window.listed.lowerBound)")
        if isLooped {
            // A transport stream restarts its timestamps with each loop; the discontinuities before the first listed
            // segment count.
            lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(max(0, window.listed.lowerBound - 1) / track.count)")
        }
        if kind == .vod { lines.append("#EXT-X-PLAYLIST-TYPE:VOD") }
        if kind == .event { lines.append("#EXT-X-PLAYLIST-TYPE:EVENT") }
        lines.append("#EXT-X-INDEPENDENT-SEGMENTS")
        if let initialization = track.initialization { lines.append("#EXT-X-MAP:URI=\"\(initialization)\"") }
        for number in window.listed {
            if isLooped, number > 0, number % track.count == 0 { lines.append("#EXT-X-DISCONTINUITY") }
            if kind != .vod { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(track.date(of: number, from: window.start))") }
            lines.append("#EXTINF:\(decimal(track.durations[number % track.count])),")
            lines.append("\(track.name)/\(number).\(track.ending)\(query)")
        }
        if window.isOver { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A playlist of byte ranges of one file (section 4.3.2.2).
    func rangePlaylist(_ track: Track) -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:0"]
        lines.append("#EXT-X-PLAYLIST-TYPE:VOD")
        var offset = 0
        for (size, duration) in zip(track.sizes, track.durations) {
            lines += ["#EXTINF:\(decimal(duration)),", "#EXT-X-BYTERANGE:\(size)@\(offset)", "\(track.name).ts"]
            offset += size
        }
        return lines.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }

    /// A playlist of encrypted segments (section 4.3.2.4).
    func encryptedPlaylist(_ encryption: PlaylistEncryption) -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:\(encryption.version)", "#EXT-X-TARGETDURATION:2"]
        lines += ["#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD"]
        let vector = Self.initializationVector.hexadecimal(uppercase: false)
        lines.append("#EXT-X-KEY:METHOD=\(encryption.method),URI=\"key\",IV=0x\(vector)")
        for number in encrypted.indices { lines += ["#EXTINF:\(decimal(2)),", "\(number).ts"] }
        return lines.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }
}

/// The encryption of a transport stream: the name of the folder under `vod/`.
enum PlaylistEncryption: String, Sendable, CaseIterable {
    /// Whole segments with AES-128 in CBC mode.
    case aes
    /// The samples of H.264 and AAC.
    case sampleAES = "sample-aes"

    var method: String { self == .aes ? "AES-128" : "SAMPLE-AES" }
    /// The version of the protocol that has the method (section 7).
    var version: Int { self == .aes ? 3 : 5 }
}

/// Whether a stream is finished, growing, or endless.
enum StreamKind: String, Sendable, CaseIterable { case vod, event, live }

extension Track {
    /// Returns the calendar time of a segment's start, after the preceding loops, which have equal length.
    fileprivate func date(of number: Int, from start: WallTime) -> String {
        let round = durations.reduce(0, +)
        let time = Double(number / count) * round + durations[..<(number % count)].reduce(0, +)
        let milliseconds = start.milliseconds &+ (Int64(exactly: (time * 1_000).rounded()) ?? 0)
        return WallTime(milliseconds: milliseconds).rfc3339
    }
}

/// Formats a number of seconds with six decimals.
func decimal(_ value: Double) -> String {
    let micros = Int(exactly: (value * 1_000_000).rounded()) ?? 0
    return "\(micros / 1_000_000).\((micros % 1_000_000).padded(6))"
}
