import InstrumentTestKit
import Testing

@testable import Instrument

@Suite("Diagnostics")
struct DiagnosticsTests {
    let clock = VirtualClock()
    let said = Lock<[Diagnostic]>([])

    private func instrument(_ backends: [any Backend] = []) -> Instrument {
        let said = said
        return Instrument(
            hub: AdsHub(),
            metricalc: nil,
            backends: backends,
            clock: clock,
            onDiagnostic: { diagnostic in said.withLock { $0.append(diagnostic) } }
        )
    }

    @Test("The second backend of a name is reported, when an instrument is created and when one is added")
    func duplicates() async {
        let backends = [CollectingBackend("a"), CollectingBackend("b"), CollectingBackend("a"), CollectingBackend("a")]
        let instrument = instrument(backends)
        #expect(said.withLock { $0 } == [.duplicateBackend("a"), .duplicateBackend("a")])
        #expect(instrument.add(CollectingBackend("b")) == false)
        #expect(instrument.queue.add(CollectingBackend("b")) == false)
        #expect(said.withLock { $0 }.count == 4)
        #expect(instrument.add(CollectingBackend("c")))
        #expect(said.withLock { $0 }.count == 4)
        instrument.emit(.ping, from: instrument.add(PlainTracker()))
        await instrument.queue.flush(timeout: .seconds(5))
        #expect(backends.map(\.events.count) == [1, 1, 0, 0])
        // A name of a removed backend is not a duplicate.
        #expect(await instrument.remove("b", timeout: .seconds(5)))
        #expect(instrument.add(CollectingBackend("b")))
    }

    @Test("A backend that is not added is not notified that the instrument is ready or that its service ended")
    func unusedBackend() async {
        let (first, second) = (CollectingBackend("a"), CollectingBackend("a"))
        let instrument = instrument([first, second])
        instrument.ready()
        await instrument.shutdown(timeout: .seconds(5))
        #expect((first.isReady, first.hasEnded, second.isReady, second.hasEnded) == (true, true, false, false))
    }

    @Test("A tracker of ads for an unknown content tracker is reported, and shares its breaks with no tracker")
    func unknownContent() async {
        let backend = CollectingBackend()
        let instrument = instrument([backend])
        let gone = instrument.add(PlainTracker())
        instrument.remove(gone)
        let unknown = [TrackerID(5), TrackerID(-1), TrackerID(.max), gone]
        let ads = unknown.map { instrument.add(PlainTracker(), adsOf: $0) }
        let expected = zip(unknown, ads).map { Diagnostic.unknownContent($0, of: $1) }
        #expect(said.withLock { $0 } == expected)
        // A later tracker has the number 5, and must not be in a break.
        let later = instrument.add(PlainTracker())
        #expect(later == TrackerID(5))
        for id in ads { instrument.emit(.adBreakBegin, from: id) }
        instrument.emit(.ping, from: later)
        await instrument.queue.flush(timeout: .seconds(5))
        #expect(backend.events.map { $0[.isAdsTracker] } == [true, true, true, true, nil])
        #expect(backend.events.last?[.inAdBreakBlock] == false)
    }

    @Test("A known content tracker gives no diagnostic; ads of an ads tracker interrupt that tracker's content")
    func knownContent() async {
        let backend = CollectingBackend()
        let instrument = instrument([backend])
        let content = instrument.add(PlainTracker())
        let ads = instrument.add(PlainTracker(), adsOf: content)
        let inner = instrument.add(PlainTracker(), adsOf: ads)
        #expect(said.withLock { $0 }.isEmpty)
        instrument.emit(.adBreakBegin, from: inner)
        instrument.emit(.ping, from: content)
        await instrument.queue.flush(timeout: .seconds(5))
        #expect(backend.events.last?[.inAdBreakBlock] == true)
    }

    private static let all: [Diagnostic] = [
        .unknownTracker(TrackerID(1), .ping), .unknownContent(TrackerID(1), of: TrackerID(2)), .duplicateBackend("a"),
        .rejected(.start, TrackerID(1), .alreadyDone), .notFinite(["fps"], .ping, TrackerID(1)), .undeclared("own"),
        .metricNotFinite(.startTime, TrackerID(1)), .notQueued(QueueError(.full, "full")), .store("text"),
        .dropped("a", count: 1, .age), .deadLetter("a", SampleID(log: 0, sequence: 0), reason: "no"),
        .retrying("a", after: .seconds(1), reason: "down"), .silenced("a", reason: "gone"),
        .altered("a", .shortenedTexts, count: 3),
    ]

    @Test("A diagnostic has the parts that its kind concerns")
    func parts() {
        let dropped = Diagnostic.dropped("a", count: 3, .age)
        #expect((dropped.kind, dropped.severity, dropped.backend) == (.dropped, .error, "a"))
        #expect((dropped.count, dropped.dropReason, dropped.tracker) == (3, .age, nil))
        let rejected = Diagnostic.rejected(.start, TrackerID(4), .alreadyDone)
        #expect((rejected.kind, rejected.severity, rejected.action) == (.rejected, .debug, .start))
        #expect((rejected.tracker, rejected.rejection, rejected.backend) == (TrackerID(4), .alreadyDone, nil))
        let retrying = Diagnostic.retrying("b", after: .seconds(1), reason: "down")
        #expect((retrying.severity, retrying.delay, retrying.reason) == (.notice, .seconds(1), "down"))
        #expect(Diagnostic.notFinite(["fps", "rate"], .ping, TrackerID(1)).attributes == ["fps", "rate"])
        #expect(Diagnostic.undeclared("own").attributes == ["own"])
        #expect(Diagnostic.notQueued(QueueError(.full, "full")).queueError?.code == .full)
        let content = Diagnostic.unknownContent(TrackerID(1), of: TrackerID(2))
        #expect((content.content, content.tracker) == (TrackerID(1), TrackerID(2)))
    }

    @Test("An app reports a kind that the instrument does not define, with its parts")
    func openKind() {
        let kind = Diagnostic.Kind("tokenExpired")
        let diagnostic = Diagnostic(kind, severity: .error, "sign in again", backend: "mine", action: .start)
        #expect((diagnostic.kind, diagnostic.severity, diagnostic.description) == (kind, .error, "sign in again"))
        #expect((diagnostic.backend, diagnostic.action, diagnostic.tracker) == ("mine", .start, nil))
        #expect(diagnostic != Diagnostic(kind, "sign in again", backend: "mine", action: .start))
        let lines = Lock<[String]>([])
        let handler = Diagnostic.firstOfEachKind { line in lines.withLock { $0.append(line) } }
        for _ in 0..<2 { handler(diagnostic) }
        #expect(lines.withLock { $0 } == ["instrument: sign in again [tokenExpired; shown once, see onDiagnostic]\n"])
    }

    @Test("The default handler writes the first diagnostic of each kind once for each instrument")
    func firstOfEachKind() {
        let lines = Lock<[String]>([])
        for _ in 0..<2 {
            let handler = Diagnostic.firstOfEachKind { line in lines.withLock { $0.append(line) } }
            for _ in 0..<3 { for diagnostic in Self.all { handler(diagnostic) } }
        }
        let written = lines.withLock { $0 }
        #expect(written.count == 2 * Self.all.count)
        #expect(Set(Self.all.map(\.kind)).count == Self.all.count)
        for (line, diagnostic) in zip(written, Self.all) {
            #expect(line.contains(diagnostic.description) && line.contains(diagnostic.kind.description))
        }
    }

    @Test(
        "A diagnostic is one line of bounded length without control characters, for any names",
        arguments: ["a\nb", "\u{1B}[2J", "\r", "\u{2028}", "\u{202E}", "\u{0}", String(repeating: "x", count: 100_000)]
    )
    func line(text: String) {
        let lines = Lock<[String]>([])
        let handler = Diagnostic.firstOfEachKind { line in lines.withLock { $0.append(line) } }
        handler(.unknownTracker(TrackerID(0), Action(text)))
        handler(.store(text))
        handler(Diagnostic(Diagnostic.Kind(text), "a kind of the app"))
        for line in lines.withLock({ $0 }) {
            #expect(line.last == "\n")
            #expect(line.dropLast().unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x7F })
            #expect(!line.dropLast().unicodeScalars.contains { [0x2028, 0x2029, 0x202E].contains($0.value) })
            #expect(line.utf8.count < 4096)
        }
    }

    @Test("Two threads that report the same kind at the same time write it once")
    func threads() async {
        let lines = Lock<[String]>([])
        let handler = Diagnostic.firstOfEachKind { line in lines.withLock { $0.append(line) } }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for diagnostic in Self.all { handler(diagnostic) } } }
        }
        #expect(lines.withLock { $0 }.count == Self.all.count)
    }

    @Test("A getter of an undeclared field is reported when it is registered")
    func undeclaredGetter() {
        let instrument = instrument()
        instrument.add(PlainTracker { $0.register(AttributeKey<Int>("own")) { 1 } })
        #expect(said.withLock { $0 } == [.undeclared("own")])
    }

    @Test("A tracker is notified once of its begin, of the instrument's readiness and of its end")
    func once() async {
        let journal = Journal()
        let instrument = instrument()
        let ids = (0..<20).map { instrument.add(NotingTracker(name: "\($0)", journal: journal)) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    instrument.ready()
                    for id in ids { instrument.remove(id) }
                    await instrument.shutdown(timeout: .zero)
                }
            }
        }
        for number in 0..<20 {
            #expect(journal.all.count { $0 == "\(number) begin" } == 1)
            #expect(journal.all.count { $0 == "\(number) ready" } <= 1)
            #expect(journal.all.count { $0 == "\(number) end" } == 1)
        }
    }
}
