public import Instrument
internal import InstrumentText

/// The payloads of the Seer service: activity streams, instrumentation and Tin Can, with few required fields and rules
/// of their own.
///
/// Its Tin Can is not xAPI: an agent may have several identifiers, and the key of an extension is no IRI. So none of
/// the types of ``Statement`` are used here. Every part has `properties` for what the service lets one add.
public enum Seer {
    /// Instrumentation has the form of an activity stream and goes to another endpoint.
    public typealias Instrumentation = ActivityStream

    /// A random identifier in the form of a UUID.
    public static func uniqueID(from random: RandomSource = RandomSource()) -> String { random.identifier() }

    /// A time as payloads have it: ISO 8601 with milliseconds, in UTC.
    public static func timestamp(_ time: WallTime) -> String { time.rfc3339 }
}
