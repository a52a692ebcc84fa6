internal import InstrumentJSON
internal import InstrumentMPV

/// What a watch needs of libmpv: a client of the app's player, or the script of a test.
///
/// All functions are called on the watch's queue, one at a time.
protocol LibMPVClient: Sendable {
    /// Calls `body`, on any thread, whenever there are events; false if there is no client.
    func wake(_ body: @escaping @Sendable () -> Void) -> Bool
    /// Reports the properties now and whenever they change.
    func observe(_ properties: [MPVProperty])
    /// Ends these reports.
    func endObserving()
    /// Asks for a property; the answer is an event with the number.
    func ask(_ request: MPVRequests.Request)
    /// The next event; nil without one.
    func nextEvent() -> LibMPVEvent?
    /// Destroys the client. Nothing is called afterwards.
    func destroy()
}

/// An event of libmpv's, copied: what it points to is gone with the next one.
enum LibMPVEvent: Hashable, Sendable {
    case event(MPVEvent)
    /// The answer to a request; nil without a value.
    case reply(Int, JSONValue?)
    /// The queue of the client was full.
    case overflow
}
