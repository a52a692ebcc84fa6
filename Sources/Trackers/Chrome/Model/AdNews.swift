internal import Instrument
internal import InstrumentJSON

/// What the ads of a page do, as a player of the page tells. All of it is the page's.
struct AdNews: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        /// The next ad is known.
        case loaded
        case breakBegin = "break"
        case breakFinish = "over"
        case start
        case firstQuartile = "q1"
        case midpoint = "q2"
        case thirdQuartile = "q3"
        /// The ad was played to its end.
        case complete
        /// The ad ends, for whatever reason.
        case stop
        case skip, pause, resume, click
        /// The ad waits for data, and has data again.
        case wait, flow
        case error
    }

    /// The source of news, in the order of how much it reports: of two for the same ad, the later one of these counts.
    enum Source: String, Hashable, Sendable, CaseIterable {
        case contribAds = "contrib-ads"
        case shaka
        case hls = "hls.js"
        case dai, ima

        var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// Where the ads are shown.
    enum Place: String, Hashable, Sendable {
        /// In a separate element.
        case other
        /// In the content's stream: the content's element plays on.
        case stream
        /// In the content's element, maybe in place of its media.
        case element
    }

    /// One player, or one manager of ads, of the page.
    struct Teller: Hashable, Sendable {
        var source: Source
        var number = 0
    }

    var kind: Kind
    var teller: Teller
    var place: Place
    var facts = AdFacts()
    var failure = AdFailure()

    init(_ kind: Kind, by teller: Teller, in place: Place) {
        (self.kind, self.teller, self.place) = (kind, teller, place)
    }

    /// Reads the news of `ads.js`; nil for anything else.
    init?(_ value: JSONValue?) {
        guard let value, let kind = value["e"]?.string.flatMap(Kind.init(rawValue:)),
            let source = value["s"]?.string.flatMap(Source.init(rawValue:)),
            let place = value["l"]?.string.flatMap(Place.init(rawValue:))
        else { return nil }
        self.init(kind, by: Teller(source: source, number: value["m"]?.count ?? 0), in: place)
        facts = AdFacts(value)
        failure = AdFailure(value)
    }
}

/// An ad as the page's player describes it; nil is unknown.
struct AdFacts: Hashable, Sendable {
    var id: String?
    var title: String?
    var description: String?
    var system: String?
    var advertiserName: String?
    var creativeID: String?
    /// Seconds.
    var duration: Double?
    var position: Double?
    /// Bits per second.
    var bitrate: Int?
    var width: Int?
    var height: Int?
    /// The address of the ad's media.
    var address: String?
    var roll: AdRoll?
    /// Whether others of the same break follow; nil if it is unknown.
    var isLast: Bool?

    init() {}

    init(_ value: JSONValue) {
        let text = { (name: String) in value[name]?.text(300).flatMap { $0.isEmpty ? nil : $0 } }
        (id, title, description) = (text("id"), text("ti"), text("de"))
        (system, advertiserName, creativeID) = (text("sy"), text("an"), text("ci"))
        duration = value["du"]?.seconds.flatMap { $0 > 0 ? $0 : nil }
        position = value["po"]?.seconds.flatMap { $0 >= 0 ? $0 : nil }
        // VAST counts kbit/s.
        bitrate = value["kb"]?.count.flatMap { $0 > 0 ? $0 * 1000 : nil }
        (width, height) = (value["wi"]?.count, value["he"]?.count)
        if (width ?? 0) == 0 || (height ?? 0) == 0 { (width, height) = (nil, nil) }
        address = value["mu"]?.text().flatMap { $0.isEmpty ? nil : $0 }
        roll = value["ro"]?.finite.map { $0 == 0 ? .pre : $0 < 0 ? .post : .mid }
        if let count = value["of"]?.count, let index = value["ix"]?.count, count > 0, index > 0 {
            isLast = index >= count
        }
    }

    /// Takes what others say in addition.
    mutating func add(_ facts: AdFacts) {
        (id, title, description) = (facts.id ?? id, facts.title ?? title, facts.description ?? description)
        (system, advertiserName) = (facts.system ?? system, facts.advertiserName ?? advertiserName)
        (creativeID, bitrate) = (facts.creativeID ?? creativeID, facts.bitrate ?? bitrate)
        (duration, position) = (facts.duration ?? duration, facts.position ?? position)
        (width, height) = (facts.width ?? width, facts.height ?? height)
        (address, roll, isLast) = (facts.address ?? address, facts.roll ?? roll, facts.isLast ?? isLast)
    }

    var status: AdStatus {
        var status = AdStatus()
        (status.id, status.title, status.description) = (id, title, description)
        (status.system, status.advertiserName, status.creativeID) = (system, advertiserName, creativeID)
        (status.duration, status.position) = (duration.map { .seconds($0) }, position.map { .seconds($0) })
        (status.bitrate, status.roll) = (bitrate, roll)
        (status.resolutionWidth, status.resolutionHeight) = (width, height)
        return status
    }
}

/// Why an ad, or a break, failed.
struct AdFailure: Hashable, Sendable {
    var code: Int?
    var type: String?
    var message: String?
    /// Whether the player shows no more ads of the break.
    var isFatal = false

    init() {}

    init(_ value: JSONValue) {
        code = value["ec"]?.int
        (type, message) = (value["et"]?.text(80), value["em"]?.text(500))
        isFatal = value["fa"]?.truth ?? false
    }

    var attributes: Attributes {
        var attributes = Attributes()
        attributes[.errorCode] = code.map { "\($0)" }
        attributes[.adErrorType] = type
        attributes[.errorDescription] = message.map { SourceText.redactedAddresses(in: $0) }
        return attributes
    }
}
