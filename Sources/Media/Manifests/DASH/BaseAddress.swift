internal import InstrumentHTTP
internal import InstrumentText
internal import InstrumentXML

/// The addresses of one level's `BaseURL` elements (ISO/IEC 23009-1 section 5.6.5).
struct BaseAddress {
    /// The preferred address.
    let url: HTTPURL
    /// When segments at the preferred address are available.
    let availability: EarlyAvailability
    /// All addresses; nil for fewer than two that no steering server orders.
    let locations: ContentLocations?

    /// Reads the elements of a level.
    ///
    /// The order is that of the document, after `dvb:priority` (ETSI TS 103 285 section 10.8.2.1: the lowest number
    /// first, 1 where none is written).
    init(
        _ element: MarkupElement,
        under outer: HTTPURL,
        isSteered: Bool,
        budget: inout Int
    ) throws(ManifestError) {
        var found: [(priority: Int64, location: ContentLocations.Location, availability: EarlyAvailability)] = []
        for base in element.all("BaseURL") {
            let url = try ReferenceBase(url: outer).resolve(
                String(base.text.trimmingWhitespace),
                line: base.line,
                budget: &budget
            )
            let priority = base["dvb:priority"].flatMap { DecimalText.integer($0) } ?? 1
            let location = ContentLocations.Location(id: base["serviceLocation"] ?? url.description, base: url)
            let availability = EarlyAvailability(
                offset: base.word("availabilityTimeOffset"),
                isComplete: base.word("availabilityTimeComplete")
            )
            found.append((priority, location, availability))
        }
        let places = found.enumerated().sorted { ($0.1.priority, $0.0) < ($1.1.priority, $1.0) }
        url = places.first?.element.location.base ?? outer
        availability = places.first?.element.availability ?? EarlyAvailability()
        locations = ContentLocations(places.map(\.element.location), isSteered: isSteered)
    }
}
