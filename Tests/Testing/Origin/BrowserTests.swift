import Foundation
import Instrument
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentOrigin

/// Chromium plays the origin's media: a probe of media that no browser plays would measure nothing real.
@Suite("The fixtures in a browser", .ownThread, .timeLimit(.minutes(30)))
struct BrowserTests {
    @Test("Chromium appends every track in fragmented MP4 that a manifest names, and plays the film")
    func appended() async throws {
        let fixtures = try await SharedFixtures.get()
        let origin = try await Origin.start(media: [.fixtures(fixtures)], schedule: DeliverySchedule("unlimited"))
        defer { Task { await origin.stop() } }
        var tracks: [CatalogueTrack] = []
        // Complete manifests that name the same files need one trial; windows of live ones are equal at times only.
        var known: Set<[MediaSourcePage.Trial.Part]> = []
        for entry in origin.catalogue where entry.path.hasSuffix(".m3u8") || entry.path.hasSuffix(".mpd") {
            for track in try await CatalogueTrack.tracks(of: origin, entry.path)
            where entry.path.hasPrefix("live/") || known.insert(track.trial.parts).inserted {
                tracks.append(track)
            }
        }
        let film = MediaSourcePage.Trial("film", type: nil, parts: [.init(origin.url("vod/movie.mp4"))])
        let reports: [MediaSourcePage.Report]
        do {
            let copies = tracks.reduce(into: [:]) { $0.merge($1.copies) { $1 } }
            reports = try await MediaSourcePage.reports(on: tracks.map(\.trial) + [film], files: copies)
        } catch let error as Browser.Unavailable {
            return print("SKIPPED: the fixtures in a browser, because \(error.reason)")
        }
        #expect(reports.map(\.name) == tracks.map(\.trial.name) + ["film"])
        for (report, track) in zip(reports, tracks) {
            #expect(report.error.isEmpty && report.ranges == 1, "\(report)")
            // A frame of AAC is 21 ms long; the encoder's first frames carry no sound, and are there nevertheless.
            // Tracks of low latency begin and end with a part, each up to 0.3 s beside the nominal end of a segment.
            let tolerance = report.name.hasPrefix("live/ll/") ? 0.6 : 0.1
            #expect(abs(report.end - report.start - track.duration) < tolerance, "\(report), not \(track.duration) s")
        }
        let last = try #require(reports.last)
        #expect(last.error.isEmpty && abs(last.end - Double(fixtures.seconds)) < 0.1, "\(last)")
        // Each packaging and addressing was tried: live and complete, with parts, ranges and messages.
        let names = Set(reports.map(\.name))
        for path in [
            "vod/fmp4/master.m3u8", "vod/fmp4/ads-emsg.m3u8", "vod/dash/number.mpd", "vod/dash/time.mpd",
            "vod/dash/base.mpd", "live/fmp4/master.m3u8", "live/ll/master.m3u8", "live/ll/low-latency.mpd",
            "live/dash/", "vod/cenc/master.m3u8", "vod/cbcs/master.m3u8", "event/fmp4/master.m3u8",
        ] {
            #expect(names.contains { $0.hasPrefix(path) }, "\(path)")
        }
    }
}
