import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentXAPI

/// One viewer in front of one video of 100 s; times and places are in seconds.
private struct Screening {
    var profile: VideoProfile
    var length: Double?
    private(set) var statements: [Statement] = []

    init(length: Double? = 100, threshold: Double = 1, history: VideoProfile.History = VideoProfile.History()) {
        self.length = length
        profile = VideoProfile(
            of: VideoProfile.Viewing(
                viewer: .agent(Statement.Agent(.account(homePage: "https://example.org", name: "4711"))),
                activity: "https://example.org/films/1",
                name: ["en": "Film"],
                registration: SampleID("EC531277-B57B-4C15-8D91-D292C5B2B8F7"),
                completionThreshold: threshold
            ),
            history: history,
            randomness: RandomSource(SeededGenerator(seed: 3))
        )
    }

    func event(_ action: Action, at time: Double, place: Double?) -> Event {
        var event = Event(
            action,
            tracker: TrackerID(0),
            time: Timestamp(
                instant: MonotonicInstant(nanoseconds: Int64(time * 1e9)),
                wallTime: WallTime(milliseconds: 1_700_000_000_000 + Int64(time * 1000))
            )
        )
        event[.duration] = length.map { .milliseconds(Int($0 * 1000)) }
        event[.position] = place.map { .milliseconds(Int(($0 * 1000).rounded())) }
        return event
    }

    /// The statements of the event, in short form.
    @discardableResult
    mutating func see(_ action: Action, at time: Double, place: Double?, change: (inout Event) -> Void = { _ in })
        -> [String]
    {
        var event = event(action, at: time, place: place)
        change(&event)
        let new = profile.statements(for: event)
        statements += new
        return new.map(Self.short)
    }

    /// `paused time=10 progress=0.1 played-segments=0[.]10`
    static func short(_ statement: Statement) -> String {
        let verb = statement.verb.id.description.split(separator: "/").last ?? ""
        let names = ["time", "time-from", "time-to", "progress", "played-segments"]
        let values = names.compactMap { name in
            statement.result?.extensions[VideoVocabulary.extension(name)].map {
                "\(name)=\($0.string ?? $0.description)"
            }
        }
        return ([String(verb)] + values).joined(separator: " ")
    }
}

@Suite("Video profile")
struct VideoProfileTests {
    @Test("A complete playback gives initialized, played, completed, paused and terminated")
    func whole() {
        var screening = Screening()
        #expect(screening.see(.streamLoad, at: 0, place: nil) == ["initialized"])
        #expect(screening.see(.start, at: 1, place: 0) == ["played time=0"])
        #expect(screening.see(.bufferBegin, at: 20, place: 19) == [])
        #expect(screening.see(.bufferFinish, at: 22, place: 19) == [])
        #expect(screening.see(.ping, at: 31, place: 28) == [])
        #expect(
            screening.see(.end, at: 103.5, place: 99.96) == [
                "completed time=100 progress=1 played-segments=0[.]100",
                "paused time=100 progress=1 played-segments=0[.]100",
                "terminated time=100 progress=1 played-segments=0[.]100",
            ]
        )
        let completed = screening.statements[2]
        #expect(completed.result?.completion == true)
        #expect(completed.result?.duration?.description == "PT103.5S")
        #expect(screening.see(.ping, at: 110, place: 100) == [])
    }

    @Test("No segment exceeds the video, at any time the length becomes known and with any history")
    func withinTheLength() {
        var remembered = PlayedSegments()
        for (from, to) in [(0, 8000), (5000, 9000), (1000, 2000)] { remembered.append(from: from, to: to) }
        var screening = Screening(length: nil, history: VideoProfile.History(segments: remembered))
        screening.see(.start, at: 0, place: 0)
        screening.see(.pauseBegin, at: 7, place: 7)
        screening.see(.pauseFinish, at: 8, place: 2)
        screening.length = 3
        screening.see(.pauseBegin, at: 9, place: 2.5)
        screening.see(.stop, at: 10, place: 9)
        let segments = screening.statements.compactMap {
            $0.result?.extensions[VideoVocabulary.extension("played-segments")]?.string
        }
        #expect(segments.last == "0[.]3[,]1[.]2[,]0[.]3[,]2[.]2.5")
        #expect(screening.profile.history.segments.ranges.allSatisfy { $0.upperBound <= 3000 })
        for text in segments {
            #expect(PlayedSegments(text)?.ranges.allSatisfy { $0.upperBound <= 3000 } == true, "\(text)")
        }
    }

    @Test("Clipping segments to a length removes those beyond it")
    func clipped() {
        let segments = PlayedSegments("0[.]8[,]2[.]3[,]3[.]5[,]9[.]10")
        #expect(segments?.clipped(toMilliseconds: 3000).description == "0[.]3[,]2[.]3")
        #expect(segments?.clipped(toMilliseconds: 20_000) == segments)
        #expect(segments?.clipped(toMilliseconds: 0).ranges == [])
    }

    @Test("Volume changes and muting give interacted, with the new values")
    func sound() throws {
        var screening = Screening()
        func change(at time: Double, _ volume: Int?, _ isMuted: Bool?) -> [String: JSONValue] {
            screening.see(.volumeChange, at: time, place: time) {
                $0[.volume] = volume
                $0[.isMuted] = isMuted
            }
            let extensions = screening.statements.last?.context?.extensions ?? [:]
            return Dictionary(
                ["volume", "muted"].compactMap { name in
                    extensions[VideoVocabulary.extension(name)].map { (name, $0) }
                }
            ) { first, _ in first }
        }
        #expect(change(at: 0, 50, false) == [:])
        screening.see(.start, at: 1, place: 1)
        #expect(change(at: 2, 50, false) == ["volume": 0.5, "muted": false])
        #expect(change(at: 3, 50, true) == ["volume": 0, "muted": true])
        #expect(change(at: 4, 130, false) == ["volume": 1, "muted": false])
        screening.see(.pauseBegin, at: 5, place: 5)
        #expect(change(at: 6, nil, true) == ["volume": 0, "muted": true])
        let last = try #require(screening.statements.last)
        #expect(Screening.short(last) == "interacted time=6")
        #expect(last.failures().isEmpty)
        #expect(last.context?.extensions[VideoVocabulary.extension("session-id")] != nil)
    }

    @Test("Pauses and seeks end segments in order, and overlapping segments count once")
    func segments() {
        var screening = Screening(length: 200.5)
        screening.see(.start, at: 0, place: 0)
        #expect(
            screening.see(.pauseBegin, at: 12.345, place: 12.345) == [
                "paused time=12.345 progress=0.061 played-segments=0[.]12.345"
            ]
        )
        #expect(screening.see(.pauseFinish, at: 20, place: 12.345) == ["played time=12.345"])
        #expect(screening.see(.seekBegin, at: 30, place: 22.5) == [])
        #expect(screening.see(.seekFinish, at: 31, place: 10) == ["seeked time-from=22.5 time-to=10"])
        #expect(screening.see(.forwardBegin, at: 41, place: 20) == [])
        #expect(screening.see(.forwardFinish, at: 42, place: 150.1) == ["seeked time-from=20 time-to=150.1"])
        // 0–12.345, 12.345–22.5 and 10–20 cover 22.5 s; 150.1–160.1 ten more: 32.5 of 200.5 is 0.16209…
        let segments = "0[.]12.345[,]12.345[.]22.5[,]10[.]20[,]150.1[.]160.1"
        #expect(
            screening.see(.stop, at: 52, place: 160.1) == [
                "paused time=160.1 progress=0.162 played-segments=\(segments)",
                "terminated time=160.1 progress=0.162 played-segments=\(segments)",
            ]
        )
        #expect(PlayedSegments(segments)?.coveredMilliseconds == 32_500)
    }

    @Test("Completed is sent once, as soon as the threshold is reached, also at a ping")
    func threshold() {
        var screening = Screening(threshold: 0.5)
        screening.see(.start, at: 0, place: 0)
        #expect(screening.see(.ping, at: 30, place: 30) == [])
        #expect(screening.profile.history.segments.description == "0[.]30")
        #expect(
            screening.see(.ping, at: 60, place: 60) == ["completed time=60 progress=0.6 played-segments=0[.]60"]
        )
        #expect(
            screening.see(.pauseBegin, at: 70, place: 70) == [
                "paused time=70 progress=0.7 played-segments=0[.]60[,]60[.]70"
            ]
        )
        let length = screening.statements.last?.context?.extensions
        #expect(length?[VideoVocabulary.extension("completion-threshold")] == 0.5)
        #expect(length?[VideoVocabulary.extension("length")] == 100)
    }

    @Test("The next attempt continues with the earlier segments, and does not complete a second time")
    func attempts() throws {
        var first = Screening(threshold: 0.5)
        first.see(.start, at: 0, place: 0)
        first.see(.stop, at: 40, place: 40)
        #expect(first.profile.history.isCompleted == false)
        var second = Screening(threshold: 0.5, history: first.profile.history)
        second.see(.start, at: 0, place: 30)
        #expect(
            second.see(.stop, at: 30, place: 60) == [
                "completed time=60 progress=0.6 played-segments=0[.]40[,]30[.]60",
                "paused time=60 progress=0.6 played-segments=0[.]40[,]30[.]60",
                "terminated time=60 progress=0.6 played-segments=0[.]40[,]30[.]60",
            ]
        )
        // A replay on the same tracker is a separate session.
        #expect(second.see(.streamLoad, at: 31, place: nil) == ["initialized"])
        #expect(second.see(.start, at: 32, place: 60) == ["played time=60"])
        #expect(
            second.see(.next, at: 72, place: 100) == [
                "paused time=100 progress=1 played-segments=0[.]40[,]30[.]60[,]60[.]100",
                "terminated time=100 progress=1 played-segments=0[.]40[,]30[.]60[,]60[.]100",
            ]
        )
        let sessions = second.statements.compactMap { $0.context?.extensions[VideoVocabulary.extension("session-id")] }
        #expect(sessions.count == second.statements.count)
        #expect(Set(sessions).count == 2)
    }

    @Test("There are no statements before the duration is known; segments from before count")
    func lateDuration() {
        var screening = Screening(length: nil)
        #expect(screening.see(.streamLoad, at: 0, place: nil) == [])
        #expect(screening.see(.start, at: 1, place: 5) == [])
        #expect(screening.see(.ping, at: 11, place: 15) == [])
        screening.length = 50
        #expect(screening.see(.ping, at: 21, place: 25) == ["initialized", "played time=5"])
        #expect(
            screening.see(.pauseBegin, at: 26, place: 30) == ["paused time=30 progress=0.5 played-segments=5[.]30"]
        )
    }

    @Test("A live stream, an ad and an ended playback have no statements")
    func silence() {
        var live = Screening(length: nil)
        for action: Action in [.streamLoad, .start, .pauseBegin, .seekBegin, .seekFinish, .pauseFinish, .ping, .stop] {
            #expect(live.see(action, at: 1, place: 1) == [])
        }
        var screening = Screening()
        #expect(screening.see(.start, at: 0, place: 0) { $0[.isAdsTracker] = true } == [])
        for action: Action in [.ping, .error, .adBegin, .pauseBegin, .seekFinish, .bufferBegin] {
            #expect(screening.see(action, at: 1, place: 1) == [])
        }
    }

    @Test("A pause during a seek and a seek during a pause keep their positions")
    func pausesAndJumps() {
        var screening = Screening()
        screening.see(.start, at: 0, place: 0)
        screening.see(.seekBegin, at: 10, place: 10)
        #expect(screening.see(.rewindBegin, at: 10.5, place: 10) == [])
        #expect(
            screening.see(.pauseBegin, at: 11, place: 40) == ["paused time=40 progress=0.1 played-segments=0[.]10"]
        )
        #expect(screening.see(.seekFinish, at: 12, place: 50) == ["seeked time-from=10 time-to=50"])
        #expect(screening.see(.seekBegin, at: 13, place: 50) == [])
        #expect(screening.see(.seekFinish, at: 14, place: 60) == ["seeked time-from=50 time-to=60"])
        #expect(screening.see(.pauseFinish, at: 15, place: 60) == ["played time=60"])
        #expect(
            screening.see(.stop, at: 25, place: 70).first
                == "paused time=70 progress=0.2 played-segments=0[.]10[,]60[.]70"
        )
    }

    @Test("Quality changes and changes by the app give interacted")
    func interactions() throws {
        var screening = Screening()
        let change: (inout Event) -> Void = { event in
            event[.resolutionWidth] = 1920
            event[.resolutionHeight] = 1080
        }
        #expect(screening.see(.qualityChangeUp, at: 0, place: 0, change: change) == [])
        screening.see(.start, at: 0, place: 0)
        #expect(screening.see(.qualityChangeUp, at: 5, place: 5, change: change) == ["interacted time=5"])
        let quality = VideoVocabulary.extension("quality")
        #expect(screening.statements.last?.context?.extensions[quality] == "1920x1080")
        let event = screening.event(Action("VolumeChange"), at: 6, place: 6)
        let told = screening.profile.statements(forChanging: ["volume": 0.25], at: event)
        #expect(told.map(Screening.short) == ["interacted time=6"])
        #expect(told.first?.context?.extensions[VideoVocabulary.extension("volume")] == 0.25)
        let ended = screening.profile.statements(forTerminationAt: screening.event(Action("Quit"), at: 9, place: 9))
        #expect(
            ended.map(Screening.short) == [
                "paused time=9 progress=0.09 played-segments=0[.]9",
                "terminated time=9 progress=0.09 played-segments=0[.]9",
            ]
        )
    }

    @Test("The first statement has the player's settings")
    func circumstances() {
        var screening = Screening()
        screening.see(.start, at: 0, place: 0) { event in
            event[.volume] = 40
            event[.fps] = 25
            event[.subtitles] = "de"
        }
        let extensions = screening.statements.first?.context?.extensions
        #expect(extensions?[VideoVocabulary.extension("volume")] == 0.4)
        #expect(extensions?[VideoVocabulary.extension("frame-rate")] == 25)
        #expect(extensions?[VideoVocabulary.extension("cc-subtitle-enabled")] == true)
        #expect(extensions?[VideoVocabulary.extension("cc-subtitle-lang")] == "de")
        let id = screening.statements.first?.id?.wire
        #expect(extensions?[VideoVocabulary.extension("session-id")] == id.map(JSONValue.string))
    }

    @Test("Statements follow the rules and the order of the profile for any player events")
    func random() {
        var generator = SeededGenerator(seed: 17)
        let actions: [Action] = [
            .streamLoad, .playerReady, .start, .pauseBegin, .pauseFinish, .seekBegin, .seekFinish, .forwardBegin,
            .rewindFinish, .ping, .end, .stop, .next, .qualityChangeUp, .bufferBegin, .error,
        ]
        for _ in 0..<100 {
            var screening = Screening(threshold: 0.4)
            for time in 0..<40 {
                let action = actions.randomElement(using: &generator) ?? .ping
                screening.see(action, at: Double(time), place: Double.random(in: -5...110, using: &generator))
            }
            let completions = screening.statements.filter { $0.verb == VideoVocabulary.completed }
            #expect(completions.count <= 1)
            var isOpen = false
            for statement in screening.statements {
                #expect(statement.failures() == [])
                #expect((statement.verb == VideoVocabulary.initialized) == !isOpen)
                isOpen = statement.verb != VideoVocabulary.terminated
                let progress = statement.result?.extensions[VideoVocabulary.extension("progress")]?.number ?? 0
                #expect((0...1).contains(progress))
            }
            #expect(Set(screening.statements.map(\.id)).count == screening.statements.count)
        }
    }

    @Test(
        "Written segments are read back equal",
        arguments: ["", "0[.]10", "0[.]12.345[,]10[.]20", "0.001[.]0.01[,]5[.]6.5"]
    )
    func segmentText(text: String) { #expect(PlayedSegments(text)?.description == text) }

    @Test(
        "A text in another form is not read as segments",
        arguments: ["0", "0[.]", "[,]", "0[.]1[,]", "2[.]1", "a[.]b", "-1[.]2", "0[.]1.", "0-1"]
    )
    func badSegments(text: String) { #expect(PlayedSegments(text) == nil) }

    @Test("Progress is rounded down, and only a completely played video has 1")
    func progress() {
        var segments = PlayedSegments()
        segments.append(from: 0, to: 99_999)
        #expect(segments.progress(ofMilliseconds: 100_000) == 0.999)
        segments.append(from: 99_999, to: 100_000)
        #expect(segments.progress(ofMilliseconds: 100_000) == 1)
        #expect(segments.progress(ofMilliseconds: 50_000) == 1)
        #expect(segments.progress(ofMilliseconds: 0) == 0)
        segments.append(from: 7, to: 7)
        segments.append(from: -3, to: 7)
        segments.append(from: 9, to: 8)
        #expect(segments.ranges.count == 2)
    }
}
