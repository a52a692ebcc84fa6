internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText
internal import InstrumentXML

/// Creates a presentation of an MPD.
///
/// Each representation of the richest period becomes a rendition that continues through all periods: in each by the
/// representation with the same `@id` and a similar bitrate, else by the one with the highest bitrate that is not above
/// it.
struct DASHPresentationBuilder {
    private var manifest: DASHManifest
    private let now: WallTime
    /// The nanoseconds by which the server's clock is ahead of `now`.
    private let clockOffset: Int64
    private var notices: NoticeList
    private var addressBudget: Int
    private var listBudget: Int
    private var calendar: PeriodSegments.Calendar?
    private var representations = 0
    /// Why the first representation that cannot be played was left out.
    private var firstFault: ManifestError?
    private let isSteered: Bool
    private var locations: [ContentLocations] = []
    private var knownLocations: Set<ContentLocations> = []
    private var clockSources: [ClockSource] = []

    init(_ manifest: DASHManifest, now: WallTime, clockOffset: Int64) {
        self.manifest = manifest
        self.now = now
        self.clockOffset = clockOffset
        isSteered = manifest.root.first("ContentSteering") != nil
        notices = NoticeList(limit: manifest.limits.notices)
        notices.add(manifest.textNotices)
        addressBudget = manifest.limits.addressBytes
        listBudget = manifest.limits.listedSegments
    }

    /// The preferred address of a level, and when segments there are available.
    private struct Base {
        var url: HTTPURL
        var availability = EarlyAvailability()
    }

    private var root: MarkupElement { manifest.root }

    mutating func build() throws(ManifestError) -> Presentation {
        let origin = try manifestOrigin()
        calendar = origin.map {
            PeriodSegments.Calendar(origin: $0, now: now, window: root.duration("timeShiftBufferDepth"))
        }
        let base = try self.base(Base(url: manifest.url), root)
        var periods: [PeriodTracks] = []
        var events: [ManifestEvent] = []
        for period in try manifest.periods(&notices) {
            try ManifestError.checkCancellation()
            events += ManifestEvent.events(of: period, limit: manifest.limits.segments - events.count)
            periods.append(try tracks(of: period, base))
        }
        periods.removeAll { $0.tracks.isEmpty }
        guard let richest = periods.max(by: { $0.rank < $1.rank }) else {
            let isUnknown = notices.notices.contains { $0.subject == .unknownEssentialProperty }
            let found = isUnknown ? "only elements with an unknown EssentialProperty" : "none"
            throw firstFault
                ?? ManifestError(.malformed, "the MPD must contain a playable representation (found \(found))")
        }
        guard periods.contains(where: { $0.tracks.contains { $0.kind != .subtitles } }) else {
            let message = "the MPD must contain a representation with pictures or sound (found subtitles alone)"
            throw ManifestError(.malformed, message)
        }
        // Each rendition continues through each period.
        guard richest.tracks.count <= manifest.limits.variants,
            richest.tracks.count * periods.count <= manifest.limits.segments
        else { throw ManifestError(.limitExceeded, "the representations of all periods exceed the limit") }
        var joiner = PeriodJoiner(periods: periods)
        let renditions = try joiner.renditions(of: richest, isComplete: isComplete(periods))
        notices.add(joiner.notices)
        var presentation = Presentation(
            format: .dash,
            url: manifest.url,
            kind: manifest.isDynamic ? .live : .onDemand,
            variants: DASHLadder.variants(of: richest, renditions),
            renditions: renditions
        )
        presentation.duration =
            manifest.isDynamic ? nil : periods.last?.period.end ?? root.duration("mediaPresentationDuration")
        presentation.hasIndependentSegments = true
        presentation.live = manifest.isDynamic ? try liveRules(renditions) : nil
        presentation.events = events
        presentation.locations = locations
        presentation.clockSources = clockSources
        presentation.steering = steering
        presentation.periods = periods.map { PresentationPeriod($0.period) }
        presentation.notices = notices.notices
        if presentation.live?.patch != nil { presentation.document = manifest }
        return presentation
    }

    /// The calendar time of zero, by the local clock (section 5.8.4.11, `UTCTiming`).
    private mutating func manifestOrigin() throws(ManifestError) -> WallTime? {
        guard manifest.isDynamic else { return nil }
        guard let start = root["availabilityStartTime"].flatMap({ CalendarText.wallTime($0) }) else {
            let found = root["availabilityStartTime"].map { "`\($0.excerpt())`" } ?? "none"
            throw ManifestError(
                .malformed,
                "a dynamic MPD must have an `availabilityStartTime` (found \(found))",
                line: root.line
            )
        }
        let timings = root.all("UTCTiming")
        let direct = timings.first { $0["schemeIdUri"]?.hasPrefix("urn:mpeg:dash:utc:direct:") == true }
        guard let server = direct?["value"].flatMap({ CalendarText.wallTime($0) }) else {
            clockSources = ClockSource.sources(of: timings, relativeTo: manifest.url)
            if clockSources.isEmpty, let timing = timings.first {
                notices.add(.unsupportedClock, line: timing.line)
            }
            return start.advanced(nanoseconds: clockOffset.saturatingMultiply(-1))
        }
        if manifest.directClock?.server != server {
            manifest.directClock = DASHManifest.DirectClock(server: server, arrival: now)
        }
        let arrival = manifest.directClock?.arrival ?? now
        return start.advanced(nanoseconds: arrival.nanoseconds(since: server))
    }

    /// The steering server (ETSI TS 103 998, section 6).
    private var steering: ContentSteering? {
        guard let element = root.first("ContentSteering") else { return nil }
        let address = String(element.text.trimmingWhitespace)
        let text = DataAddress.bytes(of: address)
        let url = text == nil ? (try? ReferenceBase(url: manifest.url).resolve(address)) : nil
        guard text != nil || url != nil else { return nil }
        let order = (element["defaultServiceLocation"] ?? "").split { $0.isWhitespace }
        return ContentSteering(
            url: url,
            text: text,
            initialOrder: order.map(String.init),
            isAskedBeforeStart: element.word("queryBeforeStart").flatMap { Bool(schemaText: $0) } ?? false
        )
    }

    private func isComplete(_ periods: [PeriodTracks]) -> Bool {
        !manifest.isDynamic || root["minimumUpdatePeriod"] == nil && periods.last?.period.end != nil
    }

    private func liveRules(_ renditions: [Rendition]) throws(ManifestError) -> LiveRules {
        let longest =
            renditions.map { rendition -> Int64 in
                guard case .segments(let index) = rendition.source else { return 0 }
                return index.targetDuration
            }.max() ?? 0
        let service = ServiceDescription(root)
        let delay = root.duration("suggestedPresentationDelay")
        var rules = LiveRules(
            targetLatency: service.targetLatency ?? delay ?? longest.saturatingMultiply(3),
            suggestedDelay: delay,
            asksForCatchUp: service.asksForCatchUp,
            service: service.limits,
            minimumBuffer: root.duration("minBufferTime"),
            windowDuration: root.duration("timeShiftBufferDepth"),
            updatePeriod: root.duration("minimumUpdatePeriod"),
            origin: calendar?.origin
        )
        if let location = root.first("Location") {
            rules.reloadURL = try ReferenceBase(url: manifest.url).resolve(
                String(location.text.trimmingWhitespace),
                line: location.line
            )
        }
        rules.patch = patchLocation
        return rules
    }

    /// Where the next patch is (section 5.15): the first element that can be used.
    private var patchLocation: PatchLocation? {
        // Without these, no patch can say that it belongs to this MPD.
        guard root["id"] != nil, let published = root.word("publishTime").flatMap({ CalendarText.wallTime($0) }),
            let origin = calendar?.origin,
            let start = root["availabilityStartTime"].flatMap({ CalendarText.wallTime($0) })
        else { return nil }
        for element in root.all("PatchLocation") {
            guard let url = try? ReferenceBase(url: manifest.url).resolve(String(element.text.trimmingWhitespace))
            else { continue }
            guard element["ttl"] != nil else { return PatchLocation(url: url) }
            guard let life = element.word("ttl").flatMap({ DecimalText.nanoseconds($0) }), life >= 0 else { continue }
            // By the local clock, as the origin is.
            let age = life.saturatingAdd(origin.nanoseconds(since: start))
            return PatchLocation(url: url, expiry: published.advanced(nanoseconds: age))
        }
        return nil
    }

    /// The preferred `BaseURL` of a level; the presentation lists the alternatives.
    private mutating func base(_ outer: Base, _ element: MarkupElement) throws(ManifestError) -> Base {
        let base = try BaseAddress(element, under: outer.url, isSteered: isSteered, budget: &addressBudget)
        if let alternatives = base.locations, knownLocations.insert(alternatives).inserted {
            locations.append(alternatives)
        }
        return Base(url: base.url, availability: outer.availability.adding(base.availability))
    }

    private mutating func tracks(of period: DASHManifest.Period, _ outer: Base) throws(ManifestError) -> PeriodTracks {
        let base = try base(outer, period.element)
        var tracks: [Track] = []
        for set in period.element.all("AdaptationSet") where isPlayable(set) {
            tracks += try self.tracks(of: set, period, base, occurrence: tracks.count)
        }
        return PeriodTracks(period: period, base: base.url, tracks: tracks)
    }

    /// Excludes pictures for fast forward, and sets with essential properties that are not supported.
    private mutating func isPlayable(_ set: MarkupElement) -> Bool {
        meetsEssentialProperties(of: set, "an adaptation set")
    }

    private mutating func meetsEssentialProperties(of element: MarkupElement, _ name: String) -> Bool {
        switch EssentialProperties(element).verdict {
        case .met: return true
        case .otherUse: return false
        case .unknown:
            notices.add(.unknownEssentialProperty, name, line: element.line)
            return false
        }
    }

    private mutating func tracks(
        of set: MarkupElement,
        _ period: DASHManifest.Period,
        _ outer: Base,
        occurrence: Int
    ) throws(ManifestError) -> [Track] {
        let base = try base(outer, set)
        let description = SetDescription(set)
        var tracks: [Track] = []
        var shared: TemplateRow?
        for representation in set.all("Representation") {
            representations += 1
            if representations & 255 == 0 { try ManifestError.checkCancellation() }
            guard representations <= manifest.limits.representations else {
                let message = "there are more than \(manifest.limits.representations) representations"
                throw ManifestError(.limitExceeded, message, line: representation.line)
            }
            guard meetsEssentialProperties(of: representation, "a representation") else { continue }
            do throws(ManifestError) {
                guard let (levels, kind) = try levels(of: representation, in: set, period, base) else { continue }
                let inherits = representation.first("SegmentTemplate") == nil
                let part = try part(of: levels, period, &shared, inherits: inherits)
                let track = Track(levels, kind: kind, description, set: occurrence, part: part)
                notices.add(unknownCodecsOf: track.codecs, line: representation.line)
                tracks.append(track)
            } catch {
                try leaveOut(representation, error)
            }
        }
        return tracks
    }

    /// Returns nil for media that is not played.
    private mutating func levels(
        of representation: MarkupElement,
        in set: MarkupElement,
        _ period: DASHManifest.Period,
        _ outer: Base
    ) throws(ManifestError) -> (RepresentationLevels, Rendition.Kind)? {
        let own = try base(outer, representation)
        let levels = RepresentationLevels(
            period: period.element,
            set: set,
            representation: representation,
            base: own.url,
            baseAvailability: own.availability
        )
        return levels.mediaKind.map { (levels, $0) }
    }

    /// A representation that cannot be played is left out, as players do; limits hold for the whole MPD.
    private mutating func leaveOut(_ representation: MarkupElement, _ fault: ManifestError) throws(ManifestError) {
        let subjects: [ManifestError.Code: ManifestNotice.Subject] = [
            .malformed: .malformedRepresentation, .unsupported: .unsupportedRepresentation,
            .referenceRefused: .refusedRepresentation,
        ]
        guard let subject = subjects[fault.code] else { throw fault }
        firstFault = firstFault ?? fault
        notices.add(subject, fault.message, line: fault.line ?? representation.line)
    }

    private mutating func part(
        of levels: RepresentationLevels,
        _ period: DASHManifest.Period,
        _ shared: inout TemplateRow?,
        inherits: Bool
    ) throws(ManifestError) -> Rendition.Part {
        guard levels.kind != nil || levels.base != manifest.url else {
            let message = "the representation must have segments or a `BaseURL`; without them, its address is the MPD's"
            throw ManifestError(.malformed, message, line: levels.representation.line)
        }
        var method = SegmentEncryption.Method.samples(levels.protectionScheme ?? "ContentProtection")
        if levels.hasSegmentEncryption {
            method = .unsupported("segment encryption of ISO/IEC 23009-4")
            notices.add(.unsupportedEncryption, "ContentProtection", line: levels.set.line)
        } else if levels.isProtected {
            notices.add(.encryptedSamples, "ContentProtection", line: levels.set.line)
        }
        let encryption = SegmentEncryption(method: method, keyURL: nil, initializationVector: [])
        var segments = PeriodSegments(
            levels: levels,
            period: period,
            limits: manifest.limits,
            calendar: calendar,
            encryption: levels.isProtected ? encryption : nil,
            notices: notices,
            addressBudget: addressBudget,
            listBudget: listBudget,
            sharedRuns: inherits ? shared : nil
        )
        // A representation that is left out uses up the limits as well.
        defer { (notices, addressBudget, listBudget) = (segments.notices, segments.addressBudget, segments.listBudget) }
        let part = try segments.part()
        if inherits { shared = segments.made }
        return part
    }
}

extension PresentationPeriod {
    fileprivate init(_ period: DASHManifest.Period) {
        self.init(id: period.element["id"], start: period.start, end: period.end)
        if let identifier = period.element.all("AssetIdentifier").first {
            asset = (identifier["schemeIdUri"] ?? "") + " " + (identifier["value"] ?? "")
        }
        let address = period.element.all("BaseURL").first.map { String($0.text.trimmingWhitespace) }
        host = address.flatMap { try? HTTPURL($0) }?.host
    }
}
