package import Instrument
internal import InstrumentText
internal import InstrumentWatch

/// Places that fall silent, and a source that cannot be read.
extension MonitorModel {
    /// The alerts of incidents about the reading of samples.
    private enum Alert {
        static let silence = "silence"
        static let source = "source"
    }

    /// A source that fails for this long is an incident.
    private static let sourcePatience = Duration.seconds(60)
    private static let sourceSubject = "source of samples"

    /// Notes that the source of samples cannot be read.
    package mutating func note(sourceFailure reason: String, at now: Timestamp) {
        let since = places?.failure?.since ?? now
        places?.failure = (reason, since)
    }

    /// Makes an incident of each place that has fallen silent, and of a source that cannot be read: then, nothing is
    /// known of the places.
    mutating func judgePlaces(at now: Timestamp) {
        guard let known = places else { return }
        judgeSource(at: now)
        guard known.failure == nil, known.isCaughtUp else { return }
        for (name, place) in known.places.sorted(by: { $0.key < $1.key }) {
            let quiet = known.quiet(place, at: now.instant)
            if !place.isSilent, quiet >= known.settings.silence { silence(name, place, at: now) }
            for slot in place.slots.sorted() { judge(slot, of: name, quiet, known.settings, at: now) }
            if quiet >= PlaceBook.memory, places?.places[name]?.slots.isEmpty ?? true {
                endSilence(of: name, at: now)
                places?.places[name] = nil
            }
        }
    }

    private mutating func judge(
        _ slot: Int,
        of place: String,
        _ quiet: Duration,
        _ settings: PlaceSettings,
        at now: Timestamp
    ) {
        guard let state = streams[slot], let latest = state.latestSample else { return }
        let age = min(latest.duration(to: now.instant), places?.readSince.duration(to: now.instant) ?? .zero)
        if state.run != nil, age >= settings.silence {
            _ = finish(slot, .stopped, isLost: true, at: now)
            streams.change(slot) {
                $0.becomeUnknown("no samples of the stream since \(now.before(age).wallTime.rfc3339)", at: now)
            }
            settle(slot, at: now)
        }
        if latest.duration(to: now.instant) >= PlaceBook.memory { forget(stream: slot, of: place, at: now) }
    }

    private mutating func silence(_ name: String, _ place: PlaceBook.Place, at now: Timestamp) {
        places?.places[name]?.isSilent = true
        let since = place.latest.wallTime
        for slot in place.slots.sorted() {
            if streams[slot]?.run != nil { _ = finish(slot, .stopped, isLost: true, at: now) }
            streams.change(slot) {
                $0.becomeUnknown("no samples from \(StreamOrigin.name(of: name)) since \(since.rfc3339)", at: now)
            }
            settle(slot, at: now)
        }
        book.watchers.silent.insert(name)
        let shown = StreamOrigin.name(of: name)
        var cause = StreamCause(.check, "No samples from \(shown) since \(since.timeOfDay.prefix(8)) UTC", since: since)
        cause.text =
            "The monitor in \(shown) has sent nothing since \(since.rfc3339). Its streams are in no known state: look at that monitor, "
            + "its machine and its network."
        let refused = place.refused.filter { $0.key == .future }.values.reduce(0, +)
        if refused > 0 { cause.text += " \(refused) samples were refused because their time is ahead: set its clock." }
        let signal = IncidentSignal(
            alert: Alert.silence,
            facts: .init(
                condition: "no samples for \(Int(places?.settings.silence.seconds ?? 0)) s",
                receivers: configuration.receivers.keys.sorted(),
                severity: .warning
            ),
            stream: Self.subject(name),
            labels: ["location": shown],
            cause: cause,
            since: place.latest
        )
        book.fires(signal, at: now)
    }

    /// Ends the silence of a place.
    mutating func endSilence(of name: String, at now: Timestamp) {
        guard places?.places[name]?.isSilent == true else { return }
        places?.places[name]?.isSilent = false
        book.watchers.silent.remove(name)
        book.resolves(Alert.silence, of: Self.subject(name), at: now)
    }

    private static func subject(_ place: String) -> String { "place \(StreamOrigin.name(of: place))" }

    private mutating func judgeSource(at now: Timestamp) {
        guard let known = places else { return }
        guard let failure = known.failure else {
            if known.isFailureReported { book.resolves(Alert.source, of: Self.sourceSubject, at: now) }
            places?.isFailureReported = false
            return
        }
        guard !known.isFailureReported, failure.since.instant.duration(to: now.instant) >= Self.sourcePatience else {
            return
        }
        places?.isFailureReported = true
        var cause = StreamCause(.check, "The samples of all places cannot be read", since: failure.since.wallTime)
        cause.text = failure.reason
        let signal = IncidentSignal(
            alert: Alert.source,
            facts: .init(
                condition: "the source cannot be read",
                receivers: configuration.receivers.keys.sorted(),
                severity: .critical
            ),
            stream: Self.sourceSubject,
            labels: [:],
            cause: cause,
            since: failure.since
        )
        book.fires(signal, at: now)
    }

    /// Forgets a stream of another monitor.
    private mutating func forget(stream slot: Int, of place: String, at now: Timestamp) {
        guard let state = streams[slot], let origin = state.stream.origin else { return }
        let name = origin.description
        streams.remove(slot, isOver: true, at: now)
        places?.streamCount -= 1
        places?.places[place]?.slots.remove(slot)
        book.watchers.remove(origin)
        objectives.keep(configuration.objectives, slots: Set(streams.slots.values))
        for key in engine.keep(where: { $0.stream != name }) { book.resolves(key.alert, of: key.stream, at: now) }
    }
}

extension PlaceBook {
    /// Continues with new settings.
    init(_ settings: PlaceSettings, continuing old: PlaceBook) {
        self.init(settings, at: old.readSince)
        (places, streamCount, samples, refused) = (old.places, old.streamCount, old.samples, old.refused)
        (isCaughtUp, failure, isFailureReported) = (old.isCaughtUp, old.failure, old.isFailureReported)
    }
}
