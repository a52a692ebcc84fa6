package import Instrument

extension HTTPTransport {
    /// Sends a request of a batch; returns what the response, or the error without one, means for the batch.
    ///
    /// - Parameters:
    ///   - clock: tells the calendar time, for a `Retry-After` that is a date.
    ///   - rules: the meaning of some statuses of this server.
    ///   - refine: may change the outcome after it has read the response; not called without a response.
    package func deliver(
        _ request: HTTPRequest,
        clock: any SchedulingClock,
        rules: DeliveryRules = DeliveryRules(),
        refine: (HTTPResponse, DeliveryOutcome) -> DeliveryOutcome = { $1 }
    ) async -> DeliveryOutcome {
        do throws(HTTPError) {
            let response = try await send(request)
            return refine(response, DeliveryOutcome(response, to: request, now: clock.wallTime, rules: rules))
        } catch {
            return DeliveryOutcome(error)
        }
    }
}
