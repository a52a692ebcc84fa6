import Instrument
import Testing

@testable import InstrumentProbe

@Suite("Declared fields of the probe")
struct DeclaredFieldsTests {
    private func expectDeclared(_ attributes: Attributes) {
        #expect(!attributes.isEmpty)
        for attribute in attributes {
            #expect(PrivacyCatalogue.probe[attribute.name] != nil, "\(attribute.name) is not declared")
        }
    }

    @Test("The probe declares every field about the network")
    func network() {
        let sums = NetworkSums(requests: 2, failures: 1, bytes: 3, throughput: 4, liveLatency: .seconds(5))
        #expect(sums.attributes.count == 5)
        expectDeclared(sums.attributes)
    }

    @Test("The probe declares every field about a request and the rate")
    func request() {
        let request = FinishedRequest(kind: .segment, bytes: 1, time: .seconds(2), firstByte: .seconds(1))
        #expect(request.attributes.count == 5)
        expectDeclared(request.attributes)
        var attributes = Attributes()
        attributes[.playbackRate] = 1
        expectDeclared(attributes)
    }

    @Test("The probe declares every field about warnings")
    func warnings() {
        let warning = StreamWarning(kind: .frameGap, message: "a gap", url: "http://127.0.0.1/s.ts")
        #expect(warning.attributes.count == 3)
        expectDeclared(warning.attributes)
    }
}
