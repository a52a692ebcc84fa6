internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentProbe

extension PlayCommand {
    /// Returns the clock for sources that play one after another, as fast as possible.
    ///
    /// The session begins in the past, by the total duration of the files, so that it ends now. Anything that
    /// makes it longer (URLs, seeks back, stalls) cannot move its wall time past the real one: services refuse
    /// events from the future.
    func virtualClock(for sources: [MediaSource], _ system: SystemClock) -> VirtualClock {
        let now = system.wallTime
        let length = sources.reduce(Duration.zero) { sum, source in
            // One timeout for the whole list: each source could take as long as that.
            let left = self.timeout.duration - .milliseconds(system.wallTime.milliseconds - now.milliseconds)
            return sum + (left > .zero ? self.length(of: source, within: left) : .zero)
        }
        let beginning = WallTime(milliseconds: now.milliseconds - Int64(length.milliseconds))
        return VirtualClock(wallTime: beginning) { system.wallTime }
    }

    /// The duration of a source over all its loops; zero if it is unknown.
    private func length(of source: MediaSource, within timeout: Duration) -> Duration {
        let declared = source.declaredDuration(timeout: timeout)
        let rounds = player.loop == 0 ? nil : declared.map { $0 * player.loop }
        return [rounds, duration?.duration].compactMap(\.self).min() ?? .zero
    }
}
