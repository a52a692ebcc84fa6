import Instrument
import InstrumentJSON
import Testing

@testable import InstrumentVLCRemote

/// The figures are those of VLC 3.0.24, recorded every 100 ms.
@Suite("The model of a VLC in another process")
struct ModelTests {
    @Test("A start is the instant since which pictures are displayed with their frame rate")
    func start() {
        var stage = Stage()
        stage.observe(VLCStatus(.stopped, item: -1), at: 0)
        stage.observe(.playing(0, displayed: 0, decoded: 0), at: 30)
        stage.observe(.playing(0, displayed: 0, decoded: 1), at: 270)
        stage.observe(.playing(0, displayed: 0, decoded: 4), at: 520)
        #expect(stage.actions == [.streamLoad])
        stage.observe(.playing(0.15, displayed: 9, decoded: 62, audio: 53), at: 880)
        #expect(stage.actions == [.streamLoad, .start])
        #expect(stage.instants == [15, 520])
        let status = stage.signals.last?.status
        #expect(status?.resolutionWidth == 320 && status?.framesPerSecond == 25 && status?.duration == .seconds(20))
        #expect(status?.source == "/film.mkv")
        #expect(stage.signals.allSatisfy { $0.attributes[.joinedLate] == nil })
    }

    @Test("An outage of a stream is one stall, from the last figures that changed until pictures are displayed again")
    func stall() {
        var stage = Stage()
        stage.observe(VLCStatus(.stopped, item: -1), at: 0)
        for (instant, position, displayed, audio, decoded) in [
            (20, 0.0, 0, 0, 0), (270, 0, 0, 0, 5), (640, 0, 4, 66, 61), (880, 0, 13, 80, 79), (1_120, 0, 20, 86, 93),
            (1_490, 0.88, 27, 100, 107), (1_970, 0.88, 41, 128, 135), (2_220, 1.9, 48, 142, 149),
            // The decoder has ended, and the time runs on to the end of the last picture.
            (2_460, 1.99, 54, 142, 161), (2_830, 2.24, 54, 142, 161), (3_320, 2.74, 54, 142, 161),
            (3_580, 3.19, 54, 142, 161), (3_820, 3.24, 54, 142, 161), (4_600, 3.24, 54, 142, 161),
            (5_000, 3.24, 54, 142, 161),
            // Data comes again: the refreshes of the stand are counted at once, and the position goes back.
            (13_560, 3.24, 215, 142, 165), (13_800, 2.11, 215, 199, 193), (14_170, 2.1, 215, 213, 207),
            (14_410, 3.94, 215, 227, 219), (14_660, 3.94, 222, 241, 233), (14_900, 3.94, 229, 255, 247),
        ] as [(Int64, Double, Int, Int, Int)] {
            stage.observe(
                .playing(position, displayed: displayed, decoded: decoded, audio: audio),
                at: instant
            )
        }
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish])
        #expect(stage.instants.suffix(2) == [3_820, 14_410])
    }

    @Test("A pause, and a seek while it lasts and after it, are between the two answers that tell them")
    func pauseAndSeek() {
        var stage = Stage()
        stage.play()
        var paused = VLCStatus.playing(1, displayed: 25, decoded: 44, audio: 40)
        paused.state = .paused
        stage.observe(paused, at: 2_200)
        #expect(stage.actions.last == .pauseBegin && stage.instants.last == 2_100)
        stage.observe(paused, at: 9_000)
        paused.position = 10
        stage.observe(paused, at: 9_200)
        #expect(stage.actions.suffix(2) == [.seekBegin, .seekFinish] && stage.instants.last == 9_100)
        stage.observe(.playing(10, displayed: 26, decoded: 46, audio: 41), at: 9_400)
        #expect(stage.actions.last == .pauseFinish && stage.instants.last == 9_300)
        stage.observe(.playing(10.2, displayed: 31, decoded: 52, audio: 50), at: 9_600)
        stage.observe(.playing(15, displayed: 31, decoded: 60, audio: 50), at: 9_800)
        stage.observe(.playing(15.2, displayed: 36, decoded: 65, audio: 60), at: 10_000)
        #expect(stage.actions.suffix(3) == [.pauseFinish, .seekBegin, .seekFinish])
        let positions = stage.signals.suffix(2).map { $0.status?.position?.seconds }
        #expect(positions == [10.2, 15.2])
        #expect(stage.instants.suffix(2) == [9_700, 9_800])
    }

    @Test(
        "VLC that stops near the length has ended, earlier it was stopped, and before anything played it failed",
        arguments: [(19.2, .end), (9.0, .stop), (nil, .error)] as [(Double?, Action)]
    )
    func endings(position: Double?, action: Action) {
        var stage = Stage()
        if let position {
            stage.play()
            stage.observe(.playing(position, displayed: 30, decoded: 50), at: 3_000)
            stage.observe(.playing(position + 0.2, displayed: 35, decoded: 55), at: 3_200)
        } else {
            stage.observe(VLCStatus(.stopped, item: -1), at: 0)
            stage.observe(.playing(0, displayed: 0, decoded: 0), at: 100)
        }
        stage.observe(VLCStatus(.stopped, item: -1), at: 3_400)
        #expect(stage.actions.last == action)
        #expect(stage.model.phase == .idle)
    }

    @Test("The next item of a playlist, and a repeated item with new counters, are separate playbacks")
    func items() {
        var stage = Stage()
        stage.play()
        stage.observe(.playing(0, displayed: 0, decoded: 0, item: 4), at: 3_000)
        #expect(stage.actions == [.streamLoad, .start, .next, .streamLoad])
        stage.observe(.playing(0.25, displayed: 8, decoded: 9, item: 4), at: 3_250)
        stage.observe(.playing(0, displayed: 0, decoded: 0, item: 4), at: 3_500)
        #expect(stage.actions.suffix(3) == [.start, .next, .streamLoad])
        // The first item of a playlist that cannot be opened.
        stage.observe(.playing(0, displayed: 0, decoded: 0, item: 5), at: 3_700)
        #expect(stage.actions.suffix(2) == [.error, .streamLoad])
    }

    @Test("A playback that runs when the connection begins is joined; a detachment ends it for the tracker alone")
    func joined() {
        var stage = Stage()
        stage.observe(.playing(5, displayed: 100, decoded: 120), at: 100)
        stage.observe(.playing(5.25, displayed: 106, decoded: 127), at: 350)
        #expect(stage.actions == [.streamLoad, .start])
        #expect(stage.signals.allSatisfy { $0.attributes[.joinedLate] == true })
        let signals = stage.model.detached(at: MonotonicInstant(nanoseconds: 1_000_000_000))
        #expect(signals.map(\.action) == [.detach])
    }

    @Test("A player that answers no more has failed, and one that is gone has stopped", arguments: [true, false])
    func gone(isSilent: Bool) {
        var stage = Stage()
        stage.play()
        let now = MonotonicInstant(nanoseconds: 9_000_000_000)
        let signals = stage.model.gone(isSilent ? "the player answers no more" : nil, at: now)
        #expect(signals.map(\.action) == [isSilent ? .error : .stop])
        #expect(signals.last?.attributes[.isFatal] == (isSilent ? true : nil))
    }

    @Test("Changes of volume and picture are reported, and instants never decrease")
    func volumeAndPicture() {
        var stage = Stage()
        stage.play()
        var status = VLCStatus.playing(1.25, displayed: 31, decoded: 50)
        status.volume = 50
        stage.observe(status, at: 2_250)
        status.position = 1.5
        (status.volume, status.picture) = (40, VLCStatus.Picture(width: 640, height: 360, framesPerSecond: 25))
        stage.observe(status, at: 2_500)
        #expect(stage.actions.suffix(2) == [.qualityChangeUp, .volumeChange])
        #expect(stage.signals.last?.status?.volume == 40 && stage.signals.last?.status?.resolutionHeight == 360)
        let instants = stage.instants.compactMap { $0 }
        #expect(instants == instants.sorted())
    }

    @Test(
        "What is not possible is left out of a status",
        arguments: [
            #"{"state":"playing","position":-3,"length":-1,"time":1e300,"rate":-1,"volume":1e9,"currentplid":"x"}"#,
            #"{"state":"playing","stats":[],"information":"none","position":null,"length":1e308,"rate":0}"#,
            #"{"state":"unknown","stats":{"displayedpictures":-1},"information":{"category":{"Stream 0":{"Video_resolution":"0x-5"}}}}"#,
        ]
    )
    func impossible(text: String) throws {
        let status = try #require(VLCStatus(try JSONValue(parsing: text)))
        #expect(status.length == nil && status.position == 0 && status.rate == 1 && status.volume == nil)
        #expect(status.counters == nil && status.picture == nil && status.item == -1)
        #expect(VLCStatus(try JSONValue(parsing: #"{"status":"ok"}"#)) == nil)
    }

    @Test("The address of an item is found in a playlist, however deep, and not in one without an end")
    func playlist() throws {
        let playlist = try JSONValue(parsing: AnsweringVLC.playlist)
        #expect(VLCPlaylist.address(of: 3, in: playlist)?.hasSuffix("token=secret") == true)
        #expect(VLCPlaylist.address(of: 4, in: playlist) == nil)
        let deep = String(repeating: #"{"children":["#, count: 60) + String(repeating: "]}", count: 60)
        #expect(VLCPlaylist.address(of: 3, in: try JSONValue(parsing: deep)) == nil)
    }
}
