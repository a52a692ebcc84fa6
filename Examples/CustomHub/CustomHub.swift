import Instrument

extension Action {
    static let chapterBegin = Action("ChapterBegin")
}

extension AttributeKey where Value == Int {
    static var chapter: Self { "chapter" }
}

extension Rejection {
    static let repeatedChapter = Rejection("repeatedChapter")
}

/// A hub: a value that judges events and completes them. This one wraps the core hub, numbers chapters, and rejects a
/// chapter that is reported twice in a row.
struct ChapterHub: Hub {
    private var core = CoreHub()
    private var chapters = TrackerTable<Chapter>()

    private struct Chapter {
        var title: String?
        var number = 0
    }

    mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        let chapter = chapters[event.tracker, default: Chapter()]
        if event.action == .chapterBegin, event[.title] == chapter.title { return .rejected(.repeatedChapter) }
        let verdict = core.process(&event, in: &context)
        // A rejected event must leave the hub as it was.
        guard verdict == .accepted else { return verdict }
        if event.action == .chapterBegin {
            chapters[event.tracker, default: Chapter()] = Chapter(title: event[.title], number: chapter.number + 1)
        }
        event[.chapter] = chapters[event.tracker, default: Chapter()].number
        return .accepted
    }

    mutating func forget(_ tracker: TrackerID) {
        core.forget(tracker)
        chapters.remove(tracker)
    }
}

struct Printer: Backend {
    let name: BackendName = "printer"

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        for case .event(let event) in batch.records.map(\.sample) {
            print("\(event.action) chapter \(event[.chapter] ?? 0)")
        }
        return .acknowledged
    }
}

final class ManualTracker: Tracker {
    let target: String? = "manual"
    func begin(in context: TrackerContext) { context.emit(.trackerInit) }
}

@main
struct Example {
    static func main() async {
        let instrument = Instrument(
            hub: ChapterHub(),
            backends: [Printer()],
            onDiagnostic: { print("instrument: \($0)") }
        )
        let tracker = instrument.add(ManualTracker())
        for action in [Action.mediaRequest, .streamLoad, .start] { instrument.emit(action, from: tracker) }
        for title in ["Opening", "Opening", "Chase"] {
            instrument.emit(.chapterBegin, from: tracker, attributes: ["title": .string(title)])
        }
        instrument.emit(.end, from: tracker)
        await instrument.shutdown(timeout: .seconds(5))
    }
}
