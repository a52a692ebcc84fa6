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

@Suite("Store contract")
struct StoreContractTests {
    @Test("The store in memory keeps the contract")
    func inMemory() throws { try StoreContract.check { InMemoryStore() } }

    @Test("A custom store keeps the contract, also when it is reopened")
    func plain() throws {
        try StoreContract.check { FaultyStore(nil) }
        let store = FaultyStore(nil)
        try StoreContract.checkReopening { store }
    }

    @Test("A store with too little space breaks the contract")
    func full() {
        let found = violation { try StoreContract.check { InMemoryStore(limits: QueueLimits(maxCount: 500)) } }
        #expect(found != nil)
    }

    @Test("The contract names the promise that a faulty store breaks", arguments: StoreFault.allCases)
    func faulty(fault: StoreFault) {
        let found = violation { try StoreContract.check { FaultyStore(fault) } }
        #expect(found?.promise == fault.promise, "\(found?.description ?? "no violation")")
        #expect(found?.description.contains(fault.promise) == true)
    }

    /// The faults of a reopened store.
    enum ReopeningFault: CaseIterable {
        case losesLease, losesLedger, losesDeadLetters, losesMark, losesLastSample, changesSamples, revivesErased

        var promise: String {
            switch self {
            case .losesLease: "an unsettled batch is the same after the store was reopened"
            case .losesLedger: "a ledger is the same after the store was reopened"
            case .losesDeadLetters: "dead letters are the same after the store was reopened"
            case .losesMark: "the mark stays when the store is reopened"
            case .losesLastSample, .revivesErased: "a ledger is the same after the store was reopened"
            case .changesSamples: "samples are exactly the same after the store was reopened"
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

    @Test("The contract names the promise that a store breaks when it is reopened", arguments: ReopeningFault.allCases)
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
