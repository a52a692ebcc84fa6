import Instrument
import InstrumentProbe
import LoopbackServers
import TestTraits
import Testing

struct Container: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var path: Result<String, FixtureError>
    var width: Int?
    var fps: Double?
}

@Suite("Containers", .ownThread)
struct ContainerTests {
    static let containers = [
        Container(testDescription: "MP4", path: Fixtures.mp4, width: 320, fps: 25),
        Container(testDescription: "MP4, index last", path: Fixtures.mp4AtEnd, width: 320, fps: 25),
        Container(testDescription: "MKV", path: Fixtures.mkv, width: 320, fps: 25),
        Container(testDescription: "TS", path: Fixtures.ts, width: 320, fps: 25),
        Container(testDescription: "WebM", path: Fixtures.webm, width: 320, fps: 25),
        Container(testDescription: "FLV", path: Fixtures.flv, width: 320, fps: 25),
        Container(testDescription: "AVI", path: Fixtures.avi, width: 320, fps: 25),
        Container(testDescription: "MP3", path: Fixtures.mp3),
        Container(testDescription: "ADTS", path: Fixtures.adts),
        Container(testDescription: "FLAC", path: Fixtures.flac),
        Container(testDescription: "Ogg", path: Fixtures.ogg),
        Container(testDescription: "WAV", path: Fixtures.wav),
    ]

    @Test("Every container plays to its end, with its declared properties", arguments: containers)
    func container(_ container: Container) async throws {
        let played = await playThrough(try container.path.get())
        #expect(played.outcome == .ended)
        #expect(
            played.actions == [
                .trackerInit, .playerSet, .playerReady, .mediaRequest, .prepareItem, .streamLoad, .bufferBegin,
                .bufferFinish,
                .start, .end,
            ]
        )
        #expect(played.rejected.isEmpty)
        let end = try #require(played.first(.end))
        let position = try #require(end[.position]).milliseconds
        let duration = try #require(end[.duration]).milliseconds
        let extent = try Fixtures.extent(of: try container.path.get())
        // Containers have different ticks, of at most a millisecond.
        #expect(abs(position - extent.end) <= 1)
        #expect(abs(duration - extent.duration) <= 1)
        #expect(end[Action.start.timeKey] == position)
        #expect(end[.resolutionWidth] == container.width)
        #expect(end[.resolutionHeight] == container.width.map { $0 * 9 / 16 })
        #expect(end[.fps] == container.fps)
        #expect(try #require(end[.bitrate]) > 10_000)
        #expect(end[.source] == (try container.path.get()))
    }

    @Test("Title and language come from the media; without a title, the title is the file's name")
    func names() async throws {
        let named = try #require(await playThrough(try Fixtures.mp4.get()).first(.start))
        #expect(named[.title] == "A film")
        #expect(named[.language] == "eng")
        let unnamed = try #require(await playThrough(try Fixtures.ts.get()).first(.start))
        #expect(unnamed[.title] == "film.ts")
        #expect(unnamed[.language] == nil)
    }

    @Test("A change of resolution is reported when the playhead reaches it")
    func renditions() async throws {
        let played = await playThrough(MediaCache.sample)
        #expect(played.outcome == .ended)
        let start = try #require(played.first(.start))
        let up = try #require(played.first(.qualityChangeUp))
        let down = try #require(played.first(.qualityChangeDown))
        #expect([start, up, down].map { $0[.resolutionWidth] } == [320, 640, 480])
        #expect([start, up, down].map { $0[.resolutionHeight] } == [180, 360, 270])
        #expect([start, up, down].map { $0[.position]?.milliseconds } == [0, 4000, 8000])
        #expect([up, down].map { $0[Action.start.timeKey] } == [4000, 8000])
        #expect(played.actions.suffix(4) == [.start, .qualityChangeUp, .qualityChangeDown, .end])
        #expect(start[.language] == "eng")
    }

    @Test("Concatenated streams play in sequence although their timestamps restart")
    func joined() async throws {
        let film = try Fixtures.data(try Fixtures.ts.get())
        let played = await playThrough(try Fixtures.file(film + film + film, "joined.ts"))
        #expect(played.outcome == .ended)
        let length = try Fixtures.extent(of: try Fixtures.ts.get()).end
        let position = try #require(played.first(.end)?[.position]).milliseconds
        #expect(abs(position - 3 * length) <= 3 * 40)
    }

    @Test("Two runs of one session have the same events")
    func determinism() async throws {
        let script: (VirtualClock, Probe) -> Void = { clock, probe in
            clock.at(1500) { probe.pause() }
            clock.at(2500) { probe.resume() }
            clock.at(4000) { probe.seek(to: .seconds(9)) }
            clock.at(5000) { probe.setRate(1.5) }
        }
        let (first, second) = (
            await playThrough(MediaCache.sample, script: script),
            await playThrough(MediaCache.sample, script: script)
        )
        let differing: [AttributeName] = [
            AttributeKey<String>.senderId.name, AttributeKey<String>.streamId.name,
            AttributeKey<String>.playbackId.name,
        ]
        func comparable(_ played: Played) -> [Event] {
            played.events.map { event in
                var event = event
                for name in differing { event.attributes[name] = nil }
                return event
            }
        }
        #expect(comparable(first) == comparable(second))
        #expect(first.events.count > 14)
    }
}
