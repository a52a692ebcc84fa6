internal import Instrument

/// Collections: start, wait for sensors, emit.
extension AppStateCollector {
    /// Starts a collection; in the background, and while paused, the collection ends immediately.
    func begin() {
        let now = clock.now
        let begun = state.withLock { state -> (Beginning, Int, Bool)? in
            guard state.context != nil else { return nil }
            state.lastCollection = now
            state.nextNumber += 1
            let beginning = Beginning(instant: now, phase: state.phase, screens: state.screens)
            return (beginning, state.nextNumber, state.isPaused || state.phase.isBackground)
        }
        guard let (beginning, number, isImmediate) = begun else { return }
        if isImmediate { return emit(beginning, withReadings: false) }
        let runs = startSensors()
        let wait = isMotionOn ? Self.waitWithMotion : Self.wait
        let isPending = state.withLock { state in
            // The app may have left the foreground meanwhile.
            if state.isPaused || state.phase.isBackground || state.context == nil { return false }
            // Under the lock, so that a concurrent end of the collection finds an alarm to cancel.
            let alarm = clock.schedule(at: now.advanced(by: wait)) { [weak self] in self?.finish(number) }
            state.pending.append(PendingCollection(number: number, beginning: beginning, alarm: alarm, runs: runs))
            return true
        }
        if isPending { return }
        emit(beginning, withReadings: true)
        for run in runs { run.stop() }
    }

    /// Emits the waiting collections immediately, the oldest first.
    func finishPending() {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for collection in pending { complete(collection) }
    }

    /// The next automatic collection; none in the background and while paused.
    func setTimer() {
        let old = state.withLock { state -> ScheduledAction? in
            let old = state.timer
            let isWanted = state.context != nil && !state.isPaused && !state.phase.isBackground
            let due = max(state.lastCollection.advanced(by: Self.interval), clock.now)
            state.timer = isWanted ? clock.schedule(at: due) { [weak self] in self?.intervalPassed() } : nil
            return old
        }
        old?.cancel()
    }

    private func intervalPassed() {
        let now = clock.now
        let isDue = state.withLock { state in
            !state.isPaused && !state.phase.isBackground
                && state.lastCollection.duration(to: now) >= Self.interval
        }
        if isDue { begin() }
        setTimer()
    }

    private func finish(_ number: Int) {
        let collection = state.withLock { state -> PendingCollection? in
            guard let index = state.pending.firstIndex(where: { $0.number == number }) else { return nil }
            return state.pending.remove(at: index)
        }
        if let collection { complete(collection) }
    }

    private func complete(_ collection: PendingCollection) {
        collection.alarm.cancel()
        emit(collection.beginning, withReadings: true)
        for run in collection.runs { run.stop() }
    }

    private var isMotionOn: Bool { SensorKind.motion.contains { sensors.choices.allows($0) } }

    /// The sensors that need time for a reading. Absent or disallowed sensors start nothing.
    private func startSensors() -> [SensorRun] {
        var runs = [sensors.heading.listen(), sensors.location.listen()]
        if !isMotionOn { return runs }
        runs.append(sensors.deviceMotion.listen())
        // The three raw sensors only without fused motion.
        if sensors.deviceMotion.current().absence == .missing || !sensors.choices.allows(.deviceMotion) {
            runs += [sensors.accelerometer.listen(), sensors.gyroscope.listen(), sensors.magnetometer.listen()]
        }
        return runs
    }

    private func emit(_ beginning: Beginning, withReadings: Bool) {
        guard let context = state.withLock({ $0.context }) else { return }
        var now = AppState()
        now.sdkVersion = sdkVersion
        now.screenTitles = beginning.screens.isEmpty ? nil : beginning.screens
        now.applicationState = beginning.phase.applicationState
        addSurroundings(to: &now)
        if withReadings { addReadings(to: &now) }
        context.emit(.appState, at: beginning.instant, attributes: now.attributes)
    }

    private func addSurroundings(to now: inout AppState) {
        let battery = sensors.battery.current()
        now.batteryLevel = battery.reading?.level
        if battery.absence != .disallowed { now.batteryState = battery.reading?.state ?? .unknown }
        now.proximityState = sensors.proximity.current().reading
        now.networkAddresses = sensors.networkAddresses.current().reading
        now.deviceOrientation = sensors.orientation.current().reading
        // The last known position; a position with unknown accuracy does not count.
        now.location = sensors.location.current().reading
    }

    private func addReadings(to now: inout AppState) {
        if case .reading(let heading) = sensors.heading.latest { now.heading = heading }
        now.motion = Self.some(sensors.deviceMotion.takeReadings())
        now.accelerometer = Self.some(sensors.accelerometer.takeReadings())
        now.gyroscope = Self.some(sensors.gyroscope.takeReadings())
        now.magnetometer = Self.some(sensors.magnetometer.takeReadings())
    }

    private static func some<Reading>(_ readings: [Reading]) -> [Reading]? { readings.isEmpty ? nil : readings }
}
