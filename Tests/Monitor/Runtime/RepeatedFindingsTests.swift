import InstrumentMonitor
import Testing

@testable import InstrumentMonitorRuntime

@Suite("Broken rules over several runs of a check")
struct RepeatedFindingsTests {
    private func rules(_ findings: inout RepeatedFindings, _ broken: String...) -> [String] {
        let observation = CheckObservation(broken: broken.map { .init(rule: $0, message: "m") })
        return findings.complete(observation).broken.map(\.rule)
    }

    @Test("A rule that only a late round can find stays broken in the early rounds of the next short run")
    func late() {
        var findings = RepeatedFindings()
        findings.beginRun(carries: false)
        #expect(rules(&findings) == [])
        #expect(rules(&findings, "endlist-vanished") == ["endlist-vanished"])
        findings.beginRun(carries: true)
        #expect(rules(&findings, "stale") == ["stale", "endlist-vanished"])
        #expect(rules(&findings, "endlist-vanished") == ["endlist-vanished"])
        findings.beginRun(carries: true)
        #expect(rules(&findings) == ["stale", "endlist-vanished"])
        findings.beginRun(carries: true)
        #expect(rules(&findings) == [])
    }

    @Test("A long run carries nothing into the next one")
    func long() {
        var findings = RepeatedFindings()
        #expect(rules(&findings, "stale") == ["stale"])
        findings.beginRun(carries: false)
        #expect(rules(&findings) == [])
    }
}
