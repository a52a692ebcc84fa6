internal import Dispatch
internal import Instrument
internal import InstrumentSockets

/// Requests of the model, and their replies.
extension MPVSession {
    /// The maximum of requests that wait for their replies. A player that replies has one or two.
    private static var maxOpenQuestionCount: Int { 64 }

    func ask(_ question: MPVModel.Question) {
        let isTooMuch = state.withLock { $0.alarms.count >= Self.maxOpenQuestionCount }
        // One that floods us and answers nothing: what depends on the answer is reported without.
        if isTooMuch { return answered(MPVRequests.Answers(question: question.number), at: clock.now) }
        let (connection, lines, epoch) = state.withLock { ($0.connection, $0.requests.ask(question), $0.epoch) }
        let alarm = clock.schedule(at: clock.now.advanced(by: configuration.answerTimeout)) { [weak self] in
            self?.queue.async { [weak self] in self?.expire(question.number, epoch) }
        }
        state.withLock { $0.alarms[question.number] = alarm }
        connection?.send(lines)
    }

    func answered(_ answers: MPVRequests.Answers, at now: MonotonicInstant) {
        let effects = state.withLock { state in
            state.alarms.removeValue(forKey: answers.question)?.cancel()
            return state.model.answered(answers, at: now)
        }
        perform(effects)
    }

    private func expire(_ question: Int, _ epoch: Int) {
        let (answers, isHeard) = state.withLock { state in
            (state.epoch == epoch ? state.requests.expire(question) : nil, state.isHeard)
        }
        guard let answers else { return }
        report(.unanswered)
        if isHeard { answered(answers, at: clock.now) } else { drop("it answers nothing") }
    }
}
