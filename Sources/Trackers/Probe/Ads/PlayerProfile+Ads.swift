extension PlayerProfile {
    /// The profile for the media of an ad: an ad that cannot be loaded gives way at once to the next one or to the
    /// content, as with progressive media, because the viewer waits without a picture.
    ///
    /// A manifest is asked for once; nothing is asked for again that a server has denied (4xx).
    var forAds: PlayerProfile {
        var profile = self
        for kind in ResourceKind.allCases {
            profile[retry: kind].statuses = profile[retry: kind].statuses.withoutDenials
            profile[retry: kind].continuesWhileBuffered = false
        }
        for kind in [ResourceKind.manifest, .playlist] {
            (profile[retry: kind].maximumRetries, profile[retry: kind].maximumTimeoutRetries) = (0, 0)
        }
        return profile
    }
}

extension RetryPolicy.StatusRule {
    /// The rule without the statuses by which a server denies a request.
    fileprivate var withoutDenials: Self {
        let denials = Set(400...499)
        switch self {
        case .all: return .allExcept(denials)
        case .allExcept(let statuses): return .allExcept(statuses.union(denials))
        case .only(let statuses): return .only(statuses.subtracting(denials))
        case .none: return .none
        }
    }
}
