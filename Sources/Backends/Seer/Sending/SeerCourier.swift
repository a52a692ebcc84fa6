internal import Instrument
internal import InstrumentJSON

/// Reports payloads and the queue, one request at a time.
struct SeerCourier: Sendable {
    let configuration: SeerConfiguration
    let session: SeerSession
    let queue: SeerQueue
    let responses: SeerResponses
    let requestIDs: SeerRequestIDs

    /// Reports one payload after the queued ones of its type; if those cannot be sent, the payload is queued
    /// after them.
    func report(_ payload: SeerPayload, _ id: SeerRequestID) async -> SeerResponse {
        if configuration.autoReportQueue, queue.holds(payload.kind, before: id) {
            if let error = await reportQueue(payload.kind, before: id).error {
                return keep(payload, id, because: error)
            }
        }
        let posting = await session.post(payload.json.bytes, to: payload.kind.endpoint)
        guard let error = posting.error else {
            return SeerResponse(payload.kind.event, id, type: payload.kind)
        }
        guard error.code == .refused else { return keep(payload, id, because: error) }
        let loss = queue.bury(payload, id, reason: error.description)
        let all = loss.map { SeerError(.refused, "\(error); it could not be kept as a dead letter: \($0)") }
        return SeerResponse(payload.kind.event, id, type: payload.kind, error: all ?? error)
    }

    /// Queues a payload; `reason` is the error of its report, nil if it was not tried.
    func keep(_ payload: SeerPayload, _ id: SeerRequestID, because reason: SeerError? = nil) -> SeerResponse {
        let (removed, error) = queue.add(
            payload,
            id,
            limit: configuration.maxQueueBytes,
            removesOld: configuration.removeOldItemsWhenFullDB
        )
        return SeerResponse(
            payload.kind.event,
            id,
            type: payload.kind,
            error: error ?? reason,
            isQueued: error == nil,
            removedIDs: removed
        )
    }

    /// Reports the queue, type by type.
    func reportQueue(_ id: SeerRequestID) async -> SeerResponse {
        var (sent, first): ([SeerRequestID], SeerError?) = ([], nil)
        for kind in SeerPayload.Kind.allCases {
            let (ids, error) = await reportQueue(kind, before: .max)
            sent += ids
            first = first ?? error
        }
        return SeerResponse(.queueReport, id, error: first, requestIDs: sent)
    }

    /// Reports the queue of a type; stops at the first failure that a retry may solve.
    private func reportQueue(
        _ kind: SeerPayload.Kind,
        before id: SeerRequestID
    ) async -> (sent: [SeerRequestID], error: SeerError?) {
        var (sent, limit): ([SeerRequestID], Int) = ([], .max)
        let hasBatches = configuration.endpoints.paths[kind.batchEndpoint] != nil
        while true {
            let batch = queue.next(
                kind,
                before: id,
                maxCount: hasBatches ? limit : 1,
                maxBytes: configuration.maxBatchBytes
            )
            if batch.isEmpty { return (sent, nil) }
            guard let error = await send(batch, kind, hasBatches).error else {
                queue.settle(batch)
                sent += batch.map(\.requestID)
                limit = limit > .max / 2 ? limit : limit * 2
                tell(of: batch, nil, isQueued: false)
                continue
            }
            guard error.code == .refused else {
                tell(of: batch, error, isQueued: true)
                return (sent, error)
            }
            if batch.count > 1 {
                limit = batch.count / 2
            } else {
                queue.settle(batch, dead: error.description)
                tell(of: batch, error, isQueued: false)
            }
        }
    }

    /// A payload that exceeds the size of a batch is sent alone.
    private func send(
        _ batch: [SeerQueue.Item],
        _ kind: SeerPayload.Kind,
        _ hasBatches: Bool
    ) async -> SeerSession.Posting {
        let body = kind.body(of: batch.map(\.bytes))
        if let only = batch.first, batch.count == 1, !hasBatches || body.count > configuration.maxBatchBytes {
            return await session.post(only.bytes, to: kind.endpoint)
        }
        return await session.post(body, to: kind.batchEndpoint)
    }

    private func tell(of batch: [SeerQueue.Item], _ error: SeerError?, isQueued: Bool) {
        guard let kind = batch.first?.kind else { return }
        let ids = batch.map(\.requestID)
        responses.tell(
            SeerResponse(
                .queuedBatch,
                requestIDs.next(),
                type: kind,
                error: error,
                isQueued: isQueued,
                requestIDs: ids
            )
        )
        guard configuration.receiveQueuedItemResponses else { return }
        for id in ids {
            responses.tell(SeerResponse(kind.event, id, type: kind, error: error, isQueued: isQueued))
        }
    }
}
