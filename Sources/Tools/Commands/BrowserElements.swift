internal import Instrument
internal import InstrumentChrome
internal import InstrumentCommandLine
internal import InstrumentTerminal

/// The media elements of a browser that were asked to play, each with its tracker.
final class BrowserElements: Sendable {
    private struct Element {
        var player: ChromePlayer
        var tracker: TrackerID
        var source = "a media element"
        var hasStarted = false
        var isPaused = false
        var ending = PlaybackEnding.notPlayed
        var isOver = false
    }

    /// More elements are measured, but have no line of the summary.
    private static let maxCount = 10_000

    private let instrument: Instrument
    private let elements = Lock<[Element]>([])

    init(_ instrument: Instrument) { self.instrument = instrument }

    func add(_ player: ChromePlayer) {
        let watched = WatchedPlayer(player) { [weak self, weak player] signal in
            if let player { self?.take(signal, of: player) }
        }
        let tracker = instrument.add(PlayerTracker(watched))
        elements.withLock { elements in
            if elements.count < Self.maxCount { elements.append(Element(player: player, tracker: tracker)) }
        }
    }

    func remove(_ player: ChromePlayer) {
        let tracker = elements.withLock { elements -> TrackerID? in
            guard let index = elements.lastIndex(where: { $0.player === player }) else { return nil }
            elements[index].isOver = true
            return elements[index].tracker
        }
        if let tracker { instrument.remove(tracker) }
    }

    private func take(_ signal: PlayerSignal, of player: ChromePlayer) {
        elements.withLock { elements in
            guard let index = elements.lastIndex(where: { $0.player === player }) else { return }
            if let source = signal.status?.source { elements[index].source = source }
            switch signal.action {
            case .streamLoad: elements[index].isOver = false
            case .start: elements[index].hasStarted = true
            case .pauseBegin: elements[index].isPaused = true
            case .pauseFinish: elements[index].isPaused = false
            case .end: (elements[index].ending, elements[index].isOver) = (.ended, true)
            case .stop: (elements[index].ending, elements[index].isOver) = (.stopped, true)
            case .error:
                let message = signal.attributes[.errorDescription] ?? "the browser gives no reason"
                elements[index].ending = .failed(code: signal.attributes[.errorCode] ?? "error", message: message)
                elements[index].isOver = true
            default: break
            }
        }
    }

    /// Whether any element was asked to play.
    var hasAny: Bool { elements.withLock { !$0.isEmpty } }

    /// Whether any element has played.
    var hasStarted: Bool { elements.withLock { $0.contains(where: \.hasStarted) } }

    /// Whether some element has played or failed, and none plays.
    var areOver: Bool { elements.withLock { !$0.isEmpty && $0.allSatisfy(\.isOver) } }

    /// The elements as rows of a table.
    func rows(_ summary: Summary) -> [FleetTable.Row] {
        elements.withLock { $0 }.map { element in
            let isStopped = element.ending == .notPlayed && element.hasStarted
            return FleetTable.Row(
                source: element.source,
                record: summary.record(of: element.tracker),
                ending: isStopped ? .stopped : element.ending
            )
        }
    }

    /// The progress of the element that began last.
    var progress: TerminalText {
        guard let element = elements.withLock({ $0.last { !$0.isOver } }) else {
            return hasAny ? "… nothing is playing" : "… nothing on the page is asked to play"
        }
        let status = element.player.status
        guard let position = status.position else { return "… waiting for the player" }
        let symbol = element.isPaused ? "⏸" : element.hasStarted ? "▶" : "…"
        let length = status.duration.map { " / " + ProgressLine.clock($0) } ?? ""
        let title = status.title.map { "  " + $0 } ?? ""
        return "\(symbol) \(ProgressLine.clock(position))\(length)\(title)"
    }
}

/// A player whose signals somebody else hears, too.
private final class WatchedPlayer: Player {
    private let player: ChromePlayer
    private let tap: @Sendable (PlayerSignal) -> Void

    init(_ player: ChromePlayer, _ tap: @escaping @Sendable (PlayerSignal) -> Void) {
        (self.player, self.tap) = (player, tap)
    }

    var name: String { player.name }
    var status: PlayerStatus { player.status }
    var declaredFields: PrivacyCatalogue { player.declaredFields }

    func report(to observer: (@Sendable (PlayerSignal) -> Void)?) {
        guard let observer else { return player.report(to: nil) }
        player.report { [tap] signal in
            tap(signal)
            observer(signal)
        }
    }
}
