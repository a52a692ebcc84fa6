package import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// What a monitor continues from an earlier process.
extension MonitorModel {
    mutating func restore(_ saved: SavedMonitor, at now: Timestamp) {
        let alerts = Dictionary(configuration.alerts.map { ($0.name, $0) }) { first, _ in first }
        for entry in saved.alerts {
            guard let alert = alerts[entry.alert], let slot = streams.slots[entry.stream],
                let stream = streams[slot]?.stream
            else {
                continue
            }
            // Nobody has looked since the state was saved: that time does not count towards the delay of an alert.
            let held = max(0, saved.saved.milliseconds.saturatingSubtract(entry.since.milliseconds))
            let since = Timestamp(instant: now.instant.advanced(by: .milliseconds(-held)), wallTime: entry.since)
            engine.restore(entry, alert, stream, since: since)
        }
        for down in saved.down {
            if let slot = streams.slots[down.stream] { streams.change(slot) { $0.restore(down, at: now) } }
        }
        for finding in saved.findings {
            guard let slot = streams.slots[finding.stream] else { continue }
            // The configuration may no longer look for it.
            streams.change(slot) {
                if $0.stream.checks.looks(for: finding.rule) { $0.checks.restore(finding, at: now) }
            }
        }
        if let budgets = saved.objectives {
            objectives.restore(budgets, configuration.objectives)
            // A wall clock that is behind that of the earlier process moves the budgets back.
            let ahead = (objectives.latestMinute ?? .min).saturatingSubtract(
                Int(clamping: now.wallTime.milliseconds / 60_000)
            )
            if ahead > HistoryClock.leastAhead {
                objectives.move(byMinutes: -ahead)
                historyClock.noteRestored(movedBack: ahead)
            }
        }
        restoreIncidents(saved, at: now)
        for entry in saved.firings where alerts[entry.alert] != nil && streams.slots[entry.stream] != nil {
            engine.restore(entry, at: now)
        }
        for (name, count) in saved.failures {
            if let slot = streams.slots[name] { streams.change(slot) { $0.failures = count } }
        }
    }

    /// Restores the incidents; those of alerts that fire and have none are made again.
    private mutating func restoreIncidents(_ saved: SavedMonitor, at now: Timestamp) {
        let watched = Dictionary(streams.all.map { ($0.stream.name, $0.stream) }) { first, _ in first }
        if let incidents = saved.incidents { hasDamagedIncidents = !book.restore(incidents, streams: watched, at: now) }
        let isOld = saved.incidents == nil || hasDamagedIncidents
        let told = Set(
            saved.alerts.lazy.filter(\.isNotified).map { AlertEngine.Key(alert: $0.alert, stream: $0.stream) }
        )
        let instances = engine.instances.sorted { ($0.key.stream, $0.key.alert) < ($1.key.stream, $1.key.alert) }
        for (key, instance) in instances
        where instance.state == .firing && !book.has(key.alert, of: key.stream) {
            // Somebody closed the incident of this alert: it stays closed until the alert fires again.
            guard isOld else { continue }
            let signal = IncidentSignal(
                instance.alert,
                instance.stream,
                cause: stream(named: key.stream)?.cause,
                reason: instance.reason,
                since: instance.since,
                value: instance.value
            )
            book.fires(signal, at: now)
            if told.contains(key) { book.assumeTold(instance.alert, key.stream, at: now) }
        }
        receivers.restore(book.open, Set(configuration.receivers.keys), at: now)
        for key in book.activeAlerts
        where engine.instances[key]?.state != .firing && !receivers.isReported(key.alert, key.stream)
            && !objectives.isFiring(key.alert, of: key.stream, configuration.objectives)
        {
            // Alerts about the monitor itself have no stream, either.
            let isWatched = streams.slots[key.stream] != nil || !configuration.alerts.contains { $0.name == key.alert }
            book.resolves(key.alert, of: key.stream, isWatched: isWatched, at: now)
        }
    }

    // MARK: Streams of other monitors

    /// Adds the streams that an earlier process knew, so that their alerts, incidents and history continue. A place
    /// that sends nothing any more is silent after the usual time.
    mutating func restorePlaces(_ saved: SavedMonitor, at now: Timestamp) {
        guard places != nil, case .array(let entries)? = saved.places else { return }
        for entry in entries.prefix(PlaceBook.mostStreams) {
            guard let name = entry["stream"]?.string, let place = entry["place"]?.string,
                let address = entry["address"]?.string.flatMap({ try? HTTPURL($0) }),
                LabelRules.problem(withValue: name, of: "name") == nil,
                LabelRules.problem(withValue: place, of: "location") == nil
            else { continue }
            let origin = StreamOrigin(stream: name, place: place)
            guard streams.slots[origin.description] == nil, places?.restore(place, at: now) == true else { continue }
            var labels: [String: String] = [:]
            if case .object(let members)? = entry["labels"] { labels = members.compactMapValues(\.string) }
            let slot = add(origin, at: address, labels: labels)
            streams.change(slot) { $0.latestSample = now.instant }
        }
    }

    // MARK: History

    /// Restores the history that an earlier process saved, also one of the first version; what is older than it is
    /// kept for, from the future, or of another form, is left out.
    /// - Returns: nil if the bytes are no history.
    package mutating func restoreHistory(_ bytes: [UInt8], at now: WallTime) -> HistoryReading? {
        if bytes.first == UInt8(ascii: "{") { return restoreFirstVersion(bytes, at: now) ? HistoryReading() : nil }
        let empty = self
        guard let reading = restoreHistory(bytes, at: now, movedBack: 0) else { return nil }
        let ahead = Int(reading.latest) - Int(clamping: now.milliseconds / 60_000)
        guard ahead > HistoryClock.leastAhead else { return HistoryReading(damages: reading.damages) }
        // The wall clock is behind that of the earlier process: what is known keeps its order.
        self = empty
        let moved = restoreHistory(bytes, at: now, movedBack: Int32(clamping: ahead))
        historyClock.noteRestored(movedBack: ahead)
        return moved.map { HistoryReading(damages: $0.damages) }
    }

    private mutating func restoreHistory(
        _ bytes: [UInt8],
        at now: WallTime,
        movedBack distance: Int32
    ) -> (damages: Int, latest: Int32)? {
        let latest = Int32(clamping: now.milliseconds / 60_000)
        let isRecent = { (point: HistoryPoint, reach: Int32) in
            point.minute <= latest && point.minute > latest - reach
        }
        let quarters = 15 * Int(distance).units(of: 15)
        var newest = Int32.min
        let damages = HistoryFile.read(bytes) { name, entries in
            var entries = entries
            newest = max(newest, entries.minutes.last?.minute ?? newest)
            if distance != 0 {
                for index in entries.minutes.indices { entries.minutes[index].move(byMinutes: -Int(distance)) }
                for index in entries.quarters.indices { entries.quarters[index].move(byMinutes: -quarters) }
            }
            guard let slot = streams.slots[name] else { return }
            streams.change(slot) { state in
                state.history.restore(
                    minutes: entries.minutes.filter { isRecent($0, 1_440) },
                    quarters: entries.quarters.filter { isRecent($0, 20_160) }
                )
                for entry in entries.log { state.log.append(entry) }
            }
        }
        guard let damages else { return nil }
        streams.changeAll { $0.history.resume(at: now) }
        return (damages, newest)
    }

    /// A history in JSON with a day in quarters of an hour.
    private mutating func restoreFirstVersion(_ bytes: [UInt8], at now: WallTime) -> Bool {
        guard let json = try? JSONValue(parsing: bytes), json["version"] == 1,
            case .object(let saved)? = json["streams"]
        else { return false }
        let latest = Int(clamping: now.milliseconds / 60_000)
        for (name, value) in saved {
            guard let slot = streams.slots[name], case .array(let list) = value else { continue }
            var points: [HistoryPoint] = []
            for entry in list.prefix(1_000) {
                guard case .array(let numbers) = entry, let point = HistoryPoint(numbers.compactMap(\.int)),
                    Int(point.minute) <= latest, Int(point.minute) > latest - 1_440,
                    points.last.map({ $0.minute < point.minute }) ?? true
                else { continue }
                points.append(point)
            }
            streams.change(slot) { state in
                state.history.restore(minutes: [], quarters: points)
                state.history.resume(at: now)
            }
        }
        return true
    }
}

extension Timestamp {
    /// The instant of an earlier calendar time. The calendar measures the time in which no process ran; a calendar that
    /// went back counts as no time.
    fileprivate func instant(of time: WallTime) -> MonotonicInstant {
        instant.advanced(by: .milliseconds(-max(0, wallTime.milliseconds.saturatingSubtract(time.milliseconds))))
    }

    /// The earlier time with its instant.
    func at(_ time: WallTime) -> Timestamp { Timestamp(instant: instant(of: time), wallTime: time) }
}

extension StreamState {
    /// Shows the stream as down from the start, as an earlier process saw it.
    fileprivate mutating func restore(_ down: SavedMonitor.Down, at now: Timestamp) {
        isUp = false
        (settledWord, stateSince) = (.down, down.since)
        diagnosis.restore(down.cause, since: now.at(down.since))
        lastFailure = down.error.map { Failure(code: $0.code, message: $0.message, time: now.at($0.time)) }
    }
}

extension AlertEngine {
    fileprivate mutating func restore(_ entry: SavedMonitor.Firings, at now: Timestamp) {
        let instants = entry.times.map { now.instant(of: $0) }.filter { $0.duration(to: now.instant) < Self.flapWindow }
        if !instants.isEmpty { firings[Key(alert: entry.alert, stream: entry.stream)] = instants.sorted() }
    }

    /// Restores an alert.
    mutating func restore(
        _ entry: SavedMonitor.Alert,
        _ alert: AlertConfiguration,
        _ stream: WatchedStream,
        since: Timestamp
    ) {
        // Earlier versions saved a state for alerts that are resolved: their incident closes.
        guard entry.state != "resolved" else { return }
        let key = Key(alert: alert.name, stream: stream.name)
        var instance = Instance(alert: alert, stream: stream, since: since, value: entry.value, reason: entry.reason)
        instance.state = entry.state == "pending" ? .pending : .firing
        instances[key] = instance
    }
}

extension PlaceBook {
    /// Adds a place that an earlier process knew; false if there are too many.
    fileprivate mutating func restore(_ name: String, at now: Timestamp) -> Bool {
        if places[name] != nil { return true }
        guard places.count < Self.mostPlaces else { return false }
        places[name] = Place(latest: now)
        return true
    }
}

extension HistoryPoint {
    fileprivate init?(_ numbers: [Int]) {
        guard numbers.count == 9, let minute = Int32(exactly: numbers[0]) else { return nil }
        self.init(minute: minute)
        (playing, rebuffering) = (UInt32(clamping: numbers[1]), UInt32(clamping: numbers[2]))
        (errors, bitrate) = (UInt16(clamping: numbers[3]), UInt32(clamping: numbers[4]))
        (startup, latency) = (UInt32(clamping: numbers[5]), UInt32(clamping: numbers[6]))
        (buffer, wasDown) = (UInt32(clamping: numbers[7]), numbers[8] != 0)
    }
}
