import Instrument
import LoopbackServers
import Testing

@testable import InstrumentKafka

@Suite("Delivery reports of Kafka")
struct DeliveryReportsTests {
    private let ids = (0..<4).map { SessionSamples.id($0) }

    /// The outcome of a delivery with these results; nil has arrived.
    private func outcome(_ kinds: [KafkaFailure.Kind?]) -> DeliveryOutcome {
        var reports = DeliveryReports()
        reports.begin(Array(ids.prefix(kinds.count)))
        let numbers = ids.prefix(kinds.count).map { reports.reserve($0) }
        for (number, kind) in zip(numbers, kinds) {
            reports.report(number, kind.map { KafkaFailure($0, "\($0)") })
        }
        return reports.outcome(of: Array(ids.prefix(kinds.count)))
    }

    @Test("The outcome follows the failure that decides about the batch")
    func outcomes() {
        #expect(outcome([nil, nil]) == .acknowledged)
        #expect(outcome([nil, .temporary, .refused]) == .retry(after: nil, reason: "temporary"))
        #expect(outcome([.temporary, .unauthorized]) == .unauthorized(reason: "unauthorized"))
        #expect(outcome([.refused, .tooLarge]) == .tooLarge(reason: "tooLarge"))
        #expect(outcome([.refused, nil, .refused]) == .refused(reason: "refused"))
        #expect(outcome([nil, .refused]) == .acknowledgedExcept([ids[1]: "refused"]))
        #expect(outcome([nil, .tooLarge]) == .acknowledgedExcept([ids[1]: "tooLarge"]))
        #expect(outcome([.culprit, nil, .culprit]) == .acknowledgedExcept([ids[0]: "culprit", ids[2]: "culprit"]))
        #expect(outcome([.culprit, .refused]) == .acknowledgedExcept([ids[0]: "culprit", ids[1]: "refused"]))
        #expect(outcome([.culprit, .refused, .refused]) == .refused(reason: "refused"))
    }

    @Test("A retry needs messages for failed samples only, also when the report comes after a cancelled delivery")
    func retry() {
        var reports = DeliveryReports()
        reports.begin(ids)
        let numbers = ids.map { reports.reserve($0) }
        reports.report(numbers[0], nil)
        reports.report(numbers[1], KafkaFailure(.temporary, "late"))
        // Cancelled here.
        reports.begin(ids)
        #expect(ids.map { reports.needsMessage($0) } == [false, true, false, false])
        reports.report(numbers[2], nil)
        reports.report(numbers[3], KafkaFailure(.temporary, "late"))
        #expect(ids.map { reports.needsMessage($0) } == [false, true, false, true])
        #expect(reports.underWayCount == 0)
        for id in [ids[1], ids[3]] { reports.report(reports.reserve(id), nil) }
        #expect(reports.outcome(of: ids) == .acknowledged)
        #expect(ids.allSatisfy { reports.needsMessage($0) })
    }

    @Test("Arrived messages are remembered while the queue halves their batch")
    func halves() {
        var reports = DeliveryReports()
        reports.begin(ids)
        for (id, kind) in zip(ids, [KafkaFailure.Kind?.none, .refused, nil, .refused]) {
            reports.report(reports.reserve(id), kind.map { KafkaFailure($0, "refused") })
        }
        #expect(reports.outcome(of: ids) == .refused(reason: "refused"))
        reports.begin([ids[0], ids[1]])
        #expect(ids.map { reports.needsMessage($0) } == [false, true, false, true])
    }

    @Test("A replaced producer leaves what has arrived, and a report for an unknown number changes nothing")
    func replaced() {
        var reports = DeliveryReports()
        let numbers = ids.map { reports.reserve($0) }
        reports.report(numbers[0], nil)
        reports.abandon()
        #expect(reports.underWayCount == 0)
        reports.report(numbers[1], nil)
        reports.report(99, nil)
        reports.report(-1, nil)
        #expect(ids.map { reports.needsMessage($0) } == [false, true, true, true])
    }

    @Test("What is remembered about samples that the queue has dropped stays bounded")
    func bounded() {
        var reports = DeliveryReports()
        for number in 0..<60_000 { reports.report(reports.reserve(SessionSamples.id(number)), nil) }
        reports.begin(ids)
        #expect(!reports.needsMessage(ids[0]) && reports.needsMessage(SessionSamples.id(10)))
    }

    @Test("A delivery waits for its own messages alone, and settles them alone, while others are under way")
    func others() {
        var reports = DeliveryReports()
        reports.begin([ids[0], ids[1]])
        let numbers = [reports.reserve(ids[0]), reports.reserve(ids[1])]
        // Cancelled; the queue halves the batch.
        reports.begin([ids[1], ids[2]])
        #expect(reports.awaitedCount == 1 && reports.underWayCount == 2)
        let other = reports.reserve(ids[2])
        #expect(!numbers.contains(other))
        reports.report(other, nil)
        reports.report(numbers[1], nil)
        #expect(reports.awaitedCount == 0 && reports.underWayCount == 1)
        #expect(reports.outcome(of: [ids[1], ids[2]]) == .acknowledged)
        reports.begin(ids)
        #expect(ids.map { reports.needsMessage($0) } == [false, true, true, true])
        reports.report(numbers[0], nil)
        // A report comes once.
        reports.report(numbers[0], KafkaFailure(.refused, "again"))
        #expect(reports.awaitedCount == 0)
        let refused = ids[1...].map { reports.reserve($0) }
        reports.release(refused[2])
        reports.fail(ids[3], KafkaFailure(.culprit, "too large"))
        for number in refused[..<2] { reports.report(number, nil) }
        #expect(reports.outcome(of: ids) == .acknowledgedExcept([ids[3]: "too large"]))
        #expect(reports.underWayCount == 0)
    }

    @Test("A sample without a result is sent again")
    func missing() {
        var reports = DeliveryReports()
        reports.begin(ids)
        reports.report(reports.reserve(ids[0]), nil)
        guard case .retry(nil, _) = reports.outcome(of: ids) else {
            Issue.record("a delivery without all results was settled")
            return
        }
        reports.begin(ids)
        #expect(ids.map { reports.needsMessage($0) } == [false, true, true, true])
    }
}
