import Foundation
import Instrument
import InstrumentHTTP
import InstrumentManifests
import LoopbackServers

@testable import InstrumentOrigin

/// The tracks in fragmented MP4 that a manifest of an origin names, as a browser would append them.
struct CatalogueTrack: Hashable {
    var trial: MediaSourcePage.Trial
    /// In seconds.
    var duration: Double
    /// Copies of live segments, which expire before a browser asks for them, by path.
    var copies: [String: [UInt8]] = [:]

    /// Reads a manifest and its playlists.
    static func tracks(of origin: Origin, _ path: String) async throws -> [CatalogueTrack] {
        let url = try HTTPURL(origin.url(path))
        let (bytes, _) = try await load(origin, url)
        let now = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        let presentation = try Presentation(parsing: bytes, at: url, now: now)
        var tracks: [CatalogueTrack] = []
        for rendition in presentation.renditions where rendition.kind != .subtitles {
            let segments: [MediaSegment]
            switch rendition.source {
            case .segments(let index): segments = Self.segments(of: index, presentation, now)
            case .loaded(let playlist): segments = playlist.segments
            case .playlist(let url):
                guard case .media(let playlist) = try HLSPlaylist(parsing: try await load(origin, url).bytes, at: url)
                else { continue }
                // The parts of low latency in place of their segments.
                let open = playlist.openSegment.map { [$0] } ?? []
                segments = (playlist.segments + open).flatMap { segment in
                    segment.parts.isEmpty ? [segment] : segment.parts.indices.compactMap { segment.partial($0) }
                }
            case .parts(let parts):
                var found: [MediaSegment] = []
                for case .index(let part) in parts {
                    let range = part.indexRange.offset..<(part.indexRange.offset + (part.indexRange.length ?? 0))
                    let bytes = Array(
                        try await load(origin, part.url).bytes[Int(range.lowerBound)..<Int(range.upperBound)]
                    )
                    found += Self.segments(of: try part.segments(from: bytes), presentation, now)
                }
                segments = found
            }
            guard var track = Self.track("\(path) \(rendition.id)", rendition, presentation, segments) else { continue }
            if path.hasPrefix("live/") { try await track.copy(from: origin) }
            tracks.append(track)
        }
        return tracks
    }

    /// The whole index, or the last complete segments of a live one.
    private static func segments(of index: SegmentIndex, _ presentation: Presentation, _ now: WallTime)
        -> [MediaSegment]
    {
        var (found, next) = ([MediaSegment](), index.first)
        while let segment = next {
            if let availability = segment.completion ?? segment.availability, availability > now { break }
            found.append(segment)
            next = index.segment(after: segment.sequence)
        }
        return presentation.kind == .live ? found.suffix(4) : found
    }

    private static func track(
        _ name: String,
        _ rendition: Rendition,
        _ presentation: Presentation,
        _ segments: [MediaSegment]
    ) -> CatalogueTrack? {
        let media = segments.filter { !$0.isGap }
        guard let initialization = media.first?.initialization else { return nil }
        let isAudio = rendition.kind == .audio
        let declared = rendition.codecs.isEmpty ? ["avc1.4D401E", "mp4a.40.2"] : rendition.codecs
        let codecs = declared.filter { CodecList.isAudio($0) == isAudio }.joined(separator: ",")
        func part(_ url: HTTPURL, _ range: ByteRange?) -> MediaSourcePage.Trial.Part {
            .init(url.description, range: range.map { Int($0.offset)...Int($0.offset + ($0.length ?? 1) - 1) })
        }
        let parts = [part(initialization.url, initialization.byteRange)] + media.map { part($0.url, $0.byteRange) }
        return CatalogueTrack(
            trial: .init(name, type: "\(isAudio ? "audio" : "video")/mp4; codecs=\"\(codecs)\"", parts: parts),
            duration: Double(media.reduce(0) { $0 + $1.duration }) / 1e9
        )
    }

    private mutating func copy(from origin: Origin) async throws {
        for (index, part) in trial.parts.enumerated() {
            let url = try HTTPURL(part.url)
            copies[url.path] = try await Self.load(origin, url).bytes
            trial.parts[index].url = url.path
        }
    }

    private static func load(_ origin: Origin, _ url: HTTPURL) async throws -> (bytes: [UInt8], type: String) {
        let response = try await fetch(origin.port, url.path)
        guard response.status == 200 else { throw ManifestError(.malformed, "status \(response.status) of \(url)") }
        return (response.body, response.header("Content-Type") ?? "")
    }
}
