package import Instrument
internal import InstrumentText

extension HTTPHeaders {
    /// How long a successful response with these fields may be used again without a request: RFC 9111, sections 4.2.1
    /// to 4.2.3, for a private cache such as a browser's. Zero where it may not.
    ///
    /// Without a stated time, a response is fresh for a tenth of the time since its last change (section 4.2.2), as
    /// in Chromium (net/http/http_response_headers.cc, `GetFreshnessLifetimes`).
    package func freshness(at now: WallTime) -> Duration {
        let directives = values(of: "Cache-Control").flatMap { $0.lowercased().split(separator: ",") }
            .map { $0.trimmingSpaces }
        if directives.contains("no-store") || directives.contains("no-cache") || self["Vary"] == "*" { return .zero }
        let date = time("Date", now) ?? now
        var lifetime: Int64 = 0
        if let age = directives.first(where: { $0.hasPrefix("max-age=") }) {
            lifetime = Int64(age.dropFirst(8)) ?? 0
        } else if self["Expires"] != nil {
            // A date that cannot be read is in the past (section 5.3).
            lifetime = seconds(from: date, to: time("Expires", now) ?? date)
        } else if let changed = time("Last-Modified", now) {
            lifetime = seconds(from: changed, to: date) / 10
        }
        let age = max(self["Age"].flatMap { Int64($0) } ?? 0, seconds(from: date, to: now))
        return .seconds(min(max(0, lifetime.saturatingSubtract(max(0, age))), 1 << 31))
    }

    private func time(_ name: String, _ now: WallTime) -> WallTime? {
        self[name].flatMap { HTTPDate.parse($0, now: now) }
    }

    private func seconds(from start: WallTime, to end: WallTime) -> Int64 {
        end.milliseconds.saturatingSubtract(start.milliseconds) / 1000
    }
}
