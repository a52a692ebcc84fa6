import Instrument
import Testing

@testable import InstrumentProbe

@Suite("Values of a playback session")
struct SessionValuesTests {
    private let start = MonotonicInstant(nanoseconds: 0)

    @Test("The rate is the product of both rates, and is reported from the first change on")
    func rate() {
        var rate = PlaybackRate()
        var isChanged = [rate.setViewer(1), rate.setCatchUp(.infinity), rate.setCatchUp(0)]
        #expect(isChanged == [false, false, false])
        #expect(!rate.isReported)
        isChanged = [rate.setViewer(2), rate.setCatchUp(1.05)]
        #expect(isChanged == [true, true])
        #expect(rate.factor == 2.1)
        isChanged = [rate.setViewer(1), rate.setCatchUp(1)]
        #expect(isChanged == [true, true])
        #expect(rate.isReported)
        #expect(rate.factor == 1)
    }

    @Test("A lower quality that the playhead reaches is reported once")
    func reachedQuality() {
        var quality = PlayedQuality()
        var model: PlaybackModel?
        let high = Quality(width: 1920, height: 1080, bitrate: 5_000_000)
        let low = Quality(width: 640, height: 360, bitrate: 800_000)
        quality.approach(high, at: 0, in: &model, now: start)
        #expect(quality.current == high)
        quality.approach(low, at: 4_000_000_000, in: &model, now: start)
        #expect(quality.current == high)
        let changes = [quality.reach(low), quality.reach(low), quality.reach(high)]
        #expect(changes == [.qualityChangeDown, nil, .qualityChangeUp])
    }

    @Test("The mean bit rate needs bytes and time", arguments: [(0, 8), (1000, 0)])
    func noBitrate(bytes: Int, end: Int64) {
        var media = ReceivedMedia()
        media.count(bytes: bytes)
        media.reach(end)
        #expect(media.meanBitrate == nil)
    }

    @Test("The mean bit rate divides the bytes by the end of the furthest media")
    func bitrate() {
        var media = ReceivedMedia()
        media.count(bytes: 1_000_000)
        media.reach(4_000_000_000)
        media.reach(1_000_000_000)
        #expect(media.meanBitrate == 2_000_000)
    }

    @Test("The mean bit rate does not count the time that playback jumped over", arguments: [0, 1_000_000])
    func bitrateBehindJump(before: Int) {
        var media = ReceivedMedia()
        if before > 0 {
            media.count(bytes: before)
            media.reach(4_000_000_000)
        }
        media.passOver(to: 3_600_000_000_000)
        media.passOver(to: 1_000_000_000)
        if before == 0 { #expect(media.meanBitrate == nil) }
        media.count(bytes: 1_000_000)
        media.reach(3_604_000_000_000)
        #expect(media.meanBitrate == 2_000_000)
    }

    @Test("A source that extends the buffer between other packets is not stuck")
    func idlePackets() {
        var media = ReceivedMedia()
        var isStuck = false
        for _ in 0..<200_000 where media.countIdle(extended: false) { isStuck = true }
        if media.countIdle(extended: true) { isStuck = true }
        for _ in 0..<200_000 where media.countIdle(extended: false) { isStuck = true }
        #expect(!isStuck)
        let isStuckNow = media.countIdle(extended: false)
        #expect(isStuckNow)
    }
}
