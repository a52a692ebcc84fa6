import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

private func at(_ milliseconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds * 1_000_000))
}

private func ms(_ milliseconds: Int) -> Int64 { Int64(milliseconds) * 1_000_000 }

/// A reference to a model, for use in expectations.
private final class Table {
    var model = PlaybackModel(
        tracks: [.video, .audio],
        policy: BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(2), maximum: .seconds(10)),
        now: at(0)
    )

    /// The events since the last call, as `event@instant:position`, in milliseconds.
    func log(until milliseconds: Double) -> [String] {
        model.advance(to: at(milliseconds)).map { transition in
            let what =
                switch transition.kind {
                case .filled(let wait): "filled \(wait)"
                default: "\(transition.kind)"
                }
            return "\(what)@\(Double(transition.instant.nanoseconds) / 1e6):\(Double(transition.position) / 1e6)"
        }
    }

    func append(_ end: Int, now: Double) {
        model.append(.video, end: ms(end), now: at(now))
        model.append(.audio, end: ms(end), now: at(now))
    }

    func seek(to target: Int64, now: MonotonicInstant) -> Bool { model.seek(to: target, now: now) }
}

@Suite("Playback model")
struct PlaybackModelTests {
    private let table = Table()

    @Test("Playback starts when both tracks have reached the threshold")
    func start() {
        table.model.append(.video, end: ms(5000), now: at(100))
        table.model.append(.audio, end: ms(999), now: at(200))
        #expect(table.log(until: 250) == [])
        table.model.append(.audio, end: ms(1000), now: at(300))
        #expect(table.log(until: 300) == ["filled start@300.0:0.0", "started@300.0:0.0"])
    }

    @Test("Decoding delays the start, the end of a stall and of a seek, and the deadline is the end of the delay")
    func decodeDelay() {
        let table = Table()
        table.model = PlaybackModel(
            tracks: [.video, .audio],
            policy: BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(10)),
            decodeDelay: PlayerProfile.DecodeDelay(start: .milliseconds(200), resume: .milliseconds(50)),
            now: at(0)
        )
        table.append(1000, now: 100)
        #expect(table.model.nextDeadline(after: at(100)) == at(300))
        #expect(table.log(until: 299) == [])
        #expect(table.log(until: 1299) == ["filled start@300.0:0.0", "started@300.0:0.0"])
        #expect(table.log(until: 1300) == ["stalled@1300.0:1000.0"])
        table.append(2000, now: 1400)
        // More media does not restart the delay.
        table.append(3000, now: 1430)
        #expect(table.log(until: 1500) == ["filled stall@1450.0:1000.0"])
        #expect(table.seek(to: ms(9000), now: at(1600)))
        table.append(9500, now: 1700)
        #expect(table.log(until: 1749) == [])
        #expect(table.log(until: 1750) == ["filled seek@1750.0:9000.0"])
        // A seek during the delay restarts it.
        #expect(table.seek(to: ms(20_000), now: at(1800)))
        table.append(21_000, now: 1900)
        #expect(table.seek(to: ms(30_000), now: at(1920)))
        #expect(table.log(until: 2500) == [])
        #expect(table.model.nextDeadline(after: at(2500)) == nil)
    }

    @Test("A stall begins when the playhead meets the shorter track's end, also when the model is read later")
    func stall() {
        table.append(1000, now: 0)
        table.model.append(.video, end: ms(4000), now: at(10))
        _ = table.log(until: 0)
        #expect(table.model.nextDeadline(after: at(20)) == at(1000))
        #expect(table.log(until: 60_000) == ["stalled@1000.0:1000.0"])
        table.model.append(.audio, end: ms(3000), now: at(61_000))
        #expect(table.model.nextDeadline(after: at(61_000)) == at(63_000))
        #expect(table.log(until: 62_000).last?.hasSuffix("@61000.0:1000.0") == true)
        #expect(table.model.position(at: at(62_500)) == ms(2500))
    }

    /// A model of a player that plays sound alone for three seconds, and has a second of both.
    private func soundAlone() -> Table {
        let table = Table()
        var policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(30))
        policy.sound.alone = .seconds(3)
        table.model = PlaybackModel(tracks: [.video, .audio], policy: policy, now: at(0))
        table.append(1000, now: 0)
        return table
    }

    @Test("Where the video is late, sound continues alone for a time, without a stall if the video comes")
    func videoLate() {
        let table = soundAlone()
        table.model.append(.audio, end: ms(9000), now: at(10))
        #expect(table.log(until: 3500).map { $0.prefix(7) } == ["filled ", "started"])
        #expect(table.model.position(at: at(3500)) == ms(3500))
        #expect(table.model.level(at: at(3500)) == 0)
        #expect(table.model.nextDeadline(after: at(3500)) == at(4000))
        table.model.append(.video, end: ms(5000), now: at(3500))
        #expect(table.log(until: 7999) == [])
        #expect(table.model.level(at: at(4500)) == ms(500))
        #expect(table.log(until: 8000) == ["stalled@8000.0:8000.0"])
        // Media behind the playhead ends no stall.
        table.model.append(.video, end: ms(7000), now: at(8500))
        #expect(table.log(until: 8600) == [])
        table.model.append(.video, end: ms(9000), now: at(8700))
        #expect(table.log(until: 8700) == ["filled stall@8700.0:8000.0"])
    }

    @Test("Pictures that arrive behind the playhead give sound alone no more time")
    func videoBehind() {
        let table = soundAlone()
        table.model.append(.audio, end: ms(9000), now: at(10))
        table.model.append(.video, end: ms(2000), now: at(2500))
        table.model.append(.video, end: ms(3000), now: at(3900))
        #expect(table.log(until: 5000).last == "stalled@4000.0:4000.0")
        table.model.append(.video, end: ms(5000), now: at(5000))
        #expect(table.log(until: 5000) == ["filled stall@5000.0:4000.0"])
        // From here on, the three seconds count from where these pictures end.
        #expect(table.log(until: 60_000).last == "stalled@9000.0:8000.0")
    }

    @Test("A stall begins at once where the sound is late, or no sound comes")
    func soundLate() {
        let table = soundAlone()
        table.model.append(.video, end: ms(9000), now: at(10))
        #expect(table.log(until: 2000).last == "stalled@1000.0:1000.0")
        #expect(soundAlone().log(until: 2000).last == "stalled@1000.0:1000.0")
    }

    /// A model whose sound needs 200 ms at first, and up to 3 s after stalls.
    private func soundReserve() -> Table {
        let table = Table()
        var policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(30))
        policy.sound.alone = .seconds(3)
        policy.sound.reserve = .milliseconds(200)
        policy.sound.largestReserve = .seconds(3)
        table.model = PlaybackModel(tracks: [.video, .audio], policy: policy, now: at(0))
        return table
    }

    @Test("Each stall for which the sound ran out doubles the sound that ends a wait, up to a limit, until a seek")
    func reserve() {
        let table = soundReserve()
        table.append(199, now: 0)
        #expect(table.log(until: 10) == [])
        table.append(200, now: 10)
        #expect(table.log(until: 10).first == "filled start@10.0:0.0")
        var (end, now) = (200, 210.0)
        for reserve in [400, 800, 1600, 3000, 3000] {
            #expect(table.log(until: now) == ["stalled@\(now):\(Double(end))"])
            table.append(end + reserve - 1, now: now)
            #expect(table.log(until: now + 1) == [])
            table.append(end + reserve, now: now + 1)
            #expect(table.log(until: now + 1) == ["filled stall@\(now + 1):\(Double(end))"])
            (end, now) = (end + reserve, now + 1 + Double(reserve))
        }
        #expect(table.log(until: now).count == 1)
        #expect(table.seek(to: ms(60_000), now: at(now)))
        table.append(60_200, now: now)
        #expect(table.log(until: now).last == "filled seek@\(now):60000.0")
    }

    @Test("A stall for which only the pictures ran out needs no more sound, and the end of the stream needs none")
    func reserveOfPictures() {
        let table = soundReserve()
        table.append(1000, now: 0)
        table.model.append(.audio, end: ms(4300), now: at(0))
        #expect(table.log(until: 4000).last == "stalled@4000.0:4000.0")
        table.model.append(.video, end: ms(4300), now: at(5000))
        #expect(table.log(until: 5000) == ["filled stall@5000.0:4000.0"])
        #expect(table.log(until: 5300) == ["stalled@5300.0:4300.0"])
        table.append(4400, now: 5400)
        #expect(table.log(until: 5400) == [])
        table.model.reachedEnd(now: at(5500))
        #expect(table.log(until: 5500) == ["filled stall@5500.0:4300.0"])
    }

    /// A model of a player whose sound card takes sound 45 ms ahead.
    private func withSoundCard(rate: Double = 1) -> Table {
        let table = Table()
        var policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(30))
        policy.sound.alone = .seconds(3)
        policy.sound.reserve = .milliseconds(200)
        policy.sound.largestReserve = .seconds(3)
        policy.sound.outputLead = .milliseconds(45)
        table.model = PlaybackModel(tracks: [.video, .audio], policy: policy, now: at(0))
        table.model.setRate(rate, now: at(0))
        table.append(1000, now: 0)
        return table
    }

    @Test("Sound runs out ahead of its end, before the last picture ends, and a stall needs that much more of it")
    func outputLead() {
        let table = withSoundCard()
        #expect(table.model.nextDeadline(after: at(0)) == at(955))
        #expect(table.log(until: 2000).last == "stalled@955.0:955.0")
        #expect(table.model.isDry)
        // The stall has doubled the sound that is needed.
        table.model.append(.audio, end: ms(1399), now: at(2000))
        #expect(table.log(until: 2000) == [])
        table.model.append(.audio, end: ms(1400), now: at(2100))
        #expect(table.log(until: 2100) == ["filled stall@2100.0:955.0"])
        #expect(!table.model.isDry)
        // No pictures came: this sound plays on alone up to its end.
        #expect(table.log(until: 4000) == ["stalled@2500.0:1355.0"])
        table.model.reachedEnd(now: at(4000))
        #expect(table.log(until: 4045) == ["filled stall@4000.0:1355.0", "ended@4045.0:1400.0"])
    }

    @Test("Sound that ran out while the last picture was shown ends a stall only with new pictures")
    func soundAndPicturesRanOut() {
        for (sound, needsPictures) in [(1000, false), (1005, true), (1040, true)] {
            let table = withSoundCard()
            // The last picture is shown from 960 ms on.
            table.model.setFrameRate(25)
            table.model.append(.audio, end: ms(sound), now: at(0))
            let stall = Double(sound - 45)
            #expect(table.log(until: 2000).last == "stalled@\(stall):\(stall)")
            table.model.append(.audio, end: ms(3000), now: at(2000))
            #expect(table.log(until: 2000) == (needsPictures ? [] : ["filled stall@2000.0:\(stall)"]))
            table.model.append(.video, end: ms(2000), now: at(2500))
            #expect(table.log(until: 2500) == (needsPictures ? ["filled stall@2500.0:\(stall)"] : []))
        }
    }

    @Test("After sound that played on alone, late pictures behind the playhead end no stall")
    func latePicturesAfterSound() {
        let table = withSoundCard()
        table.model.setFrameRate(25)
        table.model.append(.audio, end: ms(2005), now: at(0))
        #expect(table.log(until: 3000).last == "stalled@1960.0:1960.0")
        table.model.append(.video, end: ms(2000), now: at(3000))
        table.model.append(.audio, end: ms(4000), now: at(3100))
        #expect(table.log(until: 3500) == [])
        table.model.append(.video, end: ms(2040), now: at(3600))
        #expect(table.log(until: 3600) == ["filled stall@3600.0:1960.0"])
    }

    @Test("At another rate, the sound card takes more sound ahead; a seek and the start need none for it")
    func outputLeadAtRate() {
        let table = withSoundCard(rate: 2)
        #expect(table.log(until: 2000).last == "stalled@455.0:910.0")
        #expect(table.seek(to: ms(60_000), now: at(2000)))
        table.append(60_200, now: 2100)
        #expect(table.log(until: 2100).last == "filled seek@2100.0:60000.0")
        let start = withSoundCard()
        #expect(start.log(until: 0).first == "filled start@0.0:0.0")
    }

    @Test("A player that keeps sound back until its pictures arrive stalls where they are late")
    func soundFollowsPictures() {
        let table = Table()
        var policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(30))
        policy.sound.alone = .seconds(3)
        policy.sound.followsPictures = true
        table.model = PlaybackModel(tracks: [.video, .audio], policy: policy, now: at(0))
        // The first sound waits for nothing.
        table.model.append(.audio, end: ms(1000), now: at(0))
        table.model.append(.video, end: ms(1000), now: at(10))
        table.model.append(.audio, end: ms(2000), now: at(500))
        table.model.append(.audio, end: ms(3000), now: at(600))
        #expect(table.log(until: 2000).last == "stalled@1010.0:1000.0")
        // The pictures may end a little before the sound: 5 % of it.
        table.model.append(.video, end: ms(1049), now: at(2100))
        #expect(table.log(until: 2100) == [])
        table.model.append(.video, end: ms(1990), now: at(2200))
        #expect(table.log(until: 2200) == ["filled stall@2200.0:1000.0"])
        #expect(table.model.end(of: .audio) == ms(2000))
        // At the end, sound without pictures is heard.
        table.model.reachedEnd(now: at(2300))
        #expect(table.log(until: 9000) == ["ended@4200.0:3000.0"])
    }

    @Test("Sound that is kept back is gone with the buffer")
    func soundKeptBackAtSeek() {
        let table = Table()
        var policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(30))
        policy.sound.followsPictures = true
        table.model = PlaybackModel(tracks: [.video, .audio], policy: policy, now: at(0))
        table.append(1000, now: 0)
        table.model.append(.audio, end: ms(2000), now: at(500))
        #expect(table.seek(to: ms(60_000), now: at(600)))
        table.model.append(.video, end: ms(61_000), now: at(700))
        #expect(table.log(until: 700).contains { $0.hasPrefix("filled seek") } == false)
        table.model.append(.audio, end: ms(61_000), now: at(800))
        #expect(table.log(until: 800).last == "filled seek@800.0:60000.0")
    }

    @Test("A wait ends with the later track, also if the earlier one is reported later")
    func order() {
        table.append(1000, now: 0)
        #expect(table.log(until: 2000).last == "stalled@1000.0:1000.0")
        table.model.append(.audio, end: ms(3000), now: at(5000))
        table.model.append(.audio, end: ms(4000), now: at(6000))
        table.model.append(.video, end: ms(4000), now: at(4000))
        #expect(table.log(until: 6000).last?.hasSuffix("@5000.0:1000.0") == true)
    }

    @Test("A track that is behind by more than a buffer does not block playback; at the end the longest track decides")
    func laggard() {
        table.append(1000, now: 0)
        table.model.append(.video, end: ms(10_900), now: at(0))
        #expect(table.model.bufferedEnd == ms(1000))
        table.model.append(.video, end: ms(11_100), now: at(0))
        #expect(table.model.bufferedEnd == ms(11_100))
        #expect(!table.model.wantsData(at: at(0)))
        #expect(table.model.wantsData(at: at(1200)))
        table.model.append(.video, end: ms(12_000), now: at(1200))
        table.model.reachedEnd(now: at(1300))
        #expect(table.log(until: 20_000).last == "ended@12000.0:12000.0")
    }

    @Test("At another rate, the playhead meets the end at the computed nanosecond")
    func rate() {
        table.append(8000, now: 0)
        table.model.setRate(2, now: at(1000))
        #expect(table.model.position(at: at(1500)) == ms(2000))
        table.model.setRate(0.5, now: at(2000))
        #expect(table.model.nextDeadline(after: at(2000)) == at(12_000))
        for nonsense in [0, -1, .nan, .infinity] { table.model.setRate(nonsense, now: at(2000)) }
        #expect(table.log(until: 13_000).last == "stalled@12000.0:8000.0")
    }

    @Test("A pause stops the playhead, and delays the start before playback")
    func pause() {
        table.model.pause(now: at(0))
        table.append(1000, now: 10)
        #expect(table.log(until: 500).count == 1)
        #expect(table.model.nextDeadline(after: at(500)) == nil)
        table.model.resume(now: at(700))
        #expect(table.log(until: 700) == ["started@700.0:0.0"])
        table.model.pause(now: at(900))
        #expect(table.model.position(at: at(5000)) == ms(200))
        table.model.resume(now: at(5000))
        #expect(table.log(until: 9000) == ["stalled@5800.0:1000.0"])
    }

    @Test("A seek inside the buffer ends at once; a seek outside the buffer waits for media")
    func seek() {
        table.append(9000, now: 0)
        _ = table.log(until: 0)
        #expect(!table.seek(to: ms(5000), now: at(1000)))
        #expect(table.log(until: 1000).last?.contains("seek@1000.0:5000.0") == true)
        #expect(table.seek(to: ms(2000), now: at(1500)))
        #expect(table.model.isSeeking)
        table.append(1000, now: 1600)
        table.append(2999, now: 1700)
        #expect(table.model.isSeeking)
        table.append(3000, now: 1800)
        #expect(table.log(until: 1800).last?.contains("seek@1800.0:2000.0") == true)
    }

    @Test("Playback without thresholds still needs some media")
    func noThreshold() {
        let policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(10))
        table.model = PlaybackModel(tracks: [.video], policy: policy, now: at(0))
        table.model.append(.video, end: 0, now: at(1))
        #expect(table.log(until: 1) == [])
        table.model.append(.video, end: ms(40), now: at(2))
        #expect(table.log(until: 100).last == "stalled@42.0:40.0")
    }

    @Test("Extreme times saturate")
    func absurd() {
        table.model.append(.video, end: .max, now: at(0))
        table.model.append(.audio, end: .max, now: at(0))
        _ = table.seek(to: .max, now: at(1))
        _ = table.seek(to: .min, now: at(2))
        table.model.setRate(1e300, now: at(3))
        table.model.setRate(1e-300, now: at(4))
        table.append(2000, now: 5)
        table.model.reachedEnd(now: MonotonicInstant(nanoseconds: .max))
        _ = table.model.advance(to: MonotonicInstant(nanoseconds: .max))
        _ = table.model.nextDeadline(after: MonotonicInstant(nanoseconds: .min))
    }

    @Test(
        "The model agrees with steps of a quarter of a millisecond for random schedules",
        arguments: 0..<Rounds.of(150)
    )
    func property(seed: Int) { compare(seed: seed, back: 0) }

    @Test("The model with a back buffer agrees with steps for random schedules", arguments: 0..<Rounds.of(150))
    func backBufferProperty(seed: Int) { compare(seed: 1000 + seed, back: [nil, 100, 500, 2000][seed % 4]) }

    private func compare(seed: Int, back: Int?) {
        var random = SeededGenerator(seed: UInt64(seed))
        let policy = (
            start: Int.random(in: 0...8, using: &random) * 100, resume: Int.random(in: 0...10, using: &random) * 100
        )
        var stepping = SteppingPlayer(start: policy.start, resume: policy.resume, maximum: 1000, back: back)
        var model = PlaybackModel(
            tracks: [.video, .audio],
            policy: BufferPolicy(
                startThreshold: .milliseconds(policy.start),
                resumeThreshold: .milliseconds(policy.resume),
                maximum: .seconds(1)
            ),
            backBuffer: back.map { .milliseconds($0) },
            now: at(0)
        )
        var schedule: [Int: [Act]] = [:]
        var ends = [0, 0]
        for _ in 0..<Int.random(in: 5...60, using: &random) {
            schedule[Int.random(in: 0...6000, using: &random), default: []].append(act(&ends, using: &random))
        }
        var happened: [PlaybackModel.Transition] = []
        for quarters in 0...40_000 {
            stepping.tick(quarters)
            guard quarters % 4 == 0, let acts = schedule[quarters / 4] else { continue }
            for act in acts {
                stepping.perform(act, quarters)
                perform(act, on: &model, at(Double(quarters) / 4))
                if act == .look { happened += model.advance(to: at(Double(quarters) / 4)) }
            }
        }
        happened += model.advance(to: at(10_000))
        let expected = stepping.log.map { "\($0.what)@\($0.quarters * 250_000):\($0.eighths * 125_000)" }
        #expect(happened.map { "\($0.kind)@\($0.instant.nanoseconds):\($0.position)" } == expected)
    }

    private func act(_ ends: inout [Int], using random: inout SeededGenerator) -> Act {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return .pause
        case 1, 2: return .resume
        case 3: return .rate([1, 2, 4].randomElement(using: &random) ?? 2)
        case 4: return .seek(Int.random(in: 0...700, using: &random) * 4)
        case 5: return Int.random(in: 0..<3, using: &random) == 0 ? .end : .look
        case 6: return .look
        default:
            let track = Int.random(in: 0...1, using: &random)
            ends[track] += Int.random(in: 0...150, using: &random) * 4
            return .append(track: track, end: ends[track])
        }
    }

    private func perform(_ act: Act, on model: inout PlaybackModel, _ now: MonotonicInstant) {
        switch act {
        case .append(let track, let end): model.append(track == 0 ? .video : .audio, end: ms(end), now: now)
        case .end: model.reachedEnd(now: now)
        case .pause: model.pause(now: now)
        case .resume: model.resume(now: now)
        case .rate(let halves): model.setRate(Double(halves) / 2, now: now)
        case .seek(let target): _ = model.seek(to: ms(target), now: now)
        case .look: break
        }
    }
}
