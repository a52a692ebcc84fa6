/// The work of a lane, on its executor.
extension DeliveryLane {
    /// The instant from which a batch may be sent, unless an event forbids it before.
    private struct Departure {
        let time: MonotonicInstant
        let epoch: Int
    }

    /// The samples that the store leased for the next batch: those to deliver, and those that are for other services.
    private struct Lease {
        /// The samples that the backend receives.
        let own: [SampleRecord]
        /// The number of samples that the store leased.
        let count: Int
        /// The sequence number of the last leased sample.
        let last: UInt64?

        init(_ records: [SampleRecord], for service: ServiceName?) {
            own = service == nil ? records : records.filter { $0.isMeant(for: service) }
            count = records.count
            last = records.last?.sequence
        }
    }

    /// Delivers until the lane is closed.
    ///
    /// - Parameter known: the drops that were already reported.
    func run(after known: [DropReason: Int]) async {
        var course = DeliveryCourse(policy)
        var drops = known
        var alarm: ScheduledAction?
        for await _ in signals {
            let wakeCount = state.withLock { $0.wakeCount }
            if takeOnline() { course.cameOnline() }
            while let departure = departure(notBefore: course.notBefore) {
                if departure.time > clock.now {
                    alarm?.cancel()
                    alarm = clock.schedule(at: departure.time) { [weak self] in self?.wake() }
                    // A virtual clock may have advanced in the meantime.
                    if departure.time > clock.now { break }
                }
                await deliverNext(departure.epoch, &course)
            }
            reportDrops(&drops)
            if state.withLock({ $0.isClosed }) { break }
            becomeIdle { $0.handledWakeCount = wakeCount }
        }
        alarm?.cancel()
        await backend.end()
        let reported = drops
        state.withLock { $0.reportedDrops = reported }
        ended.open()
        becomeIdle { $0.hasEnded = true }
    }

    /// Changes the state. If the lane is idle now, resumes the tasks that wait for an idle lane.
    private func becomeIdle(_ change: (inout State) -> Void) {
        let gates = state.withLock { state in
            change(&state)
            if !state.isIdle { return [Gate]() }
            defer { state.idleGates = [] }
            return state.idleGates
        }
        for gate in gates { gate.open() }
    }

    private func takeOnline() -> Bool {
        state.withLock { state in
            defer { state.cameOnline = false }
            return state.cameOnline
        }
    }

    /// The instant at which the next batch is due; nil without samples, consent or network.
    private func departure(notBefore: MonotonicInstant?) -> Departure? {
        let hasNetwork = !policy.needsNetwork || reachability.isOnline
        // Read outside the lock, which `emit` takes.
        let patience = backend.patience()
        return state.withLock { state in
            let hadNone = state.pending.count == 0
            // Read under the lock: a later sample comes with a later call of `appended`, which wakes the lane.
            state.pending = store.backlog(of: name)
            if state.pending.count == 0 { state.promptGoal = nil }
            // Samples of an earlier run, and those that the lane sees before the call of `appended` that belongs to
            // them, wait from this moment, also while they may not be sent.
            let since = hadNone ? clock.now : state.waitingSince ?? clock.now
            state.waitingSince = since
            guard state.pending.count > 0, hasNetwork, !state.isHeld, !state.isSilenced, !state.isClosed else {
                return nil
            }
            // A full batch starts the delivery of the whole backlog, including the smaller last batch.
            if let enough = policy.dueCount, state.pending.count >= enough, state.promptGoal == nil {
                state.promptGoal = store.ledger(of: name).flushGoal
            }
            let isDue = !state.flushes.isEmpty || state.promptGoal != nil || isFull(state.pending)
            let due = isDue ? since : dueByAge(since, patience)
            return Departure(time: max(due, notBefore ?? due), epoch: state.epoch)
        }
    }

    /// The instant at which samples that wait since `since` reach the policy's largest age.
    private func dueByAge(_ since: MonotonicInstant, _ patience: Duration?) -> MonotonicInstant {
        let oldest = since.advanced(by: policy.maxAge)
        guard let patience else { return oldest }
        return max(since, min(oldest, clock.now.advanced(by: max(.zero, patience))))
    }

    private func deliverNext(_ epoch: Int, _ course: inout DeliveryCourse) async {
        let records = store.next(for: name, maxCount: course.maxCount, maxBytes: policy.maxBytes)
        if records.isEmpty {
            // The samples were dropped, erased or skipped in the meantime. Otherwise a pause prevents an endless loop.
            if store.backlog(of: name).count == 0 { return openGates() }
            return pause(.backOff(wish: nil), "the store returns no samples although samples are queued", &course)
        }
        let lease = Lease(records, for: service)
        if lease.own.isEmpty { return skip(lease, epoch, &course) }
        if let outcome = await send(Batch(records: lease.own), epoch) { apply(outcome, to: lease, &course) }
    }

    /// Settles a batch whose samples are all for other services, without a delivery.
    private func skip(_ lease: Lease, _ epoch: Int, _ course: inout DeliveryCourse) {
        if state.withLock({ $0.maySetOut(epoch) }) { settle(lease, dead: [:], &course) }
    }

    /// Delivers a batch in a task that can be cancelled. Returns nil if the batch must not be sent any more.
    private func send(_ batch: Batch, _ epoch: Int) async -> DeliveryOutcome? {
        let delivery = state.withLock { state -> Task<DeliveryOutcome?, Never>? in
            guard state.maySetOut(epoch) else { return nil }
            let queued = queued(epoch)
            let delivery = Task(executorPreference: executor) { [backend] () -> DeliveryOutcome? in
                // Again: the executor may have been late, and an erasure may have returned in the meantime.
                guard queued.isCurrent else { return nil }
                return await backend.deliver(batch, before: queued)
            }
            state.inFlight = delivery
            return delivery
        }
        guard let delivery else { return nil }
        let alarm = policy.timeout.map { clock.schedule(at: clock.now.advanced(by: $0)) { delivery.cancel() } }
        let outcome = await delivery.value
        alarm?.cancel()
        state.withLock { $0.inFlight = nil }
        return outcome
    }

    /// The samples that wait for the backend, as long as the lane may send.
    private func queued(_ epoch: Int) -> QueuedSamples {
        QueuedSamples { [weak self, store, name, service] body in
            guard let self else { return }
            store.readQueued(for: name) { records in
                guard state.withLock({ $0.maySetOut(epoch) }) else { return false }
                return body(service == nil ? records : records.filter { $0.isMeant(for: service) })
            }
        } isFlushing: { [weak self] in
            self?.state.withLock { !$0.flushes.isEmpty } ?? false
        } isCurrent: { [weak self] in
            self?.state.withLock { $0.maySetOut(epoch) } ?? false
        } receipts: { [store, name] in
            (store as? any ReceiptStore)?.receipts(of: name) ?? []
        } keep: { [store, name] receipts in
            (store as? any ReceiptStore)?.keep(receipts, of: name)
        }
    }

    private func apply(_ outcome: DeliveryOutcome, to lease: Lease, _ course: inout DeliveryCourse) {
        switch outcome {
        case .acknowledged: settle(lease, dead: [:], &course)
        case .acknowledgedExcept(let refused): settle(lease, dead: refused, &course)
        case .retry(let wish, let reason): pause(.backOff(wish: wish), reason, &course)
        case .unauthorized(let reason): pause(.unauthorized, reason, &course)
        case .tooLarge where lease.own.count > 1: course.tooLarge(lease.count)
        case .refused where lease.own.count > 1: course.refused(lease.count)
        case .tooLarge(let reason), .refused(let reason):
            settle(lease, dead: Dictionary(lease.own.map { ($0.id, reason) }) { first, _ in first }, &course)
        case .gone(let reason):
            endFlushes { $0.isSilenced = true }
            report(.silenced(name, reason: reason))
        }
    }

    private func settle(_ lease: Lease, dead: [SampleID: String], _ course: inout DeliveryCourse) {
        guard let last = lease.last else { return }
        store.settle(name, through: last, dead: letters(of: lease, dead))
        course.settled(lease.count)
        state.withLock { $0.waitingSince = clock.now }
        openGates()
    }

    /// Reports the samples that the backend will never accept. Returns their reasons by sequence number.
    private func letters(of lease: Lease, _ dead: [SampleID: String]) -> [UInt64: String] {
        if dead.isEmpty { return [:] }
        var letters: [UInt64: String] = [:]
        for record in lease.own {
            guard let reason = dead[record.id] else { continue }
            letters[record.sequence] = reason
            report(.deadLetter(name, record.id, reason: reason))
        }
        return letters
    }

    private func pause(_ kind: DeliveryCourse.Pause, _ reason: String, _ course: inout DeliveryCourse) {
        guard let delay = course.pause(kind, for: reason, at: clock.now, randomness) else { return }
        report(.retrying(name, after: delay, reason: reason))
    }

    private func reportDrops(_ known: inout [DropReason: Int]) {
        let drops = store.ledger(of: name).drops
        for (reason, count) in drops.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let news = count - (known[reason] ?? 0)
            if news > 0 { report(.dropped(name, count: news, reason)) }
        }
        known = drops
    }
}
