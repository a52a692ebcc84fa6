import Instrument
import InstrumentJSON
import Testing

@testable import InstrumentMPV

@Suite("Meaning of mpv's events")
struct ModelTests {
    private func stage() -> Stage {
        var stage = Stage()
        stage.connect()
        return stage
    }

    @Test("A file is reported from its load to its end, and the end waits for the next event")
    func file() {
        var stage = stage()
        stage.begin()
        stage.set(.coreIdle, true)
        stage.play(.endFile(.endOfFile))
        #expect(stage.actions == [.streamLoad, .start])
        stage.set(.idleActive, true)
        #expect(stage.actions == [.streamLoad, .start, .end])
        #expect(stage.signals.last?.instant == MonotonicInstant(nanoseconds: 6_000_000_000))
        #expect(stage.signals.map { $0.status?.source } == ["/film.mkv", "/film.mkv", "/film.mkv"])
    }

    @Test("Playback is not restarted yet while it is paused for the cache")
    func initialBuffering() {
        var stage = stage()
        stage.truth[.path] = "/film.mkv"
        stage.play(.startFile, .fileLoaded)
        stage.set(.isPausedForCache, true)
        stage.play(.playbackRestart)
        #expect(stage.actions == [.streamLoad, .bufferBegin])
        stage.set(.isPausedForCache, false)
        stage.set(.coreIdle, false)
        #expect(stage.actions == [.streamLoad, .bufferBegin, .bufferFinish, .start])
    }

    @Test("An end has the reason error, stop or quit, and is Next within a playlist")
    func reasons() {
        for (reason, followed, count, expected) in [
            (MPVEndReason.error("bad"), false, 1, Action.error), (.stop, false, 1, .stop), (.quit, false, 1, .stop),
            (.stop, true, 1, .stop), (.stop, true, 2, .next), (.endOfFile, true, 1, .next),
            (.endOfFile, false, 2, .end),
        ] {
            var stage = stage()
            stage.set(.playlistCount, .int(count))
            stage.begin()
            stage.play(.endFile(reason))
            if followed { stage.play(.startFile) } else { stage.disconnect() }
            #expect(stage.actions == [.streamLoad, .start, expected] + (followed ? [.streamLoad] : []))
        }
    }

    @Test("Media that end before their declared end have failed, unless mpv got them after all")
    func incomplete() {
        for (position, duration, isIncomplete, expected) in [
            (8.0, JSONValue.double(24), true, Action.error), (8, .double(24), false, .end),
            (23.5, .double(24), true, .end), (8, .null, true, .error),
        ] {
            for keepsOpen in [false, true] {
                var stage = stage()
                stage.begin()
                stage.set(.keepOpen, .bool(keepsOpen))
                stage.set(.timePosition, .double(position))
                stage.set(.duration, duration)
                stage.set(.coreIdle, false)
                if isIncomplete { stage.play(.mediaIncomplete) }
                if keepsOpen { stage.set(.eofReached, true) } else { stage.play(.endFile(.endOfFile), .idle) }
                #expect(stage.actions == [.streamLoad, .start, expected])
                // The next file is another one.
                stage.play(.startFile, .fileLoaded)
                stage.set(.coreIdle, false)
                stage.play(.endFile(.endOfFile), .idle)
                #expect(stage.actions.last == .end)
            }
        }
    }

    @Test("Opening a playlist gives one load, and no signal for the redirect")
    func redirect() {
        var stage = stage()
        stage.truth[.path] = "/list.m3u"
        stage.play(.startFile, .endFile(.redirect))
        stage.begin("/film.mkv")
        #expect(stage.actions == [.streamLoad, .start])
        #expect(stage.signals.map { $0.status?.source } == ["/list.m3u", "/film.mkv"])
    }

    @Test("Consecutive seeks are one seek, and a seek at the load is not reported")
    func pauseAndSeek() {
        var stage = stage()
        stage.play(.startFile, .fileLoaded, .seek, .playbackRestart)
        stage.set(.coreIdle, false)
        stage.set(.isPaused, true)
        stage.play(.seek, .seek, .playbackRestart)
        stage.set(.isPaused, false)
        #expect(stage.actions == [.streamLoad, .start, .pauseBegin, .seekBegin, .seekFinish, .pauseFinish])
    }

    @Test("A pause ends a wait for data, which continues after the pause if mpv still has none")
    func pauseInBuffering() {
        var stage = stage()
        stage.begin()
        stage.set(.isPausedForCache, true)
        stage.set(.isPaused, true)
        stage.set(.isPausedForCache, false)
        stage.set(.isPausedForCache, true)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish, .pauseBegin])
        stage.set(.isPaused, false)
        stage.set(.isPausedForCache, false)
        #expect(stage.actions.dropFirst(5) == [.pauseFinish, .bufferBegin, .bufferFinish])
        stage.set(.isPaused, true)
        stage.set(.isPaused, false)
        #expect(stage.actions.dropFirst(8) == [.pauseBegin, .pauseFinish])
    }

    @Test("A seek ends at the new position, although mpv reports the position later")
    func seekPosition() {
        var stage = stage()
        stage.begin()
        stage.set(.timePosition, 3)
        stage.play(.seek)
        stage.truth[.timePosition] = 60
        stage.play(.playbackRestart)
        #expect(stage.signals.suffix(2).map { $0.status?.position } == [.seconds(3), .seconds(60)])
    }

    @Test("With keep-open, playback ends where mpv stops, and continues as another playback")
    func keepOpen() {
        var stage = stage()
        stage.set(.keepOpen, true)
        stage.begin()
        stage.set(.eofReached, true)
        stage.set(.isPaused, true)
        stage.set(.coreIdle, true)
        stage.play(.seek, .playbackRestart)
        stage.set(.isPaused, false)
        stage.set(.coreIdle, false)
        #expect(stage.actions == [.streamLoad, .start, .end, .start])
    }

    @Test("The end of the file does not end the playback without keep-open")
    func eofReached() {
        var stage = stage()
        stage.set(.keepOpen, false)
        stage.begin()
        stage.set(.eofReached, true)
        #expect(stage.actions == [.streamLoad, .start])
    }

    @Test("The quality is that of the decoded picture, and stays the same across a temporary absence")
    func quality() {
        var stage = stage()
        stage.set(.decodedPicture, ["w": 640, "h": 360])
        stage.begin()
        stage.set(.decodedPicture, ["w": 640, "h": 360])
        stage.set(.decodedPicture, ["w": 1280, "h": 720])
        stage.set(.decodedPicture, nil)
        stage.set(.decodedPicture, ["w": 1280, "h": 720])
        stage.set(.decodedPicture, ["w": .int(.max), "h": .int(.max)])
        stage.set(.decodedPicture, ["w": 320, "h": 180])
        let changes = stage.actions.dropFirst(2)
        #expect(Array(changes) == [.qualityChangeUp, .qualityChangeUp, .qualityChangeDown])
    }

    @Test("Open blocks are closed before a playback ends")
    func openBlocks() {
        var stage = stage()
        stage.begin()
        stage.play(.seek)
        stage.set(.isPausedForCache, true)
        stage.play(.endFile(.quit))
        #expect(stage.actions == [.streamLoad, .start, .seekBegin, .bufferBegin, .bufferFinish, .seekFinish, .stop])
    }

    @Test("A lost connection is an error unless mpv announced its shutdown")
    func disconnection() {
        var stage = stage()
        stage.begin()
        stage.disconnect()
        #expect(stage.actions == [.streamLoad, .start, .error])
        #expect(stage.signals.last?.attributes[.isFatal] == true)
        var polite = self.stage()
        polite.begin()
        polite.play(.shutdown)
        polite.disconnect()
        #expect(polite.actions == [.streamLoad, .start, .stop])
        var idle = self.stage()
        idle.disconnect()
        #expect(idle.actions.isEmpty)
    }

    @Test("A playback is joined while playing, paused or in a stall")
    func joining() {
        var playing = Stage()
        playing.truth = [.idleActive: false, .path: "/film.mkv", .coreIdle: false]
        playing.connect()
        #expect(playing.actions == [.streamLoad, .start])
        #expect(playing.signals.allSatisfy { $0.attributes[.joinedLate] == true })
        var loading = Stage()
        (loading.truth, loading.isAnswering) = (playing.truth, false)
        loading.connect()
        loading.play(.fileLoaded, .playbackRestart)
        loading.answer(1)
        loading.answer(2)
        #expect(loading.actions == [.streamLoad, .start], "events while we ask do not make us forget")
        var early = Stage()
        (early.truth, early.isAnswering) = (playing.truth, false)
        early.connect()
        early.answer(1)
        early.play(.startFile)
        early.answer(2)
        early.answer(3)
        #expect(early.actions == [.streamLoad, .start])
        var overtaken = playing
        overtaken.play(.startFile)
        #expect(overtaken.actions == [.streamLoad, .start], "a beginning that comes late is the joined playback's")
        #expect(
            early.signals.first?.attributes[.joinedLate] == nil,
            "a load that comes after its answers is no late one"
        )
        var paused = Stage()
        paused.truth = [.idleActive: false, .path: "/film.mkv", .coreIdle: true, .isPaused: true]
        paused.connect()
        #expect(paused.actions == [.streamLoad])
        paused.set(.isPaused, false)
        paused.set(.coreIdle, false)
        #expect(paused.actions == [.streamLoad, .start])
        var resumed = Stage()
        resumed.truth = [.idleActive: false, .path: "/film.mkv", .coreIdle: true, .isPaused: true]
        resumed.connect()
        resumed.set(.coreIdle, false)
        resumed.set(.isPaused, false)
        #expect(resumed.actions == [.streamLoad, .start], "the end of a pause that has no beginning")
        resumed.set(.isPaused, true)
        resumed.set(.isPaused, false)
        #expect(resumed.actions.suffix(2) == [.pauseBegin, .pauseFinish])
        var stalled = Stage()
        stalled.truth = [.idleActive: false, .path: "/film.mkv", .coreIdle: true, .isPausedForCache: true]
        stalled.connect()
        #expect(stalled.actions == [.streamLoad, .bufferBegin])
    }

    @Test("Signals without replies are reported once the limit is reached or the player is gone")
    func unanswered() {
        var stage = stage()
        stage.isAnswering = false
        stage.play(.startFile)
        #expect(stage.actions.isEmpty)
        stage.disconnect()
        #expect(stage.actions == [.streamLoad, .error])
        var flooded = self.stage()
        flooded.begin()
        flooded.isAnswering = false
        for _ in 0..<200 { flooded.play(.seek, .playbackRestart) }
        #expect(flooded.actions.count > 300)
    }

    @Test("A title from the address omits the query and credentials")
    func secrets() {
        var stage = stage()
        stage.truth[.mediaTitle] = "film one.mp4?token=secret"
        stage.begin("https://user:secret@example.org/a/film%20one.mp4?token=secret#secret")
        #expect(stage.signals.last?.status?.source == "https://example.org/a/film%20one.mp4")
        #expect(stage.signals.last?.status?.title == "film%20one.mp4")
        #expect(!"\(stage.signals)".contains("secret"))
        stage.set(.path, "rtmp://host/app/secret-key")
        #expect(stage.model.status.source == "rtmp://…")
        stage.set(.mediaTitle, "A film")
        #expect(stage.model.status.title == "A film")
    }

    @Test("Changes of volume and mute are reported once each during playback")
    func sound() {
        var stage = stage()
        stage.set(.volume, 50)
        stage.set(.isMuted, false)
        stage.begin()
        stage.set(.volume, 50)
        stage.set(.volume, 80.2)
        stage.set(.volume, 80.4)
        stage.set(.isMuted, true)
        stage.set(.isPaused, true)
        stage.set(.isMuted, false)
        stage.set(.volume, nil)
        stage.set(.volume, 130)
        stage.set(.isPaused, false)
        stage.play(.endFile(.endOfFile))
        stage.set(.volume, 20)
        let changes = stage.signals.filter { $0.action == .volumeChange }.compactMap(\.status)
        #expect(changes.map(\.volume) == [80, 80, 80, 100])
        #expect(changes.map(\.isMuted) == [false, true, false, false])
    }

    @Test(
        "A local file has one name for every spelling of its path",
        arguments: [
            "film.mkv", "./film.mkv", "/nowhere/films/film.mkv", "sub/../film.mkv", "file:///nowhere/films/film%2Emkv",
        ]
    )
    func oneName(path: String) {
        var stage = stage()
        stage.set(.workingDirectory, "/nowhere/films")
        stage.begin(path)
        #expect(stage.signals.last?.status?.source == "/nowhere/films/film.mkv")
    }

    @Test("Invalid values are omitted or limited to their range")
    func oddValues() {
        var stage = stage()
        stage.begin()
        stage.set(.volume, 130)
        stage.set(.duration, 1e300)
        stage.set(.timePosition, -0.5)
        stage.set(.videoBitrate, 1e300)
        stage.set(.width, "wide")
        let status = stage.model.status
        #expect((status.volume, status.duration, status.position) == (100, nil, .zero))
        #expect((status.bitrate, status.resolutionWidth) == (nil, nil))
    }
}
