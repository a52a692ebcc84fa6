import Instrument
import Testing

@Suite("Interruptions of a playback")
struct PlayerInterruptionsTests {
    @Test("A pause ends the wait for data, and not the seek")
    func pause() {
        var interruptions = PlayerInterruptions()
        #expect(interruptions.openBuffering() + interruptions.openSeek() == [.bufferBegin, .seekBegin])
        #expect(interruptions.pause(isReported: true) == [.bufferFinish, .pauseBegin])
        #expect(interruptions.pause(isReported: true) == [])
        #expect(interruptions.isPaused && interruptions.isSeeking && !interruptions.isBuffering)
        #expect(interruptions.resume() == [.pauseFinish] && !interruptions.isPaused)
        #expect(interruptions.resume() == [])
    }

    @Test("The end of a pause is reported only if its begin was")
    func unreportedPause() {
        var interruptions = PlayerInterruptions(isPaused: true)
        #expect(interruptions.isPaused && interruptions.resume() == [])
        #expect(interruptions.pause(isReported: false) == [] && interruptions.isPaused)
        #expect(interruptions.resume() == [] && !interruptions.isPaused)
        _ = interruptions.pause(isReported: true)
        interruptions.forgetReportOfPause()
        #expect(interruptions.isPaused && interruptions.resume() == [])
    }

    @Test("An interruption begins and ends once, and the end of the playback ends all of them in their order")
    func end() {
        var interruptions = PlayerInterruptions()
        #expect(interruptions.closeBuffering() + interruptions.closeSeek() == [])
        _ = interruptions.pause(isReported: true)
        #expect(interruptions.openBuffering() + interruptions.openBuffering() == [.bufferBegin])
        #expect(interruptions.openSeek() + interruptions.openSeek() == [.seekBegin])
        #expect(interruptions.end() == [.bufferFinish, .seekFinish, .pauseFinish])
        #expect(interruptions == PlayerInterruptions())
    }
}
