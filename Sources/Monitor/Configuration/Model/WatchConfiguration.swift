internal import Instrument
package import InstrumentBackendKinds
package import InstrumentHTTP

/// The configuration of `player-monitor watch`: what is watched, and where samples and alerts go.
package struct WatchConfiguration: Hashable, Sendable {
    /// Where the monitor is; every sample carries it. Nil without a location.
    package var location: String?
    /// The streams, with the defaults and includes applied, in the order of the files.
    package var streams: [WatchedStream] = []
    /// The backends by name.
    package var backends: [String: BackendConfiguration] = [:]
    /// The alerts in their order.
    package var alerts: [AlertConfiguration] = []
    /// The receivers of alerts by name.
    package var receivers: [String: AlertReceiver] = [:]
    /// How alerts become incidents, and planned work.
    package var incidents = IncidentSettings()
    /// Goals over weeks.
    package var objectives: [Objective] = []
    /// Who may use the monitor's server.
    package var access = AccessSettings()
    /// The address of the monitor's page as the readers of messages reach it; nil for messages without a link.
    package var link: HTTPURL?
    /// What is no mistake of form and does nothing, such as an alert that selects no stream.
    package var warnings: [ConfigurationProblem] = []
    /// How the samples of other monitors are judged; nil for a monitor that plays its streams.
    package var places: PlaceSettings?

    /// Creates an empty configuration.
    package init() {}

    /// The address of an incident on the monitor's page; nil without ``link``.
    package func address(ofIncident id: String) -> String? {
        guard let base = link?.description else { return nil }
        return base + (base.hasSuffix("/") ? "" : "/") + "#incident=" + PercentCoding.encoded(id)
    }

    /// The part of the configuration that one of several processes watches; everything but the streams stays.
    package func shard(_ shard: Shard) -> WatchConfiguration {
        var part = self
        part.streams = streams.filter { shard.contains($0.name) }
        return part
    }
}

/// A place in a file of the configuration; line and column are counted from 1.
package struct ConfigurationPlace: Hashable, Sendable, CustomStringConvertible {
    /// The path as it was given.
    package var file: String
    /// The line.
    package var line: Int
    /// The column.
    package var column: Int

    /// Creates a place.
    package init(file: String, line: Int, column: Int) { (self.file, self.line, self.column) = (file, line, column) }

    /// `file:line:column`.
    package var description: String { "\(file):\(line):\(column)" }
}

/// A stream to watch.
package struct WatchedStream: Hashable, Sendable {
    /// The interval at which a stream is played.
    package enum Schedule: Hashable, Sendable {
        /// Without a pause between sessions.
        case continuous
        /// For a while, again and again.
        case sampled(every: Duration, for: Duration)
    }

    /// What plays a stream.
    package enum Player: Hashable, Sendable {
        /// The headless player of this program.
        case probe
        /// A Chromium, on a separate page for the playlist, the MPD or the film.
        case chrome
        /// A Chromium, in which a web page plays what it has.
        case page

        /// Whether a session needs a tab of the browser.
        package var needsTab: Bool { self != .probe }
    }

    /// The unique name.
    package var name: String
    /// The address of a playlist, of an MPD, or of the web page.
    package var url: HTTPURL
    /// What plays the stream.
    package var player = Player.probe
    /// The labels of the metrics and of all samples.
    package var labels: [String: String] = [:]
    /// The interval at which the stream is played.
    package var schedule = Schedule.sampled(every: .seconds(60), for: .seconds(30))
    /// How long a session may show no picture before the stream counts as down; nil for the usual time.
    package var downDelay: Duration?
    /// The name of the player profile; nil for the standard one.
    package var profile: String?
    /// The headers of all requests for the stream.
    package var headers: [StreamHeader] = []
    /// The checks.
    package var checks = CheckSettings()
    /// The names of the backends.
    package var backends: [String] = []
    /// The stream's place in the configuration.
    package var place: ConfigurationPlace
    /// Who plays the stream; nil for this monitor.
    package var origin: StreamOrigin?
}

/// The checks of a stream; nil checks nothing.
package struct CheckSettings: Hashable, Sendable {
    /// The shortest interval of black pictures that is a fault.
    package var black: Duration?
    /// The shortest interval of frozen pictures that is a fault.
    package var freeze: Duration?
    /// The shortest interval of silence that is a fault.
    package var silence: Duration?
    /// The age of a live playlist that is a fault, in target durations.
    package var stale: Double?
    /// Whether the loudness is measured.
    package var loudness: Bool?
    /// Whether every picture is decoded for `black` and `freeze`, and not the keyframes alone.
    package var allPictures: Bool?
    /// Whether the rules on playlists and manifests are applied.
    package var rules: Bool?
    /// The number of segments of each rendition that are fetched at the start and after each reload, for the rules on
    /// segments; nil and 0 fetch none.
    package var segments: Int?
    /// Rules that are not applied.
    package var ignoredRules: [String] = []

    /// Creates settings that check nothing.
    package init() {}

    /// Whether pictures or sound are decoded.
    package var needsMedia: Bool { black != nil || freeze != nil || silence != nil || loudness == true }

    /// Whether the checks look for a fault.
    /// - Parameter rule: the name of a rule, or `black`, `freeze`, `silence`.
    package func looks(for rule: String) -> Bool {
        switch rule {
        case "black": black != nil
        case "freeze": freeze != nil
        case "silence": silence != nil
        case "manifest-unavailable": isOn
        case "stale" where stale != nil: true
        default: rules == true && !ignoredRules.contains(rule)
        }
    }

    /// Whether anything is checked.
    package var isOn: Bool { needsMedia || rules == true || stale != nil }
}

/// A backend.
package struct BackendConfiguration: Hashable, Sendable {
    /// The kind and its address.
    package var backend: ChosenBackend
    /// The secret of the service.
    package var credentials: SecretReference?
    /// The size at which a file is rotated, in bytes.
    package var rotation: Int64?
    /// The duration for which rotated files are kept.
    package var retention: Duration?
    /// The backend's place in the configuration.
    package var place: ConfigurationPlace
}

/// An alert.
package struct AlertConfiguration: Hashable, Sendable {
    /// The unique name.
    package var name: String
    /// The condition.
    package var condition: AlertExpression
    /// The duration for which the condition must be true before the alert is sent.
    package var delay = Duration.zero
    /// How long the condition must not hold before the alert is resolved; nil for `delay`, and at least 30 s.
    package var keep: Duration?
    /// The condition that keeps an alert that was sent (hysteresis); nil for `condition`.
    package var keepWhile: AlertExpression?
    /// The names of the receivers.
    package var receivers: [String] = []
    /// How urgent the alert is. Critical unless the configuration says otherwise: no receiver takes it for less.
    package var severity = AlertSeverity.critical
    /// The address of the instructions for the person who gets the alert.
    package var runbook: HTTPURL?
    /// The alert's place in the configuration.
    package var place: ConfigurationPlace
}

extension WatchedStream {
    /// Creates a stream with the default schedule, without checks and labels.
    package init(name: String, url: HTTPURL, place: ConfigurationPlace) {
        self.init(name: name, url: url, labels: [:], place: place)
    }
}

extension WatchedStream {
    /// Whether labels select the stream; `stream` and `host` are known, too.
    package func matches(_ matchers: [String: String]) -> Bool {
        matchers.allSatisfy { name, value in
            switch name {
            case "stream": self.name == value || origin?.stream == value
            case "host": url.host == value
            default: labels[name] == value
            }
        }
    }
}

extension AlertConfiguration {
    /// The conditions, with those that keep an alert that fires.
    var allConditions: [AlertExpression.Condition] { condition.conditions + (keepWhile?.conditions ?? []) }

    /// Whether the labels of every condition select the stream.
    package func concerns(_ stream: WatchedStream) -> Bool {
        allConditions.allSatisfy { condition in
            condition.labels.allSatisfy { name, value in
                switch name {
                case "rule": true
                case "stream": stream.name == value || stream.origin?.stream == value
                case "host": (stream.labels[name] ?? stream.url.host) == value
                default: stream.labels[name] == value
                }
            }
        }
    }

    /// Creates an alert without delay and receivers.
    package init(name: String, condition: AlertExpression, place: ConfigurationPlace) {
        self.init(name: name, condition: condition, delay: .zero, place: place)
    }
}
