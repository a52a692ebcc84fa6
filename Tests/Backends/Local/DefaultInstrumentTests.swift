import Instrument
import InstrumentBackends
import Testing

// The two imports of an app: this file must compile without others.

@Suite("The simplest embedding")
struct DefaultInstrumentTests {
    @Test("An instrument with a console needs two imports and one argument")
    func console() async {
        let instrument = Instrument(backends: [.console])
        #expect(Array(instrument.queue.ledger.keys) == ["console"])
        #expect(await instrument.shutdown(timeout: .seconds(1800)))
    }
}
