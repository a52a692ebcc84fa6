internal import InstrumentProbe
internal import InstrumentTerminal

/// A playback's progress in one line.
enum ProgressLine {
    static func text(_ progress: ProbeProgress) -> TerminalText {
        let symbol =
            switch progress.state {
            case .playing: "▶"
            case .paused: "⏸"
            case .finished: "■"
            default: "…"
            }
        let length = progress.duration.map { " / " + clock($0) } ?? ""
        let buffered = seconds(progress.buffered)
        return
            "\(symbol) \(clock(progress.position))\(length)  \(bar(progress))buffer \(buffered)  \(progress.state.rawValue)"
    }

    private static func bar(_ progress: ProbeProgress) -> String {
        guard let duration = progress.duration, duration > .zero else { return "" }
        let width = 24
        let filled = { (time: Duration) in min(width, Int(Double(width) * (time / duration))) }
        let played = filled(progress.position)
        let loaded = max(played, filled(progress.position + progress.buffered))
        return "["
            + String(repeating: "━", count: played)
            + String(repeating: "─", count: loaded - played)
            + String(repeating: " ", count: width - loaded) + "]  "
    }

    /// `m:ss.t`, with hours where there are any.
    static func clock(_ duration: Duration) -> String {
        let tenths = max(0, Int(duration / .milliseconds(100)))
        let (hours, minutes, seconds) = (tenths / 36_000, tenths / 600 % 60, tenths / 10 % 60)
        let tail = (seconds < 10 ? "0" : "") + "\(seconds).\(tenths % 10)"
        return hours > 0 ? "\(hours):" + (minutes < 10 ? "0" : "") + "\(minutes):\(tail)" : "\(minutes):\(tail)"
    }

    static func seconds(_ duration: Duration) -> String {
        let tenths = max(0, Int((duration / .milliseconds(100)).rounded()))
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
