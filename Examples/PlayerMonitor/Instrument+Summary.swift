internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentTerminal

extension Instrument {
    /// Creates the chain of a run: the core hub and metricalc, the chosen backends, and the summary.
    convenience init(
        to backends: [any Backend],
        summedUpBy summary: some Backend,
        store: any SampleStore,
        clock: any SchedulingClock,
        deliveringBy system: SystemClock,
        terminal: Terminal,
        watch: DeliveryWatch
    ) {
        self.init(
            hub: CoreHub(),
            metricalc: CoreMetricalc(),
            backends: backends + [summary],
            store: store,
            clock: clock,
            deliveryClock: system,
            onDiagnostic: { diagnostic in
                watch.note(diagnostic)
                terminal.note("player-monitor: \(diagnostic)")
            }
        )
    }
}
