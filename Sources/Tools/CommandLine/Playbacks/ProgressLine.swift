/// The parts of a line that shows a playback's progress.
package enum ProgressLine {
    /// The width of the bar between its brackets, in columns.
    private static let barWidth = 24

    /// A bar of the played and the buffered part of the media, and two spaces; empty if the duration is unknown.
    package static func bar(position: Duration, buffered: Duration, duration: Duration?) -> String {
        guard let duration, duration > .zero else { return "" }
        let filled = { (time: Duration) in min(barWidth, max(0, Int(Double(barWidth) * (time / duration)))) }
        let played = filled(position)
        let loaded = max(played, filled(position + buffered))
        return "["
            + String(repeating: "━", count: played)
            + String(repeating: "─", count: loaded - played)
            + String(repeating: " ", count: barWidth - loaded) + "]  "
    }

    /// A position as `m:ss.t`, or `h:mm:ss.t` from one hour on.
    package static func clock(_ duration: Duration) -> String {
        let tenths = max(0, Int(duration / .milliseconds(100)))
        let (hours, minutes, seconds) = (tenths / 36_000, tenths / 600 % 60, tenths / 10 % 60)
        let tail = (seconds < 10 ? "0" : "") + "\(seconds).\(tenths % 10)"
        return hours > 0 ? "\(hours):" + (minutes < 10 ? "0" : "") + "\(minutes):\(tail)" : "\(minutes):\(tail)"
    }

    /// A duration as `s.t s`.
    package static func seconds(_ duration: Duration) -> String {
        let tenths = max(0, Int((duration / .milliseconds(100)).rounded()))
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
