import Instrument
import Testing

@Suite("The addressee of a sample")
struct AddresseeTests {
    @Test("A sample is meant for all, unless it names one")
    func addressee() {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        var event = Event(.ping, tracker: TrackerID(0), time: time)
        #expect(Sample.event(event).isMeant(for: "one"))
        event[.addressee] = "one"
        #expect(Sample.event(event).isMeant(for: "one"))
        #expect(!Sample.event(event).isMeant(for: "other"))
    }
}
