import Instrument
import TestTraits
import Testing

@testable import InstrumentSensors

@Suite("Shared source", .ownThread)
struct SharedSourceTests {
    private final class System: Sendable {
        let said = Collected<String>()
        struct State {
            var say: (@Sendable (SensorUpdate<Int>) -> Void)?
        }

        let state = Lock(State())
    }

    private let system = System()

    private func source(_ absence: SensorAbsence? = nil) -> SharedSource<Int> {
        SharedSource(
            absence: { absence },
            begin: { [system] say in
                system.said.add("begin")
                system.state.withLock { $0.say = say }
            },
            end: { [system] in system.said.add("end") }
        )
    }

    @Test("A shared source starts for the first observer and stops after the last, however often one stops")
    func shared() {
        let source = source()
        let (first, second) = (Collected<Int?>(), Collected<Int?>())
        let one = source.start { first.add($0.reading) }
        let two = source.start { second.add($0.reading) }
        #expect(source.current() == .absent(.silent))
        system.state.withLock { $0.say }?(.reading(1))
        one.stop()
        one.stop()
        system.state.withLock { $0.say }?(.reading(2))
        #expect(system.said.values == ["begin"])
        two.stop()
        #expect(system.said.values == ["begin", "end"])
        #expect(first.values == [1] && second.values == [1, 2])
        #expect(source.current() == .reading(2))
        source.start { _ in }.stop()
        #expect(system.said.values == ["begin", "end", "begin", "end"])
    }

    @Test("A shared source that the system does not have never starts")
    func absent() {
        let source = source(.missing)
        source.start { _ in }.stop()
        #expect(system.said.values.isEmpty)
        #expect(source.current() == .absent(.missing))
    }
}
