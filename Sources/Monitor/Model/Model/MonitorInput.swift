package import Instrument
package import InstrumentWatch

/// One playback of a stream; the number is unique in the process.
package struct SessionID: Hashable, Sendable {
    /// The slot of the stream in the model.
    package let slot: Int
    /// The number of the session, from 1.
    package let number: Int
    /// The name of the stream.
    package let stream: String

    package init(slot: Int, number: Int, stream: String) {
        (self.slot, self.number, self.stream) = (slot, number, stream)
    }
}

/// How a session ended.
package enum SessionEnding: Hashable, Sendable {
    /// The media reached its end.
    case ended
    /// The monitor stopped the session.
    case stopped
    /// The playback failed; the code groups failures, the message is for people and names no secrets.
    case failed(code: String, message: String)
    /// What plays for the monitor failed, which says nothing of the stream; the reason names no secrets.
    case lost(reason: String)
}

extension SessionEnding {
    /// The ending for people.
    package var label: String {
        switch self {
        case .ended: "the media ended"
        case .stopped: "stopped"
        case .failed(let code, _): "failed (\(code))"
        case .lost(let reason): "the monitor could not play on: \(reason)"
        }
    }

    /// Whether what plays for the monitor failed.
    var isLost: Bool { if case .lost = self { true } else { false } }
}

/// A request of a session.
package struct RequestObservation: Hashable, Sendable {
    /// The kind of a failure.
    package enum Failure: String, Hashable, Sendable {
        /// The server answered with an error status.
        case status
        /// The answer, or its next byte, did not come in time.
        case timedOut
        /// No connection, or one that broke.
        case connection
        /// The host's name is unknown.
        case nameNotFound
        /// A proxy failed, which says nothing of the server.
        case proxy
        /// The TLS connection failed.
        case tls
        /// The answer is not what was requested.
        case content
        /// The player refused the address or a redirect.
        case refused
        /// The player no longer needed the resource, which says nothing of the server.
        case cancelled
    }

    /// `manifest`, `playlist`, `segment`, `subtitles`, `initialization`, `key`, `licence`, `clock` or `steering`.
    package var kind: String
    /// The HTTP status; nil without an answer.
    package var status: Int?
    /// The kind of the failure; nil for a request that succeeded.
    package var failure: Failure?
    /// From the request to the last byte, or to the failure.
    package var total: Duration
    /// Bytes of the body.
    package var byteCount: Int
    /// The address, without user, password, query and fragment; nil if it is unknown.
    package var address: String?
    /// When the request began; nil if it is unknown.
    package var begin: Timestamp?
    /// From the request to the first byte of the body; nil if no byte arrived.
    package var wait: Duration?
    /// The network address of the server that answered; nil if it is unknown.
    package var server: String?

    /// Whether the request failed. A request that the player cancelled did not.
    package var isFailure: Bool { failure != nil && failure != .cancelled }

    /// Creates an observation. A failure without a kind is one of its status or, without a status, of the connection.
    package init(
        kind: String,
        status: Int?,
        isFailure: Bool,
        total: Duration,
        byteCount: Int,
        failure: Failure? = nil,
        address: String? = nil,
        begin: Timestamp? = nil,
        wait: Duration? = nil
    ) {
        (self.kind, self.status, self.address) = (kind, status, address)
        self.failure = failure ?? (isFailure ? (status == nil ? .connection : .status) : nil)
        (self.total, self.byteCount, self.begin, self.wait) = (total, byteCount, begin, wait)
    }
}

/// What a player shows at an instant; nil where a value is unknown.
package struct PlaybackGauges: Hashable, Sendable {
    /// bit/s of the rendition.
    package var bitrate: Int?
    /// Media ahead of the playhead.
    package var buffered: Duration?
    /// The title that the media states; foreign text.
    package var title: String?

    package init(bitrate: Int? = nil, buffered: Duration? = nil, title: String? = nil) {
        (self.bitrate, self.buffered, self.title) = (bitrate, buffered, title)
    }
}

/// What one round of a check found.
package struct CheckObservation: Hashable, Sendable {
    /// A rule that is broken now.
    package struct Broken: Hashable, Sendable {
        /// The name of the rule, or `black`, `freeze`, `silence`.
        package var rule: String
        /// The message for people.
        package var message: String

        package init(rule: String, message: String) { (self.rule, self.message) = (rule, message) }
    }

    package var broken: [Broken]
    /// How long the live playlist has been the same; nil for a stream that is not live.
    package var playlistAge: Duration?
    package var targetDuration: Duration?
    /// The short-term loudness in LUFS; nil if it is not measured.
    package var loudness: Double?
    /// Whether a playlist was read, so that rules that were not broken are kept.
    package var isReadable: Bool
    /// What the check has of faults that begin, by the rule. A rule that is not broken may have some, too: the limit
    /// of a stream decides which age of a playlist is a fault.
    package var evidence: [String: [EvidencePiece]] = [:]
    /// What the playlist or manifest declares and rarely changes, such as the ladder, by subject.
    package var outline: [String: Set<String>] = [:]

    package init(
        broken: [Broken] = [],
        playlistAge: Duration? = nil,
        targetDuration: Duration? = nil,
        loudness: Double? = nil,
        isReadable: Bool = true
    ) {
        (self.broken, self.loudness, self.isReadable) = (broken, loudness, isReadable)
        (self.playlistAge, self.targetDuration) = (playlistAge, targetDuration)
    }
}

/// What a session reports to the model.
package enum MonitorInput: Sendable {
    /// An event of the player, as the hub accepted it.
    case event(Event)
    /// A request that ended.
    case request(RequestObservation)
    /// What the player shows.
    case gauges(PlaybackGauges)
    /// A round of the stream's check.
    case checked(CheckObservation)
    /// The playback is over, and its last event was reported.
    case ended(SessionEnding)
}

/// What a check that a person asked for reports.
package enum CheckProgress: Sendable {
    /// What it has found so far.
    case found(CheckObservation)
    /// It is over: all that it found; nil if it could not run.
    case ended(CheckObservation?)
}

/// What the model asks its owner to do.
package enum MonitorEffect: Hashable, Sendable {
    /// Start a session, with the checks that the stream has.
    case start(SessionID, WatchedStream)
    /// Stop a session; its end is reported as an input.
    case stop(SessionID)
    /// Send a message.
    case notify(AlertMessage)
    /// Check the stream of a slot once, beside its sessions; what is found is reported as ``CheckProgress``.
    case check(Int, WatchedStream)
    /// Keep a piece of evidence.
    case keep(EvidenceEntry, [UInt8])
    /// Delete the piece of evidence with this identifier.
    case forget(String)
}

/// The limits and intervals of a monitor.
package struct MonitorOptions: Hashable, Sendable {
    /// The number of sessions that play at the same time.
    package var maxSessions = 20_000
    /// The number of sessions that play in a tab of the browser at the same time.
    package var maxTabs = 8
    /// The delay between the first starts of two continuous streams.
    package var startSpacing = Duration.milliseconds(20)
    /// The first starts of continuous streams are spread over at most this time.
    package var longestRamp = Duration.seconds(60)
    /// The delay after the first failure; doubles with each further failure.
    package var firstRetryDelay = Duration.seconds(1)
    /// The longest delay until a stream that is down, or for which an alert fires, is tried again. A session that is
    /// down for this long is replaced.
    package var retryInterval = Duration.seconds(30)
    /// The shortest delay between the retries of any two streams, on average, so that many streams that are down do
    /// not take the machine from those that play.
    package var retrySpacing = Duration.milliseconds(50)
    /// A session that has played for this long ends the back-off of earlier failures.
    package var recoveryTime = Duration.seconds(60)
    /// A session that does not end within this time after its stop is given up.
    package var stopLimit = Duration.seconds(30)
    /// The interval between two evaluations of the alerts.
    package var evaluationInterval = Duration.seconds(5)
    /// How long a message waits for further streams with the same reason.
    package var groupDelay = Duration.seconds(10)
    /// How long a broken rule counts as broken after it was last seen broken.
    package var checkHold = Duration.seconds(60)

    package init() {}
}
