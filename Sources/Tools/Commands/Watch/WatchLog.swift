internal import Foundation
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentMonitor
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentWatch

/// The lines of `watch`: on standard output what happens to streams, on standard error what happens to the monitor.
///
/// Under systemd, each line begins with its priority (sd-daemon(3)), and carries no time, which the journal adds.
final class WatchLog: Sendable {
    let terminal: Terminal
    private let isJournal: Bool
    private let isSilent = Lock(false)
    private let repeats = RepeatLimiter()

    init(_ terminal: Terminal, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.terminal = terminal
        isJournal = environment["JOURNAL_STREAM"] != nil
    }

    /// Writes an event.
    func event(_ text: String) {
        if isSilent.withLock({ $0 }) { return }
        terminal.write((isJournal ? "<6>" : "\(Self.time()) ") + "\(text)\n")
    }

    /// Writes a warning.
    func warning(_ text: String) {
        if isSilent.withLock({ $0 }) { return }
        terminal.note((isJournal ? "<4>" : "player-monitor: ") + "\(text)")
    }

    /// Writes a diagnostic, unless an equal one was written just now.
    func warning(_ diagnostic: Diagnostic) { if let line = diagnostic.line(repeats) { warning(line) } }

    /// Writes what a configuration has and what does nothing.
    func warn(of configuration: WatchConfiguration) {
        for problem in configuration.warnings.prefix(20) { warning("\(problem)") }
    }

    /// Writes nothing until ``unsilence()``, while a table has the terminal.
    func silence() { isSilent.withLock { $0 = true } }
    func unsilence() { isSilent.withLock { $0 = false } }

    private static func time() -> String { SystemClock().wallTime.rfc3339 }
}

/// What changed since the last look, as lines.
struct WatchLines {
    private var known: [String: Bool] = [:]
    private var nextSummary: MonotonicInstant?

    mutating func news(of model: MonitorModel, at now: Timestamp) -> [String] {
        var lines: [String] = []
        var names: Set<String> = []
        for slot in model.streams.order {
            guard let state = model.streams[slot] else { continue }
            names.insert(state.stream.name)
            guard let isUp = state.isUp, known[state.stream.name] != isUp else { continue }
            let isFirst = known.updateValue(isUp, forKey: state.stream.name) == nil
            if isUp {
                let startup = state.figures(at: now.instant).startup.map { ", first picture after \($0) ms" } ?? ""
                lines.append("\(state.stream.name) \(isFirst ? "plays" : "plays again")\(startup)")
            } else {
                let failure = state.lastFailure.map { ": \($0.code): \($0.message)" } ?? ""
                let reason = state.cause.map { ": \($0.title): \($0.text)" } ?? failure
                lines.append("\(state.stream.name) is down\(reason)")
            }
        }
        if known.count > 2 * names.count + 100 { known = known.filter { names.contains($0.key) } }
        if let next = nextSummary, next > now.instant { return lines }
        if nextSummary != nil { lines.append(summary(of: model, at: now)) }
        nextSummary = now.instant.advanced(by: .seconds(60))
        return lines
    }

    private func summary(of model: MonitorModel, at now: Timestamp) -> String {
        let states = model.streams.order.compactMap { model.streams[$0] }
        let down = states.count { $0.isUp == false }
        let stalled = states.count { $0.word == .stalled }
        let firing = model.alerts.count { $0.isFiring }
        return [
            String(counting: states.count, "stream"), String(counting: model.sessions.running, "session"),
            "\(down) down",
            "\(stalled) stalled", String(counting: firing, "alert"),
        ].joined(separator: ", ")
    }
}
