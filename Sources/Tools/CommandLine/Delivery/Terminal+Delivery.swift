package import Instrument
internal import InstrumentTerminal

extension Terminal {
    /// Notes a diagnostic of a queue, a store or a backend, unless an equal one was noted just now.
    package func note(_ diagnostic: Diagnostic) {
        if let line = diagnostic.line(repeats) { note("player-monitor: \(line)") }
    }

    /// Notes the samples that were not delivered; true if all were delivered.
    package func noteUndelivered(_ watch: DeliveryWatch) -> Bool {
        let lines = watch.lines()
        for line in lines { note(TerminalText(line)) }
        return lines.isEmpty
    }
}
