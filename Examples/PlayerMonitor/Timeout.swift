internal import ArgumentParser

extension ParsableCommand {
    /// Refuses a value of `--timeout`, in seconds, that is no time, such as `nan`, or that is not below the limit.
    func validate(timeout: Double, below limit: Double) throws {
        guard timeout > 0, timeout < limit else {
            throw ValidationError("--timeout must be a number above 0 (found \(timeout))")
        }
    }
}
