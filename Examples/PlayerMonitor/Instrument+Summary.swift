internal import Instrument
internal import InstrumentTerminal

extension Instrument {
    /// The chain of a run: core hub and metricalc, the backends that were wished for, and what sums the run up.
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
