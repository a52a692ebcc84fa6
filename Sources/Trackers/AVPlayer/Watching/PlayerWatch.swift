internal import Instrument

/// Observes a player while somebody listens: keeps the observations of the player and of its current item, and reads
/// logs away from the player's thread.
///
/// Safe from any thread. A listener may change the player, or end the watch, while it is called.
final class PlayerWatch<Model: ObservationModel>: Sendable {
    private struct Observations {
        var epoch = 0
        var player: Observation?
        var item: Observation?
        var itemID: ItemID?
    }

    private let player: any ObservedPlayer
    private let readLogs: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let outlet = SignalOutlet<Model, Model.Signal> { Model() }
    private let observations = Lock(Observations())

    /// Creates a watch that observes nothing yet.
    ///
    /// - Parameters:
    ///   - player: the observed player.
    ///   - readLogs: runs a read that may block, in order, on another thread than the player's.
    init(_ player: any ObservedPlayer, readLogs: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        (self.player, self.readLogs) = (player, readLogs)
    }

    /// Delivers signals to `listener` from now on, from a new model; nil ends the observations.
    func report(to listener: (@Sendable (Model.Signal) -> Void)?) {
        let epoch = outlet.listen(listener)
        let old = observations.withLock { observations in
            defer { observations = Observations(epoch: epoch) }
            return [observations.player, observations.item]
        }
        for observation in old { observation?.cancel() }
        if listener == nil { return }
        let observation = player.observePlayer { [weak self] notice, instant in
            self?.take(notice, at: instant, epoch)
        }
        keep(observation) { observations in
            if observations.epoch == epoch { observations.player = observation }
            return observations.epoch == epoch
        }
    }

    /// Reads something from the model.
    func read<Value: Sendable>(_ body: (Model) -> Value) -> Value { outlet.read(body) }

    /// Changes the model, and delivers what follows.
    func change(_ body: (inout Model) -> [Model.Signal]) { outlet.change(body) }

    private func take(_ notice: PlayerNotice, at instant: MonotonicInstant, _ epoch: Int) {
        switch notice {
        case .observation(let observation):
            guard outlet.change(in: epoch, { $0.observe(observation, at: instant) }) else { return }
            if case .item(let facts) = observation { observeItem(facts?.id, epoch) }
        case .accessLogGrew(let item):
            readLog(epoch, at: instant) { .accessLog(item, $0.accessLog(of: item)) }
        case .errorLogGrew(let item):
            readLog(epoch, at: instant) { .errorLog(item, $0.errorLog(of: item)) }
        }
    }

    /// The instant is the notice's: the read may take a while.
    private func readLog(
        _ epoch: Int,
        at instant: MonotonicInstant,
        _ read: @escaping @Sendable (any ObservedPlayer) -> AVPlayerObservation
    ) {
        readLogs { [weak self] in
            guard let self, outlet.isCurrent(epoch) else { return }
            take(.observation(read(player)), at: instant, epoch)
        }
    }

    private func observeItem(_ item: ItemID?, _ epoch: Int) {
        let (isCurrent, old) = observations.withLock { observations -> (Bool, Observation?) in
            guard observations.epoch == epoch else { return (false, nil) }
            defer { (observations.item, observations.itemID) = (nil, item) }
            return (true, observations.item)
        }
        old?.cancel()
        guard isCurrent, let item else { return }
        let observation = player.observeItem(item) { [weak self] notice, instant in
            self?.take(notice, at: instant, epoch)
        }
        // The first reports may have brought another item.
        keep(observation) { observations in
            let isWanted = observations.epoch == epoch && observations.itemID == item
            if isWanted { observations.item = observation }
            return isWanted
        }
    }

    /// Keeps an observation, unless its object has ended in the meantime.
    private func keep(_ observation: Observation, _ store: (inout Observations) -> Bool) {
        if !observations.withLock({ store(&$0) }) { observation.cancel() }
    }
}
