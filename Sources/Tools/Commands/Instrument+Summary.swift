internal import Instrument
internal import InstrumentAds
internal import InstrumentCommandLine
internal import InstrumentQuality
internal import InstrumentTerminal

extension Instrument {
    /// Creates the chain of a run: the hub and the core and quality metrics, with those of ads where ads are played,
    /// the chosen backends, and the summary.
    convenience init(
        to backends: [any Backend],
        summedUpBy summary: some Backend,
        store: any SampleStore,
        clock: any SchedulingClock,
        deliveringBy system: SystemClock,
        terminal: Terminal,
        watch: DeliveryWatch,
        labels: SampleLabels,
        withAds: Bool = false
    ) {
        let hub: any Hub = withAds ? AdsHub() : CoreHub()
        let metricalc =
            withAds
            ? CarryingMetricalc(MultiplexMetricalc([QualityMetricalc(), AdMetricalc()]), AttributeName.ofMonitor)
            : CarryingMetricalc(QualityMetricalc(), AttributeName.ofMonitor)
        self.init(
            hub: hub,
            metricalc: metricalc,
            backends: backends + [summary],
            store: store,
            clock: clock,
            deliveryClock: system,
            privacy: PrivacyRules(declaring: .monitor),
            onDiagnostic: { diagnostic in
                watch.note(diagnostic)
                terminal.note(diagnostic)
            }
        )
        labels.apply(to: self)
    }
}
