internal import Instrument

/// What a watch needs of a libVLC media player: its handle, or the script of a test.
///
/// All functions are called on the watch's queue, one at a time, and never in a call of libVLC's. They may block.
protocol VLCLibrary: Sendable {
    /// Lets the player call ``VLCCallback`` with this token from now on; false without memory.
    func observe(token: UInt) -> Bool
    /// Ends the calls. Returns once no call runs.
    func endObserving(token: UInt)
    /// The media, if the player has one.
    func media() -> VLCMedia?
    /// Whether a media is being played, and is paused; nil if none is played. Waits for a stop that is under way.
    func isPaused() -> Bool?
    /// The counters that libVLC computed last.
    func counters() -> VLCCounters?
    /// The speed that the app asked for.
    func rate() -> Double
    /// The selected tracks.
    func tracks() -> VLCTracks?
    /// The length of the media in milliseconds; 0 without one.
    func length() -> Int64
    /// Gives the handle back. Nothing is called afterwards.
    func release()
}
