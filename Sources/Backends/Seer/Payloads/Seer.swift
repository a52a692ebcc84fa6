package import Instrument
internal import InstrumentText
internal import InstrumentXAPI

/// The payloads of the Seer service: activity streams, instrumentation and Tin Can. Few fields are required.
///
/// Seer's Tin Can is not valid xAPI: an agent may have several identifiers, and the key of an extension is not
/// an IRI. These types are therefore separate from `Statement` of InstrumentXAPI. Every part has `properties`
/// for additional keys, which the service accepts.
public enum Seer {
    /// Instrumentation: an activity stream that is sent to a different endpoint.
    public typealias Instrumentation = ActivityStream

    /// Returns a random identifier in the form of a UUID.
    package static func uniqueID(from random: RandomSource = RandomSource()) -> String { random.identifier() }

    /// Returns a time in the format of payloads: ISO 8601 with milliseconds, in UTC.
    package static func timestamp(_ time: WallTime) -> String { time.rfc3339 }
}
