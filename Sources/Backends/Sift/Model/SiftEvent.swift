public import Instrument
public import InstrumentSensors

/// One event of Sift's format. Nil and empty texts are left out.
public struct SiftEvent: Hashable, Sendable {
    /// The time of the event by the calendar (`time`, ms since 1970).
    public var time: WallTime
    /// The type of the event (`mobile_event_type`).
    public var type: String?
    /// The place in the app (`path`).
    public var path: String?
    /// The user (`user_id`). Where it is nil, the logger's ``Sift/userID`` of the moment is copied into it.
    public var userID: String?
    /// The installation (`installation_id`). Where it is nil, the logger's is copied into it.
    public var installationID: String?
    /// Custom values (`fields`).
    public var fields: [String: String]?
    /// Custom numbers as text (`metrics`).
    public var metrics: [String: String]?
    /// Properties as old SDKs sent them (`device_properties`); sent as they are, in both profiles.
    package var legacyDeviceProperties: [String: String]?
    /// The app's state (`ios_app_state`). Its location is taken out when the event is appended while collection of
    /// locations is disallowed.
    public var appState: AppState?
    /// The device's properties (`ios_device_properties`).
    public var deviceProperties: DeviceProperties?

    /// Creates an event; the rest is set afterwards.
    public init(
        time: WallTime,
        type: String? = nil,
        path: String? = nil,
        userID: String? = nil,
        fields: [String: String]? = nil
    ) {
        self.time = time
        self.type = type
        self.path = path
        self.userID = userID
        self.fields = fields
    }
}
