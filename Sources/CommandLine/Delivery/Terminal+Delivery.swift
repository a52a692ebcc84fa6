internal import InstrumentTerminal

extension Terminal {
    /// Notes the samples that were not delivered; true if all were delivered.
    package func noteUndelivered(_ watch: DeliveryWatch) -> Bool {
        let lines = watch.lines()
        for line in lines { note(TerminalText(line)) }
        return lines.isEmpty
    }
}
