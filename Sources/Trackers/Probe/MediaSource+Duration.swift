extension MediaSource {
    /// The duration that the container declares; nil if it declares none, if the source is not a file, or if the file
    /// cannot be opened.
    ///
    /// Opens the file and closes it again; blocks meanwhile, at most for `timeout`. An address gives nil, because the
    /// server would get two requests.
    package func declaredDuration(timeout: Duration) -> Duration? {
        guard case .file = location else { return nil }
        let timeouts = Demuxer.Timeouts(open: timeout, read: timeout)
        guard let demuxer = try? Demuxer(opening: self, timeouts: timeouts, interrupt: Interrupt()) else { return nil }
        return demuxer.info.duration.map { .nanoseconds($0) }
    }
}
