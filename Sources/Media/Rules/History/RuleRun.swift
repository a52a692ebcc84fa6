internal import Instrument
internal import InstrumentHTTP
public import InstrumentManifests
internal import InstrumentXML

/// Applies rules to what is observed of one stream, and remembers what the rules need.
///
/// ```swift
/// var run = RuleRun()
/// run.observe(FetchedText(url: url, bytes: body, fetched: clock.timestamp), as: .root)
/// for finding in run.findings { print(finding.rule, finding.message) }
/// ```
/// A value without clock or network. Memory is bounded: the latest two versions of each playlist, the latest segments,
/// and a hundred findings of each rule.
public struct RuleRun: Sendable {
    /// The role of a fetched text.
    public enum Role: Hashable, Sendable {
        /// The address of the stream: a multivariant playlist, a media playlist or an MPD.
        case root
        /// The media playlist of a rendition, by the rendition's name.
        case rendition(String)
    }

    /// The number of findings that are kept of each rule; further ones are only counted. A rule that every segment
    /// breaks leaves room for the others.
    static let mostFindings = 100

    /// The rules.
    public let rules: [Rule]
    /// The history of the stream.
    package private(set) var history = StreamHistory()
    /// The broken rules so far, one for each fault of a rule and resource, in the order of their discovery.
    public private(set) var findings: [Finding] = []
    /// The number of observations that broke a rule at a further resource, after the rule had too many findings.
    public private(set) var omittedFindings = 0
    /// The sums of each broken rule, including findings that were left out.
    package private(set) var sums: [Rule.ID: Sum] = [:]
    private var positions: [Place: Int] = [:]
    /// The places of the rules that were applied to anything.
    private var appliedPlaces: Set<Int> = []
    private let limits: ManifestLimits

    /// The sum of a broken rule's findings.
    package struct Sum: Hashable, Sendable {
        /// The number of observations that broke the rule.
        package var count = 0
        /// The latest violation.
        package var latest: Finding
        /// The number of findings.
        var findings = 0
    }

    private struct Place: Hashable {
        var rule: Rule.ID
        var resource: String
        var fault: String?
    }

    /// Creates a run.
    public init(rules: [Rule] = Rule.all, limits: ManifestLimits = ManifestLimits()) {
        self.rules = rules
        self.limits = limits
    }

    /// The rules that were applied to nothing, because nothing of the kind that they judge was observed.
    package var unappliedRules: [Rule.ID] {
        rules.indices.filter { !appliedPlaces.contains($0) }.map { rules[$0].id }
    }

    /// Applies the rules to a playlist or manifest.
    public mutating func observe(_ text: FetchedText, as role: Role) {
        let content = ManifestContent(text.bytes)
        let isDASH = role == .root && (history.manifest != nil || isManifest(text, content))
        var observation = TextObservation(
            url: text.url,
            fetched: text.fetched,
            format: isDASH ? .dash : .hls,
            contentType: text.contentType
        )
        do throws(ManifestError) {
            observation.notices = isDASH ? try observeManifest(text) : try observePlaylist(text, as: role)
            if let requested = text.requestedURL, requested.isSecure, !text.url.isSecure {
                observation.notices.append(ManifestNotice(.redirectedToHTTP))
            }
        } catch {
            observation.notices = error.causes
            observation.failure = TextObservation.Failure(
                message: error.message,
                line: error.line,
                code: error.code,
                content: content
            )
        }
        report(observation, at: text.url)
    }

    /// Applies the rules to a segment.
    package mutating func observe(_ facts: SegmentFacts) {
        // The rules compare the segment with what was known before.
        guard let before = history.update(facts.rendition, { _ in }) else { return }
        apply(at: facts.url.description, without: before.miswrittenTags) { check, history in
            if case .segment(let check) = check.input { check(facts, before, history) } else { nil }
        }
        _ = history.update(facts.rendition) { $0.record(facts) }
    }

    /// Takes the answer of the clock that the MPD names, by which the rules judge the MPDs that are observed from now
    /// on.
    package mutating func observe(_ reading: ClockReading) { history.clock = reading }

    /// Applies the rules to the answer of a low-latency server to a delivery directive.
    package mutating func observe(_ answer: DirectiveAnswer) {
        guard let rendition = history.rendition(answer.rendition) else { return }
        apply(at: answer.url.description) { check, _ in
            if case .directive(let check) = check.input { check(answer, rendition) } else { nil }
        }
    }

    /// Applies the rules to the answer of a server that the manifest names beside its media.
    package mutating func observe(_ answer: ServerAnswer) {
        apply(at: answer.url.description) { check, history in
            if case .server(let check) = check.input { check(answer, history) } else { nil }
        }
    }

    /// Applies the rules to the renditions at the end of a check.
    package mutating func observe(_ summaries: [RenditionSummary]) {
        for summary in summaries {
            let tags = history.rendition(summary.rendition)?.miswrittenTags ?? []
            apply(at: summary.url.description, without: tags) { check, history in
                if case .rendition(let check) = check.input { check(summary, summaries, history) } else { nil }
            }
        }
    }

    /// Applies the rules to a resource that could not be fetched.
    public mutating func observe(_ failure: FetchFailure) {
        apply(at: failure.url.description) { check, history in
            if case .failure(let check) = check.input { check(failure, history) } else { nil }
        }
    }

    /// Whether a text is an MPD by its content, or came in the place of one by its name.
    private func isManifest(_ text: FetchedText, _ content: ManifestContent) -> Bool {
        let path = text.url.path.lowercased()
        switch content {
        case .mpd, .markup: return !path.hasSuffix(".m3u8")
        case .playlist, .misplacedPlaylist, .addressList: return false
        case .page, .json, .media, .compressed, .text, .binary, .empty: return path.hasSuffix(".mpd")
        }
    }

    private mutating func report(_ observation: TextObservation, at url: HTTPURL) {
        apply(at: url.description) { check, history in
            if case .text(let check) = check.input { check(observation, history) } else { nil }
        }
    }

    /// Applies the rules to an observation, and leaves out what the miswritten tags of its playlist explain.
    private mutating func apply(
        at resource: String,
        without miswritten: Set<TagName> = [],
        _ problems: (Rule.Check, StreamHistory) -> [Problem]?
    ) {
        for (place, rule) in rules.enumerated() {
            for check in rule.checks {
                guard let problems = problems(check, history) else { continue }
                appliedPlaces.insert(place)
                guard check.explanations.isDisjoint(with: miswritten) else { continue }
                for problem in problems { add(problem, of: rule, at: resource) }
            }
        }
    }

    private mutating func add(_ problem: Problem, of rule: Rule, at resource: String) {
        let finding = Finding(
            rule: rule.id,
            severity: rule.severity,
            title: rule.title,
            source: rule.source,
            resource: resource,
            problem: problem
        )
        var sum = sums[rule.id] ?? Sum(latest: finding)
        sum.latest = finding
        sum.count += 1
        let place = Place(rule: rule.id, resource: resource, fault: problem.fault)
        if let position = positions[place] {
            findings[position].count += 1
        } else if sum.findings < Self.mostFindings {
            sum.findings += 1
            positions[place] = findings.count
            findings.append(finding)
        } else {
            omittedFindings += 1
        }
        sums[rule.id] = sum
    }
}

extension RuleRun {
    private mutating func observeManifest(_ text: FetchedText) throws(ManifestError) -> [ManifestNotice] {
        let content = ManifestContent(text.bytes)
        guard content.isMarkup else {
            throw ManifestError(.notAManifest, "the address must have an MPD (found \(content))", url: text.url)
        }
        let root: MarkupElement
        do {
            root = try MarkupReader.read(text.bytes, as: "the MPD", limits: MarkupLimits(limits))
        } catch {
            throw ManifestError(error, at: text.url)
        }
        let version = ManifestVersion(
            url: text.url,
            fetched: text.fetched,
            serverTime: text.serverTime,
            clock: history.clock,
            root: text.remote.resolved(root, at: text.url)
        )
        let parsed: Result<Presentation, ManifestError>
        do throws(ManifestError) {
            parsed = .success(
                try Presentation(
                    parsing: text.bytes,
                    at: text.url,
                    remote: text.remote,
                    now: text.fetched.wallTime,
                    clockOffset: history.clockOffset,
                    limits: limits
                )
            )
        } catch {
            parsed = .failure(error)
        }
        if root.name == "MPD" {
            history.record(version)
            if case .success(let presentation) = parsed { history.presentation = presentation }
            apply(at: text.url.description) { check, history in
                if case .manifest(let check) = check.input { check(version, history) } else { nil }
            }
        }
        return try parsed.get().notices
    }

    private mutating func observePlaylist(
        _ text: FetchedText,
        as role: Role
    ) throws(ManifestError) -> [ManifestNotice] {
        let name = if case .rendition(let given) = role { given } else { "main" }
        if role != .root || history.multivariant == nil,
            let known = history.rendition(name)?.current?.repeated(by: text)
        {
            observe(known, of: name)
            return known.playlist.notices
        }
        let definitions = history.presentation?.definitions ?? [:]
        let playlist = try HLSPlaylist(parsing: text.bytes, at: text.url, definitions: definitions, limits: limits)
        let entries = PlaylistEntries(reading: text.bytes, at: text.url, definitions: definitions, limits: limits)
        switch playlist {
        case .multivariant(let playlist):
            guard role == .root else {
                throw ManifestError(.malformed, "a media playlist was expected, and a multivariant playlist came")
            }
            let version = MultivariantVersion(url: text.url, playlist: playlist, entries: entries)
            history.presentation = Presentation(playlist)
            history.multivariant = version
            apply(at: text.url.description, without: playlist.miswrittenTags) { check, history in
                if case .multivariant(let check) = check.input { check(version, history) } else { nil }
            }
            return history.presentation?.notices ?? playlist.notices
        case .media(let playlist):
            if role == .root { history.presentation = Presentation(playlist) }
            observe(
                MediaPlaylistVersion(url: text.url, fetched: text.fetched, playlist: playlist, entries: entries),
                of: name
            )
            return playlist.notices
        }
    }

    private mutating func observe(_ version: MediaPlaylistVersion, of name: String) {
        guard let rendition = history.update(name, { $0.record(version) }) else { return }
        apply(at: version.url.description, without: rendition.miswrittenTags) { check, history in
            if case .media(let check) = check.input { check(version, rendition, history) } else { nil }
        }
        _ = history.update(name) { $0.remember(DateRangeTag.all(in: version).map { ($0.id, $0.attributes) }) }
    }
}
