extension MediaSource {
    /// How long it plays, as the container says; nil if it does not say, is no file, or cannot be opened.
    ///
    /// Opens the file and closes it again; blocks for as long as that takes, at most `timeout`. Addresses are not asked: a
    /// server would be asked twice.
    package func declaredDuration(timeout: Duration) -> Duration? {
        guard case .file = location else { return nil }
        let timeouts = Demuxer.Timeouts(open: timeout, read: timeout)
        guard let demuxer = try? Demuxer(opening: self, timeouts: timeouts, interrupt: Interrupt()) else { return nil }
        return demuxer.info.duration.map { .nanoseconds($0) }
    }
}
