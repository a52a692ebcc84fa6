/// The rate of playback: the product of the viewer's rate and of the rate that keeps the playhead near the live edge.
struct PlaybackRate {
    private(set) var viewer = 1.0
    private(set) var catchUp = 1.0
    /// Whether signals report the rate: while it was always 1, none does.
    private(set) var isReported = false

    /// The factor by which media passes faster than time.
    var factor: Double { viewer * catchUp }

    /// Sets the viewer's rate; false if nothing changes. The rate must be finite and positive.
    mutating func setViewer(_ rate: Double) -> Bool {
        guard rate != viewer else { return false }
        (viewer, isReported) = (rate, true)
        return true
    }

    /// Sets the rate near the live edge; false if nothing changes or the rate is not finite and positive.
    mutating func setCatchUp(_ rate: Double) -> Bool {
        guard rate != catchUp, rate.isFinite, rate > 0 else { return false }
        (catchUp, isReported) = (rate, true)
        return true
    }
}
