import Instrument
import InstrumentTestKit
import Testing

/// The violation that `body` throws; nil if it throws none.
func violation(of body: () throws -> Void) -> ContractViolation? {
    do {
        try body()
        return nil
    } catch {
        return error as? ContractViolation
    }
}

@Suite("The stores' contract")
struct StoreContractTests {
    @Test("The store in memory keeps it")
    func inMemory() throws { try StoreContract.check { InMemoryStore() } }

    @Test("A plain store of another make keeps it, also when it is opened again")
    func plain() throws {
        try StoreContract.check { FaultyStore(nil) }
        let store = FaultyStore(nil)
        try StoreContract.checkReopening { store }
    }

    @Test("A store that is full before the end breaks it")
    func full() {
        let found = violation { try StoreContract.check { InMemoryStore(limits: QueueLimits(maxCount: 500)) } }
        #expect(found != nil)
    }

    @Test("A store that breaks a promise fails the contract, which names that promise", arguments: StoreFault.allCases)
    func faulty(fault: StoreFault) {
        let found = violation { try StoreContract.check { FaultyStore(fault) } }
        #expect(found?.promise == fault.promise, "\(found?.description ?? "no violation")")
        #expect(found?.description.contains(fault.promise) == true)
    }

    /// What a store does wrong when it is opened again.
    enum ReopeningFault: CaseIterable {
        case losesLease, losesLedger, losesDeadLetters, losesMark, losesLastSample, changesSamples, revivesErased

        var promise: String {
            switch self {
            case .losesLease: "a batch that was given and not settled is the same after the store was opened again"
            case .losesLedger: "a ledger is the same after the store was opened again"
            case .losesDeadLetters: "dead letters are the same after the store was opened again"
            case .losesMark: "the mark stays when the store is opened again"
            case .losesLastSample, .revivesErased: "a ledger is the same after the store was opened again"
            case .changesSamples: "samples are exactly the same after the store was opened again"
            }
        }

        func apply(to state: inout FaultyStore.State) {
            for name in state.places.keys {
                switch self {
                case .losesLease: state.places[name]?.leaseEnd = nil
                case .losesLedger: state.places[name]?.acknowledged = 0
                case .losesDeadLetters: state.places[name]?.dead = []
                default: break
                }
            }
            switch self {
            case .losesMark: state.mark = nil
            case .losesLastSample: if !state.log.isEmpty { state.log.removeLast() }
            case .changesSamples:
                state.log = state.log.map { $0.map { StoreFault.losesEmptyTexts.change($0) ?? $0 } }
            case .revivesErased:
                for number in state.log.indices where state.log[number] == nil { state.log[number] = state.log[0] }
            default: break
            }
        }
    }

    @Test("A store that changes when it is opened again fails the contract", arguments: ReopeningFault.allCases)
    func reopening(fault: ReopeningFault) {
        let (store, isOpened) = (FaultyStore(nil), Lock(false))
        let found = violation {
            try StoreContract.checkReopening {
                if isOpened.withLock({ $0 }) { store.state.withLock { fault.apply(to: &$0) } }
                isOpened.withLock { $0 = true }
                return store
            }
        }
        #expect(found?.promise == fault.promise, "\(found?.description ?? "no violation")")
    }
}
