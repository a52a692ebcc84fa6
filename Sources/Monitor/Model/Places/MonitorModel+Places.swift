package import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
internal import InstrumentText
internal import InstrumentWatch

/// Samples of monitors elsewhere: each stream of each place is a stream here, which this monitor does not play.
extension MonitorModel {
    /// Notes that the source of samples cannot be read.
    package mutating func note(sourceFailure reason: String, at now: Timestamp) {
        places?.note(failure: reason, at: now)
    }

    /// Takes samples that a source returned. Nothing in them is trusted: what a monitor could not have written is
    /// refused and counted.
    package mutating func take(_ batch: SampleBatch, at now: Timestamp) {
        guard places != nil, !isStopping else { return }
        if places?.failure != nil {
            places?.failure = nil
            places?.readSince = now.instant
        }
        for (reason, count) in batch.refused { places?.refuse(reason, count: count) }
        for record in batch.records { take(record, at: now) }
        if batch.isCaughtUp { places?.isCaughtUp = true }
    }

    private mutating func take(_ record: SampleRecord, at now: Timestamp) {
        let attributes = record.sample.attributes
        let (stream, location) = (attributes[.monitorStream] ?? "", attributes[.monitorLocation])
        let place = location ?? ""
        guard !stream.isEmpty || location != nil else { return refuse(.unnamed) }
        let ahead = record.sample.time.wallTime.milliseconds.saturatingSubtract(now.wallTime.milliseconds)
        guard LabelRules.problem(withValue: stream, of: "name") == nil,
            LabelRules.problem(withValue: place, of: "location") == nil
        else { return refuse(.invalid) }
        let known = places?.places[place] == nil ? nil : place
        if ahead > PlaceBook.mostAhead { return refuse(.future, of: known) }
        if Duration.milliseconds(ahead) < .zero - PlaceBook.memory { return refuse(.late, of: known) }
        guard places?.arrive(place, at: now) == true else { return refuse(.excess) }
        endSilence(of: place, at: now)
        guard case .event(let event) = record.sample, !stream.isEmpty, let playback = event[.playbackId] else { return }
        guard event[.isAdsTracker] != true else { return }
        switch slot(of: StreamOrigin(stream: stream, place: place), event, at: now) {
        case .failure(let reason): refuse(reason.refusal, of: place)
        case .success(let slot):
            observe(event, record, slot, session: (event[.senderId] ?? "") + "/" + playback, at: now)
        }
    }

    private mutating func refuse(_ reason: SampleRefusal, of place: String? = nil) { places?.refuse(reason, of: place) }

    // MARK: Streams

    private struct Refused: Error { let refusal: SampleRefusal }

    /// The slot of a stream, which is added with the first event that names its address.
    private mutating func slot(of origin: StreamOrigin, _ event: Event, at now: Timestamp) -> Result<Int, Refused> {
        let name = origin.description
        if let slot = streams.slots[name] {
            if event.action == .mediaRequest { update(slot, labels: Self.labels(of: event, origin)) }
            return .success(slot)
        }
        guard let book = places else { return .failure(Refused(refusal: .excess)) }
        let address = event[.source].flatMap { try? HTTPURL($0) } ?? book.settings.streams[origin.stream]?.url
        guard let address else { return .failure(Refused(refusal: .invalid)) }
        guard book.streamCount < PlaceBook.mostStreams else { return .failure(Refused(refusal: .excess)) }
        return .success(add(origin, at: address, labels: Self.labels(of: event, origin)))
    }

    /// The labels of a stream, with its location. Those that no configuration may have are left out.
    private static func labels(of event: Event, _ origin: StreamOrigin) -> [String: String] {
        var labels: [String: String] = [:]
        for label in event.attributes.monitorLabels.prefix(LabelRules.mostLabels)
        where LabelRules.problem(withName: label.name) == nil
            && LabelRules.problem(withValue: label.value, of: label.name) == nil
        {
            labels[label.name] = label.value
        }
        labels["location"] = StreamOrigin.name(of: origin.place)
        return labels
    }

    /// Adds a stream that another monitor plays; returns its slot.
    @discardableResult
    mutating func add(_ origin: StreamOrigin, at address: HTTPURL, labels: [String: String]) -> Int {
        let stream = stream(of: origin, at: address, labels: labels)
        let slot = streams.add(stream, start: .never) { [configuration, windows] in
            $0.configure(configuration.alerts, windows: windows)
        }
        places?.streamCount += 1
        places?.places[origin.place]?.slots.insert(slot)
        book.watchers.insert(origin)
        if streams[slot]?.alerts.isEmpty == false { book.hosts[origin.place, default: []].insert(address.host) }
        return slot
    }

    /// The stream with the settings that the configuration has for its name.
    private func stream(of origin: StreamOrigin, at address: HTTPURL, labels: [String: String]) -> WatchedStream {
        let nowhere = ConfigurationPlace(file: "", line: 0, column: 0)
        var stream =
            configuration.places?.streams[origin.stream]
            ?? WatchedStream(name: origin.description, url: address, place: nowhere)
        // Unless the configuration says otherwise, nothing is known of pauses between sessions.
        if configuration.places?.streams[origin.stream] == nil { stream.schedule = .continuous }
        (stream.name, stream.url, stream.labels, stream.origin) = (origin.description, address, labels, origin)
        return stream
    }

    private mutating func update(_ slot: Int, labels: [String: String]) {
        guard var stream = streams[slot]?.stream, stream.labels != labels else { return }
        stream.labels = labels
        configure(slot, as: stream)
    }

    /// Applies a new configuration to the streams of other monitors.
    mutating func reconfigurePlaces(at now: Timestamp) {
        guard let settings = configuration.places else { return }
        var book = PlaceBook(settings, at: now.instant)
        if let old = places {
            book = PlaceBook(settings, continuing: old)
        }
        places = book
        for slot in streams.order {
            guard let known = streams[slot]?.stream, let origin = known.origin else { continue }
            configure(slot, as: stream(of: origin, at: known.url, labels: known.labels))
        }
    }

    // MARK: Sessions

    private mutating func observe(
        _ event: Event,
        _ record: SampleRecord,
        _ slot: Int,
        session: String,
        at now: Timestamp
    ) {
        guard let state = streams[slot], let origin = state.stream.origin else { return }
        var event = event
        if let remote = state.run?.remote, remote.session == session {
            guard let time = takeTime(of: record, slot, at: now) else { return refuse(.late, of: origin.place) }
            event.time = time
        } else {
            if let remote = state.run?.remote {
                guard record.sample.time.wallTime >= remote.begin else { return refuse(.late, of: origin.place) }
                let isQuiet = remote.arrival.duration(to: now.instant) >= RemoteRun.reach
                // Another element of the web page that the session plays: it says nothing of the session.
                if !isQuiet, remote.isBeside(session),
                    event.action != .mediaRequest || state.run?.hasShownPicture == true
                {
                    return
                }
                guard event.action == .mediaRequest || isQuiet else { return refuse(.rival, of: origin.place) }
                _ = finish(slot, .stopped, isLost: true, at: now)
            } else if state.endedSession == session {
                // What comes behind the end of a session says nothing new.
                return
            }
            event.time = begin(slot, session, record, at: now)
        }
        let clock = historyClock
        streams.change(slot) { $0.take(remote: event, clock, at: now) }
        plan(slot)
        if let ending = SessionEnding(event) {
            streams.change(slot) { $0.endedSession = session }
            _ = finish(slot, ending, at: now)
        }
        settle(slot, at: now)
    }

    private mutating func takeTime(of record: SampleRecord, _ slot: Int, at now: Timestamp) -> Timestamp? {
        var time: Timestamp?
        streams.change(slot) { $0.withRun { time = $0.remote?.take(record, at: now) } }
        return time
    }

    private mutating func begin(_ slot: Int, _ session: String, _ record: SampleRecord, at now: Timestamp) -> Timestamp
    {
        let remote = RemoteRun(session, record, at: now)
        let begin = remote.start(at: now)
        let id = SessionID(slot: slot, number: sessions.begin(), stream: streams[slot]?.stream.name ?? "")
        var run = StreamRun(id: id, begin: begin)
        run.remote = remote
        streams.change(slot) { $0.begin(run, at: now) }
        return begin
    }

    // MARK: Places that fall silent

    /// Makes an incident of each place that has fallen silent, and of a source that cannot be read: then, nothing is
    /// known of the places.
    mutating func judgePlaces(at now: Timestamp) {
        guard let known = places else { return }
        let receivers = configuration.receivers.keys.sorted()
        book.take(places?.judgeSource(receivers, at: now) ?? [], at: now)
        guard known.failure == nil, known.isCaughtUp else { return }
        for (name, place) in known.places.sorted(by: { $0.key < $1.key }) {
            let quiet = known.quiet(place, at: now.instant)
            if !place.isSilent, quiet >= known.settings.silence { silence(name, place, receivers, at: now) }
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

    private mutating func silence(
        _ name: String,
        _ place: PlaceBook.Place,
        _ receivers: [String],
        at now: Timestamp
    ) {
        let reason = "no samples from \(StreamOrigin.name(of: name)) since \(place.latest.wallTime.rfc3339)"
        for slot in place.slots.sorted() {
            if streams[slot]?.run != nil { _ = finish(slot, .stopped, isLost: true, at: now) }
            streams.change(slot) { $0.becomeUnknown(reason, at: now) }
            settle(slot, at: now)
        }
        book.watchers.silent.insert(name)
        book.take(places?.silence(name, receivers) ?? [], at: now)
    }

    /// Ends the silence of a place.
    private mutating func endSilence(of name: String, at now: Timestamp) {
        guard places?.places[name]?.isSilent == true else { return }
        book.watchers.silent.remove(name)
        book.take(places?.endSilence(of: name) ?? [], at: now)
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

extension MonotonicInstant {
    /// An instant that never comes.
    static var never: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }
}

extension SessionEnding {
    /// The end of a session that an event is; nil for any other event.
    fileprivate init?(_ event: Event) {
        switch event.action {
        case .end: self = .ended
        case .stop, .next: self = .stopped
        case .error where event[.isFatal] == true:
            let code = event[.errorCode] ?? "error"
            self = .failed(code: code, message: event[.errorDescription] ?? code)
        default: return nil
        }
    }
}
