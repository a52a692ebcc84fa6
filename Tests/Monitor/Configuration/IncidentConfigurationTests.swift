import Foundation
import Instrument
import InstrumentBackendKinds
import Testing

@testable import InstrumentWatch

@Suite("Incidents, maintenance and access in the configuration of watch")
struct IncidentConfigurationTests {
    private func wallTime(_ text: String) throws -> WallTime {
        let date = try #require(ISO8601DateFormatter().date(from: text))
        return WallTime(milliseconds: Int64(date.timeIntervalSince1970 * 1_000))
    }

    private func read(_ text: String) throws(ConfigurationError) -> WatchConfiguration {
        let notify = "notify: { ops: { webhook: \"http://example.org/x\" } }\n"
        let files = MemoryFiles(files: ["m.yaml": "streams: []\n" + notify + text])
        return try WatchConfiguration(contentsOf: "m.yaml", kinds: .forms, files: files)
    }

    @Test("Grouping, intervals and the steps of an escalation are read")
    func incidents() throws {
        let settings = try read(
            """
            incidents:
              group_by: [cdn, region]
              group_wait: 30s
              group_interval: 10m
              repeat_interval: 12h
              reopen: 5m
              escalate: [{ after: 15m, to: ops }, { after: 1h, to: [ops] }]
            """
        ).incidents
        #expect(settings.groupBy == ["cdn", "region"])
        #expect(settings.groupWait == .seconds(30))
        #expect(settings.groupInterval == .seconds(600))
        #expect(settings.repeatInterval == .seconds(43_200))
        #expect(settings.reopen == .seconds(300))
        #expect(settings.escalation.map(\.after) == [.seconds(900), .seconds(3_600)])
        #expect(settings.escalation.map(\.receivers) == [["ops"], ["ops"]])
        #expect(try read("").incidents == IncidentSettings())
    }

    @Test("Windows of maintenance are read: on days of the week in a time zone, and once")
    func maintenance() throws {
        let windows = try read(
            """
            maintenance:
              - { name: encoder, match: { channel: news }, weekdays: [sunday, "monday:wednesday"], start_time: "02:00", end_time: "04:30", location: Europe/Oslo }
              - { name: move, begin: 2026-12-01T02:00:00Z, end: "2026-12-01T05:00:00+01:00" }
            """
        ).incidents.maintenance
        let weekly = MaintenanceWindow.Weekly(weekdays: [0, 1, 2, 3], start: 120, end: 270, location: "Europe/Oslo")
        #expect(windows.map(\.name) == ["encoder", "move"])
        #expect(windows.first?.time == .weekly(weekly))
        #expect(windows.first?.matchers == ["channel": "news"])
        let (begin, end) = (try wallTime("2026-12-01T02:00:00Z"), try wallTime("2026-12-01T04:00:00Z"))
        #expect(windows.last?.time == .once(from: begin, to: end))
    }

    @Test(
        "A weekly window follows the clock on the wall over changes of summer time and midnight",
        arguments: [
            // Berlin: 02:00 to 04:00 in winter, and on the day on which summer time begins, one hour of it.
            ("Europe/Berlin", 0, 120, 240, "2026-03-22T00:59:59Z", false),
            ("Europe/Berlin", 0, 120, 240, "2026-03-22T01:00:00Z", true),
            ("Europe/Berlin", 0, 120, 240, "2026-03-22T02:59:59Z", true),
            ("Europe/Berlin", 0, 120, 240, "2026-03-22T03:00:00Z", false),
            ("Europe/Berlin", 0, 120, 240, "2026-03-29T00:59:59Z", false),
            ("Europe/Berlin", 0, 120, 240, "2026-03-29T01:00:00Z", true),
            ("Europe/Berlin", 0, 120, 240, "2026-03-29T01:59:59Z", true),
            ("Europe/Berlin", 0, 120, 240, "2026-03-29T02:00:00Z", false),
            // The day on which it ends has the hour from 02:00 twice.
            ("Europe/Berlin", 0, 120, 240, "2026-10-24T23:59:59Z", false),
            ("Europe/Berlin", 0, 120, 240, "2026-10-25T00:00:00Z", true),
            ("Europe/Berlin", 0, 120, 240, "2026-10-25T02:59:59Z", true),
            ("Europe/Berlin", 0, 120, 240, "2026-10-25T03:00:00Z", false),
            // Over midnight, the day on which the window begins counts.
            ("UTC", 6, 1_380, 60, "2026-01-03T22:59:00Z", false), ("UTC", 6, 1_380, 60, "2026-01-03T23:00:00Z", true),
            ("UTC", 6, 1_380, 60, "2026-01-04T00:59:59Z", true), ("UTC", 6, 1_380, 60, "2026-01-04T01:00:00Z", false),
            ("UTC", 6, 1_380, 60, "2026-01-04T23:30:00Z", false),
            // A whole day, and a zone whose offset is no whole hour.
            ("UTC", 6, 0, 1_440, "2026-01-03T23:59:59Z", true),
            ("Asia/Kathmandu", 1, 0, 60, "2026-01-04T18:15:00Z", true),
        ]
    )
    func weekly(_ zone: String, _ day: Int, _ start: Int, _ end: Int, _ time: String, _ isActive: Bool) throws {
        let weekly = MaintenanceWindow.Weekly(weekdays: [day], start: start, end: end, location: zone)
        let window = MaintenanceWindow(name: "w", time: .weekly(weekly))
        #expect(try window.isActive(at: wallTime(time)) == isActive)
    }

    @Test(
        "The end of an open window is that of the clock on the wall",
        arguments: [
            ("Europe/Berlin", 120, 240, "2026-03-29T00:30:00Z", nil),
            ("Europe/Berlin", 60, 240, "2026-03-29T00:30:00Z", "2026-03-29T02:00:00Z"),
            ("Europe/Berlin", 120, 240, "2026-10-25T00:30:00Z", "2026-10-25T03:00:00Z"),
            ("Europe/Berlin", 1_320, 120, "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", 1_320, 150, "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"),
            ("UTC", 0, 1_440, "2026-03-29T12:00:00Z", "2026-03-30T00:00:00Z"),
            ("UTC", 600, 600, "2026-03-29T12:00:00Z", "2026-03-30T10:00:00Z"),
            ("UTC", 600, 600, "2026-03-30T09:00:00Z", "2026-03-30T10:00:00Z"),
        ]
    )
    func end(_ zone: String, _ start: Int, _ end: Int, _ time: String, _ expected: String?) throws {
        let weekly = MaintenanceWindow.Weekly(weekdays: Set(0...6), start: start, end: end, location: zone)
        let window = MaintenanceWindow(name: "w", time: .weekly(weekly))
        #expect(try window.end(at: wallTime(time)) == expected.map { try wallTime($0) })
    }

    @Test("Tokens, a proxy and the files of TLS are read")
    func access() throws {
        let access = try read(
            """
            access:
              tokens:
                - { name: ana, role: act, secret: { env: ANA } }
                - { name: wall, role: read, secret: { file: /etc/wall } }
              proxy: { header: X-Forwarded-User, from: [127.0.0.1, "2001:db8::/32"], role: act }
              tls: { certificate: /etc/cert.pem, key: /etc/key.pem }
            """
        ).access
        #expect(access.tls == ServerCertificate(certificate: "/etc/cert.pem", key: "/etc/key.pem"))
        #expect(access.tokens.map(\.name) == ["ana", "wall"])
        #expect(access.tokens.map(\.role) == [.act, .read])
        #expect(access.tokens.map(\.secret) == [.environment("ANA"), .file("/etc/wall")])
        #expect(access.proxy?.addresses.contains { $0.contains("2001:db8::7") } == true)
    }

    @Test("Objectives are read")
    func objectives() throws {
        let objectives = try read(
            """
            objectives:
              - { name: start, start_within: 2s, goal: 99%, by: cdn, to: [ops] }
              - { name: smooth, stalled_below: 0.5% }
              - { name: up, up: 99.9%, days: 7, match: { channel: news } }
            """
        ).objectives
        #expect(objectives.map(\.indicator) == [.startWithin(.seconds(2)), .notStalled, .up])
        #expect(objectives.map { ($0.goal * 10_000).rounded() } == [9_900, 9_950, 9_990])
        #expect(objectives.map(\.days) == [30, 30, 7])
        #expect(objectives.map(\.groupBy) == ["cdn", nil, nil])
        #expect(objectives.map(\.receivers) == [["ops"], [], []])
        #expect(objectives.last?.matchers == ["channel": "news"])
    }

    @Test(
        "A mistake is reported with what is expected",
        arguments: [
            ("incidents: { group_wiat: 10s }", "Did you mean `group_wait`?"),
            ("incidents: { escalate: { to: ops } }", "must have `after`"),
            ("incidents: { escalate: { after: 5m, to: opps } }", "Unknown receiver `opps`. Did you mean `ops`?"),
            ("incidents: { escalate: [{ after: 5m, to: ops }, { after: 5m, to: ops }] }", "must be longer"),
            ("incidents: { escalate: { after: 5m, to: [] } }", "must name at least one receiver"),
            (
                "alerts: [{ name: a, when: 'check_failed{rule=\"stael\"} > 0', to: ops }]",
                "Unknown rule `stael` in `when`. Did you mean `stale`?"
            ),
            (
                "alerts: [{ name: a, when: up == 0, while: 'check_failed{rule=\"blak\"} > 0', to: ops }]",
                "Unknown rule `blak` in `while`. Did you mean `black`?"
            ),
            ("incidents: { repeat_interval: 1s }", "at least `1m`"),
            (
                "maintenance: [{ name: a, start_time: \"2:00\", end_time: \"04:00\" }]",
                "`start_time` must be a time of day"
            ),
            ("maintenance: [{ name: a, start_time: \"02:00\" }]", "must have `start_time` and `end_time`"),
            (
                "maintenance: [{ name: a, start_time: \"02:00\", end_time: \"04:00\", location: Europe/Olso }]",
                "time zone"
            ),
            (
                "maintenance: [{ name: a, start_time: \"02:00\", end_time: \"04:00\", weekdays: sundai }]",
                "Did you mean `sunday`?"
            ),
            ("maintenance: [{ name: a, begin: 2026-12-01T02:00:00Z }]", "both `begin` and `end`"),
            (
                "maintenance: [{ name: a, begin: tomorrow, end: 2026-12-01T02:00:00Z }]",
                "`begin` must be a time such as"
            ),
            ("maintenance: [{ name: a, begin: 2026-12-01T02:00:00Z, end: 2026-12-01T02:00:00Z }]", "must be later"),
            ("access: { tokens: [{ name: ana, role: admin, secret: { env: A } }] }", "must be `read` or `act`"),
            ("access: { tokens: [{ name: ana, role: act, secret: hidden }] }", "must name its source"),
            (
                "access: { tokens: [{ name: a, role: act, secret: { env: A } }, { name: a, role: act, secret: { env: B } }] }",
                "unique"
            ),
            ("access: { proxy: { header: Authorization, from: 127.0.0.1 } }", "a header that the proxy sets"),
            ("access: { proxy: { header: X-User, from: proxy.example } }", "must be addresses such as"),
            ("access: { proxy: { header: X-User } }", "must have `from`"),
            ("access: { tls: { certificate: a.pem } }", "`tls` must have `key`"),
            ("access: { tls: { certificate: a.pem, kye: b.pem } }", "Did you mean `key`?"),
            ("objectives: [{ name: a, up: 99.9 }]", "must be a share above 0 and below 100"),
            ("objectives: [{ name: a, up: 100% }]", "must be a share above 0 and below 100"),
            ("objectives: [{ name: a }]", "must have one of `start_within`, `stalled_below` and `up` (found none)"),
            ("objectives: [{ name: a, start_within: 2s }]", "must have `goal`"),
            ("objectives: [{ name: a, up: 99%, days: 31 }]", "from 1 to 30"),
        ]
    )
    func mistakes(_ text: String, _ words: String) {
        do throws(ConfigurationError) {
            _ = try read(text)
            Issue.record("no problem")
        } catch {
            #expect(error.description.contains(words), "\(error)")
            #expect(!error.description.contains("hidden"))
        }
    }

    @Test(
        "What would silently do nothing is a warning with its place, and the configuration can be used",
        arguments: [
            (
                "alerts: [{ name: a, when: 'up{chanel=\"news\"} == 0', to: ops }]",
                "label `chanel`. Did you mean `channel`?"
            ),
            (
                "alerts: [{ name: a, when: 'up{channel=\"newz\"} == 0', to: ops }]",
                "with the value `newz`. Did you mean `news`?"
            ),
            (
                "alerts: [{ name: a, when: 'up{stream=\"news-hdd\"} == 0', to: ops }]",
                "no stream has the name `news-hdd`. Did you mean `news-hd`?"
            ),
            (
                "alerts: [{ name: a, when: 'up{stream=\"film\",channel=\"news\"} == 0', to: ops }]",
                "no stream has all of its labels"
            ),
            (
                "alerts: [{ name: a, when: 'check_failed{rule=\"black\"} > 0', to: ops }]",
                "never fires: none of its streams has `black` among its `checks`"
            ),
            (
                "alerts: [{ name: a, when: 'check_failed{stream=\"film\"} > 0', to: ops }]",
                "never fires: none of its streams has anything"
            ),
            ("alerts: [{ name: a, when: loudness_lufs < -30, to: ops }]", "`loudness: true`"),
            (
                "maintenance: [{ name: w, match: { chanel: news }, start_time: \"02:00\", end_time: \"04:00\" }]",
                "The window `w` of `maintenance` concerns no stream"
            ),
            ("objectives: [{ name: o, up: 99%, match: { host: example.com } }]", "has the host `example.com`"),
            ("objectives: [{ name: o, up: 99%, by: chanel }]", "label `chanel` of `by`. Did you mean `channel`?"),
        ]
    )
    func warnings(_ text: String, _ words: String) throws {
        let streams = """
            streams:
              - { name: news-hd, url: "http://example.org/a", labels: { channel: news }, checks: { stale: 1.5x } }
              - { name: film, url: "http://example.org/b" }
            notify: { ops: { webhook: "http://example.org/x" } }

            """
        let files = MemoryFiles(files: ["m.yaml": streams + text])
        let warnings = try WatchConfiguration(contentsOf: "m.yaml", kinds: .forms, files: files).warnings
        #expect(warnings.count == 1 && warnings.first?.message.contains(words) == true, "\(warnings)")
        #expect(warnings.first?.place.line == 5)
    }

    @Test("What selects a stream, its name, its host or a check that it has, is no warning")
    func noWarnings() throws {
        let files = MemoryFiles(
            files: [
                "m.yaml": """
                streams:
                  - { name: news, url: "http://example.org/a", labels: { cdn: a }, checks: { stale: 1.5x, rules: true } }
                notify: { ops: { webhook: "http://example.org/x" } }
                alerts:
                  - { name: a, when: 'up{stream="news",host="example.org",cdn="a"} == 0', to: ops }
                  - { name: b, when: 'check_failed{rule="stale"} > 0', to: ops }
                  - { name: c, when: check_failed > 0, while: 'check_failed{rule="stale"} > 0', to: ops }
                maintenance:
                  - { name: w, match: { host: example.org, cdn: a }, start_time: "02:00", end_time: "04:00" }
                  - { name: all, start_time: "02:00", end_time: "04:00" }
                objectives: [{ name: o, up: 99%, by: cdn }, { name: p, up: 99%, by: stream }]
                """
            ]
        )
        let read = WatchConfiguration.read(contentsOf: "m.yaml", kinds: .forms, files: files).result
        #expect(try read.get().warnings.isEmpty)
        // What other monitors watch is not known.
        let from = MemoryFiles(
            files: [
                "m.yaml":
                    "alerts: [{ name: a, when: 'up{x=\"y\"} < 1', to: ops }]\nnotify: { ops: { webhook: \"http://a.example/\" } }\n"
            ]
        )
        let other = WatchConfiguration.read(contentsOf: "m.yaml", kinds: .forms, needsStreams: false, files: from)
        #expect(try other.result.get().warnings.isEmpty)
    }

    @Test(
        "A range contains the addresses with its prefix",
        arguments: [
            ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false), ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false), ("0.0.0.0/0", "203.0.113.9", true), ("::1", "::1", true),
            ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
            ("127.0.0.1", "::ffff:127.0.0.1", true), ("::/0", "127.0.0.1", false), ("::1", "nonsense", false),
        ]
    )
    func ranges(_ range: String, _ address: String, _ contains: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(address) == contains)
    }

    @Test(
        "A text that is no range is refused",
        arguments: [
            "", "localhost", "1.2.3", "1.2.3.256", "01.2.3.4", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", ":", ":::",
            "1::2::3",
            "1:2:3:4:5:6:7:8:9", "g::", "::1/129", "1.2.3.4::",
        ]
    )
    func noRange(_ text: String) { #expect(AddressRange(text) == nil) }
}
