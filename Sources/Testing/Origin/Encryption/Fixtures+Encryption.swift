internal import NIOCore

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
