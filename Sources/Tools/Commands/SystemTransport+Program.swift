internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentTransport

extension SystemTransport {
    /// Creates a transport of this program, whose requests name the program and its version. Exits with code 2 if
    /// libcurl cannot be used.
    static func ofProgram(
        maxConnectionsPerHost: Int = 16,
        refusingPrivateAddresses isCareful: Bool = false,
        access: AccessOptions? = nil,
        authorities: String? = nil
    ) throws -> SystemTransport {
        var configuration = TransportConfiguration(
            maxConnectionsPerHost: maxConnectionsPerHost,
            allowsPrivateAddresses: !isCareful,
            userAgent: PlayerMonitor.userAgent
        )
        configuration.additionalCAFile = authorities
        access?.apply(to: &configuration)
        do { return try SystemTransport(configuration) } catch { throw ValidationError(error.description) }
    }
}
