/// What a player does when a request fails.
///
/// At each failure, the first possible response counts. Where none is possible, the playback ends with an error when
/// the buffer has been played; a playlist or manifest that was loaded before is the exception (``failedReload``).
///
/// ```
/// // Three attempts, then the next server, then the end.
/// FailurePlan([.retry, .useOtherLocation(excludedFor: nil)])
/// ```
package struct FailurePlan: Hashable, Sendable {
    /// The failures that count for the number of retries and their delays.
    package enum Counting: Hashable, Sendable {
        /// Those of the same resource.
        case perResource
        /// Those of all segments, initialization sections and keys, whatever the variant and the track. A variant's
        /// failures are forgotten when a segment of its main track arrives.
        case acrossVariants
    }

    /// What follows a failed reload of a playlist or manifest, once no response is possible.
    package enum FailedReload: Hashable, Sendable {
        /// The earlier one stays in use, and the next reload comes after this time.
        case keepsTrying(after: Duration)
        /// The earlier one stays in use, and no reload follows. An error that is not fatal tells so.
        case stopsReloading
        /// The playback ends with an error when the buffer has been played.
        case ends
    }

    /// The responses to a failure, in order.
    package var responses: [FailureResponse]
    /// The failures that count for the retries.
    package var counting: Counting
    /// What follows a failed reload.
    package var failedReload: FailedReload
    /// The wait before the first request of another variant or another audio rendition; nil for none.
    package var changeDelay: RetryBackoff?
    /// Whether the responses to a failed reload include other variants and servers; else retries alone.
    package var reloadsUseAlternatives: Bool

    /// Creates a plan.
    package init(
        _ responses: [FailureResponse],
        counting: Counting = .perResource,
        changeDelay: RetryBackoff? = nil,
        failedReload: FailedReload = .keepsTrying(after: .seconds(1)),
        reloadsUseAlternatives: Bool = true
    ) {
        self.responses = responses
        self.counting = counting
        self.changeDelay = changeDelay
        self.failedReload = failedReload
        self.reloadsUseAlternatives = reloadsUseAlternatives
    }
}

/// A response of a player to a failed request.
package enum FailureResponse: Hashable, Sendable {
    /// The failures that a response is for.
    package enum Condition: Hashable, Sendable {
        /// All.
        case any
        /// All but timeouts.
        case exceptTimeouts
        /// Those with one of these HTTP statuses.
        case statuses(Set<Int>)

        /// Whether a failure is one of them.
        package func holds(for failure: RetryPolicy.Failure) -> Bool {
            switch (self, failure) {
            case (.any, _): true
            case (.exceptTimeouts, let failure): failure != .timeout
            case (.statuses(let statuses), .status(let status)): statuses.contains(status)
            case (.statuses, _): false
            }
        }
    }

    /// Repeats the request, as the retry policy of its kind allows.
    case retry
    /// Repeats the request after the delays of its policy, whatever the status, as often as the policy allows. Applies
    /// to what a track needs, and not to a manifest.
    case retryAnyFailure
    /// Fetches from another server that the manifest names (DASH `BaseURL`, HLS redundant streams and pathways), and
    /// excludes the failing one for this time (nil: for the rest of the playback).
    case useOtherLocation(excludedFor: Duration?, after: Condition = .any)
    /// Takes another variant after a failure of the main track, as the rule decides, and excludes the failing one for
    /// this time (nil: for the rest of the playback).
    case useOtherVariant(excludedFor: Duration?, after: Condition = .any)
    /// Takes the next lower variant for the next segment, below the lowest one the highest, and excludes the failing
    /// one for the rest of the playback. After a failure of audio, only a variant with other audio.
    case useNextLowerVariant
    /// Takes another audio rendition of the variant in the same language after a failure of audio, and excludes the
    /// failing one for this time.
    case useOtherAudio(excludedFor: Duration, after: Condition = .any)
    /// Continues behind the segment.
    case skipSegment
    /// Continues behind the segment, without an error, in a live stream that lists a later one.
    case skipLiveSegment
    /// Begins with the first attempt again after this time, in a live stream.
    case restartLive(after: Duration)
}
