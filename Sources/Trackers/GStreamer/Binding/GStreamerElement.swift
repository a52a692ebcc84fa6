/// What a watch needs of a pipeline: the app's element, or the script of a test.
protocol GStreamerElement: Sendable {
    /// Gives events to an inbox from now on, on any thread, also during this call; false if the element cannot be
    /// observed. One observation at a time.
    func observe(_ inbox: GStreamerInbox) -> Bool
    /// Ends the observation. Calls that run are not waited for.
    func endObserving()
    /// The state of the changes that have ended.
    func state() -> GStreamerEvent.State
    /// The address or path that is played. May block; not to be called in an event.
    func source() -> String?
}
