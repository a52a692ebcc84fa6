internal import Instrument
internal import InstrumentJSON

/// The statements for each event (the profile's table of verbs).
extension VideoProfile {
    mutating func reaction(to event: Event) -> [Statement] {
        switch event.action {
        case .start: begin(at: event)
        case .pauseBegin: pause(at: event)
        case .pauseFinish: resume(at: event)
        case .seekBegin, .forwardBegin, .rewindBegin: beginSeek()
        case .seekFinish, .forwardFinish, .rewindFinish: finishSeek(at: event)
        case .qualityChangeUp, .qualityChangeDown: changeQuality(at: event)
        case .volumeChange: statements(forChanging: Self.sound(of: event), at: event)
        case .ping: checkpoint(at: event)
        case .end: end(at: event)
        case .stop, .next: terminate(at: event)
        default: []
        }
    }

    /// Sends `initialized` as soon as the duration is known, and `played` if the duration became known during playback.
    mutating func announcement(at event: Event) -> [Statement] {
        guard session == nil, let length = event[milliseconds: .duration], length > 0, isOpening(event.action) else {
            return []
        }
        let session = Session(id: makeID(), began: event.time.instant, length: length)
        self.session = session
        place = min(place, length)
        // Segments from the history, or from before the length was known, may exceed the length.
        past.segments = past.segments.clipped(toMilliseconds: length)
        var statements = [initialized(session, at: event)]
        if case .playing(let from) = phase {
            phase = .playing(from: min(from, length))
            statements.append(played(in: session, from: min(from, length), at: event))
        }
        return statements
    }

    /// Events after the end of a playback do not open a new session.
    private func isOpening(_ action: Action) -> Bool {
        if phase != .idle { return true }
        return [.streamLoad, .playerReady, .start].contains(action)
    }

    private mutating func begin(at event: Event) -> [Statement] {
        if case .playing = phase { return [] }
        phase = .playing(from: place)
        return session.map { [played(in: $0, from: place, at: event)] } ?? []
    }

    private mutating func pause(at event: Event) -> [Statement] {
        let completion = close(at: event)
        switch phase {
        case .playing: phase = .paused
        case .seeking(let from, true): phase = .seeking(from: from, isPlaying: false)
        case .idle, .paused, .seeking: return completion
        }
        return completion + (session.map { [progress(VideoVocabulary.paused, in: $0, at: event)] } ?? [])
    }

    private mutating func resume(at event: Event) -> [Statement] {
        switch phase {
        case .paused: return begin(at: event)
        case .seeking(let from, false):
            phase = .seeking(from: from, isPlaying: true)
            return session.map { [played(in: $0, from: place, at: event)] } ?? []
        case .idle, .playing, .seeking: return []
        }
    }

    /// The open segment ends where the seek begins.
    private mutating func beginSeek() -> [Statement] {
        switch phase {
        case .playing(let from):
            past.segments.append(from: from, to: place)
            phase = .seeking(from: place, isPlaying: true)
        case .paused: phase = .seeking(from: place, isPlaying: false)
        case .idle, .seeking: break
        }
        return []
    }

    /// Sends one `seeked`; playback continues at the target of the seek.
    private mutating func finishSeek(at event: Event) -> [Statement] {
        guard case .seeking(let from, let isPlaying) = phase else { return [] }
        phase = isPlaying ? .playing(from: place) : .paused
        guard let session else { return [] }
        let result: [String: JSONValue] = ["time-from": Self.seconds(from), "time-to": Self.seconds(place)]
        return completion(at: event) + [statement(VideoVocabulary.seeked, in: session, at: event, result: result)]
    }

    private mutating func changeQuality(at event: Event) -> [Statement] {
        guard let quality = Self.quality(of: event) else { return [] }
        return statements(forChanging: ["quality": quality], at: event)
    }

    /// A ping may reach the completion threshold.
    private mutating func checkpoint(at event: Event) -> [Statement] {
        guard case .playing = phase, isComplete(history) else { return [] }
        let completion = close(at: event)
        phase = .playing(from: place)
        return completion
    }

    /// The position of the end is the video's length, in spite of the player's rounding.
    private mutating func end(at event: Event) -> [Statement] {
        if case .playing = phase, let session { place = session.length }
        return terminate(at: event)
    }

    /// Sends `paused` after playback, and `terminated`. The next load or start begins a new session.
    mutating func terminate(at event: Event) -> [Statement] {
        let last = pause(at: event)
        defer { (session, phase, place) = (nil, .idle, 0) }
        return last + (session.map { [progress(VideoVocabulary.terminated, in: $0, at: event)] } ?? [])
    }

    /// Closes the open segment; sends `completed` at the threshold.
    private mutating func close(at event: Event) -> [Statement] {
        guard case .playing(let from) = phase else { return [] }
        past.segments.append(from: from, to: place)
        return completion(at: event)
    }

    private mutating func completion(at event: Event) -> [Statement] {
        guard let session, isComplete(past) else { return [] }
        past.isCompleted = true
        var statement = progress(VideoVocabulary.completed, in: session, at: event)
        statement.result?.completion = true
        statement.result?.duration = ISODuration(session.began.duration(to: event.time.instant))
        return [statement]
    }

    /// Whether the threshold is reached and `completed` was not sent yet.
    private func isComplete(_ history: History) -> Bool {
        guard let session, !history.isCompleted else { return false }
        return history.segments.clipped(toMilliseconds: session.length).progress(ofMilliseconds: session.length)
            >= viewing.completionThreshold
    }
}
