internal import Instrument
internal import InstrumentProbe

extension PlayCommand {
    /// The clock of sources that are played one after another, as fast as possible.
    ///
    /// The session began so long ago that it has ended by now, as far as the lengths of files are known beforehand. Whatever
    /// else makes it longer (addresses, jumps back, stalls), its calendar never overtakes the real one: no service takes
    /// what is yet to come.
    func virtualClock(for sources: [MediaSource], _ system: SystemClock) -> VirtualClock {
        let now = system.wallTime
        let length = sources.reduce(Duration.zero) { sum, source in
            // Not all of a long list, where each may take the whole timeout.
            let left = Duration.seconds(timeout) - .milliseconds(system.wallTime.milliseconds - now.milliseconds)
            return sum + (left > .zero ? self.length(of: source, within: left) : .zero)
        }
        let beginning = WallTime(milliseconds: now.milliseconds - Int64(length.milliseconds))
        return VirtualClock(wallTime: beginning) { system.wallTime }
    }

    /// How long a source plays in all its rounds, as far as that is known.
    private func length(of source: MediaSource, within timeout: Duration) -> Duration {
        let declared = source.declaredDuration(timeout: timeout)
        let rounds = player.loop == 0 ? nil : declared.map { $0 * player.loop }
        return [rounds, duration.map { .seconds($0) }].compactMap(\.self).min() ?? .zero
    }
}
