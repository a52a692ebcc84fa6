package import InstrumentManifests

/// A rule that a stream must keep: a name, the text that requires it, and the checks that find where it is broken.
///
/// The set is open: an app adds rules to those of ``Rule/all``.
///
/// ```swift
/// let short = Rule(
///     "short-segments", .warning, "Segments are shorter than a second",
///     explanation: "Each segment costs a request; short segments raise the load of the CDN.",
///     source: "house rule 7",
///     checks: [.media { playlist, _ in
///         playlist.tags("EXTINF").filter { (Double($0.value.prefix { $0 != "," }) ?? 1) < 1 }.prefix(1).map {
///             Problem(
///                 found: "\($0.value) s", expected: "at least 1 s",
///                 advice: "Lengthen the segments.", line: $0.line
///             )
///         }
///     }]
/// )
/// var run = RuleRun(rules: Rule.all + [short])
/// ```
/// Checks are pure functions: they are called on the thread of ``RuleRun/observe(_:as:)`` and must not block.
public struct Rule: Sendable, Identifiable {
    /// The name of a rule in kebab case, such as `media-sequence-backwards`; an open set.
    public struct ID: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
        /// The name.
        public let description: String
        /// Creates an identifier from a name.
        public init(_ description: String) { self.description = description }
        /// Creates an identifier from a name.
        public init(stringLiteral value: String) { description = value }
        /// In the order of the names.
        public static func < (left: ID, right: ID) -> Bool { left.description < right.description }
    }

    /// How severe a broken rule is.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// Players work around the fault, or the source says SHOULD.
        case warning
        /// Players fail or show the wrong media, or the source says MUST.
        case error
    }

    /// A check on one kind of observation. Outside this package, checks read texts, playlists and failed requests.
    public struct Check: Sendable {
        /// The observations that a check reads.
        package enum Input: Sendable {
            /// Each playlist or manifest that was fetched, also one that cannot be parsed.
            case text(@Sendable (TextObservation, StreamHistory) -> [Problem])
            /// Each resource that could not be fetched.
            case failure(@Sendable (FetchFailure, StreamHistory) -> [Problem])
            /// Each multivariant playlist.
            case multivariant(@Sendable (MultivariantVersion, StreamHistory) -> [Problem])
            /// Each media playlist, also when a reload gave the same content.
            case media(@Sendable (MediaPlaylistVersion, RenditionHistory, StreamHistory) -> [Problem])
            /// Each MPD.
            case manifest(@Sendable (ManifestVersion, StreamHistory) -> [Problem])
            /// Each segment that was fetched.
            case segment(@Sendable (SegmentFacts, RenditionHistory, StreamHistory) -> [Problem])
            /// Each answer of a low-latency server to a delivery directive.
            case directive(@Sendable (DirectiveAnswer, RenditionHistory) -> [Problem])
            /// Each answer of a server that a manifest names beside its media.
            case server(@Sendable (ServerAnswer, StreamHistory) -> [Problem])
            /// Each rendition at the end of a check, with all renditions.
            case rendition(@Sendable (RenditionSummary, [RenditionSummary], StreamHistory) -> [Problem])
        }

        package let input: Input
        /// The tags that explain what the check finds where their names are written wrongly in the playlist.
        ///
        /// One fault is one finding: ``RuleRun`` leaves these out, because `playlist-attribute-invalid` names the tag.
        package private(set) var explanations: Set<TagName> = []

        init(input: Input) { self.input = input }

        /// Returns the check with tags that explain its findings where their names are written wrongly.
        package func explained(by tags: TagName...) -> Check {
            var check = self
            check.explanations.formUnion(tags)
            return check
        }
    }

    /// The name.
    public let id: ID
    /// How severe a broken rule is.
    public let severity: Severity
    /// The fault in a few words.
    public let title: String
    /// The reason for which the fault matters to viewers.
    public let explanation: String
    /// The text that requires the rule, with its section.
    public let source: String
    /// The checks that find where the rule is broken.
    public let checks: [Check]

    /// Creates a rule.
    public init(
        _ id: ID,
        _ severity: Severity,
        _ title: String,
        explanation: String,
        source: String,
        checks: [Check]
    ) {
        self.id = id
        self.severity = severity
        self.title = title
        self.explanation = explanation
        self.source = source
        self.checks = checks
    }
}

extension Rule.Check {
    /// Checks each playlist or manifest that was fetched, also one that cannot be parsed.
    public static func text(_ check: @escaping @Sendable (TextObservation, StreamHistory) -> [Problem]) -> Self {
        Self(input: .text(check))
    }

    /// Checks each resource that could not be fetched.
    public static func failure(_ check: @escaping @Sendable (FetchFailure, StreamHistory) -> [Problem]) -> Self {
        Self(input: .failure(check))
    }

    /// Checks each multivariant playlist.
    public static func multivariant(
        _ check: @escaping @Sendable (MultivariantVersion, StreamHistory) -> [Problem]
    ) -> Self {
        Self(input: .multivariant(check))
    }

    /// Checks each media playlist, also when a reload gave the same content.
    public static func media(
        _ check: @escaping @Sendable (MediaPlaylistVersion, StreamHistory) -> [Problem]
    ) -> Self {
        .media { playlist, _, history in check(playlist, history) }
    }

    package static func media(
        _ check: @escaping @Sendable (MediaPlaylistVersion, RenditionHistory, StreamHistory) -> [Problem]
    ) -> Self {
        Self(input: .media(check))
    }

    package static func manifest(_ check: @escaping @Sendable (ManifestVersion, StreamHistory) -> [Problem]) -> Self {
        Self(input: .manifest(check))
    }

    package static func segment(
        _ check: @escaping @Sendable (SegmentFacts, RenditionHistory, StreamHistory) -> [Problem]
    ) -> Self {
        Self(input: .segment(check))
    }

    package static func directive(
        _ check: @escaping @Sendable (DirectiveAnswer, RenditionHistory) -> [Problem]
    ) -> Self {
        Self(input: .directive(check))
    }

    package static func server(_ check: @escaping @Sendable (ServerAnswer, StreamHistory) -> [Problem]) -> Self {
        Self(input: .server(check))
    }

    package static func rendition(
        _ check: @escaping @Sendable (RenditionSummary, [RenditionSummary], StreamHistory) -> [Problem]
    ) -> Self {
        Self(input: .rendition(check))
    }
}
