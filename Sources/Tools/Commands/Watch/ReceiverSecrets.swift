internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentFiles
internal import InstrumentWatch

/// Reads the secrets of a receiver: those in a file each time, so that they may be replaced without a restart.
final class ReceiverSecrets: Sendable {
    /// The texts that can be read once only: a pipe is empty afterwards.
    private let kept = Lock<[SecretReference: String]>([:])

    /// The first line of a secret.
    /// - Parameter subject: the secret, in an error.
    func read(_ secret: SecretReference, _ subject: String) throws(WatchSetupError) -> String {
        if !secret.mayChange, let text = kept.withLock({ $0[secret] }) { return text }
        let text = try WatchBackends.read(secret, subject)
        kept.withLock { $0[secret] = text }
        return text
    }
}

extension SecretReference {
    /// Whether the next reading may give another text.
    var mayChange: Bool {
        switch self {
        case .environment: false
        case .file(let path): !SystemFile.isSpecial(path)
        }
    }
}

extension AlertReceiver {
    /// The secrets of a receiver, in a fixed order.
    var secrets: [SecretReference] {
        switch service {
        case .webhook(_, let secret): [secret].compactMap(\.self)
        case .slack(let address), .teams(let address):
            if case .secret(let secret) = address { [secret] } else { [] }
        case .pagerDuty(let key, _), .opsgenie(let key, _): [key]
        case .telegram(let token, _, _, _): [token]
        case .alertmanager(_, let credentials, let token): [credentials, token].compactMap(\.self)
        case .email(let settings): [settings.password].compactMap(\.self)
        }
    }

    /// When the files with the secrets were last changed.
    var secretDates: [String] {
        secrets.compactMap { secret in
            if case .file(let path) = secret { WatchReloader.date(of: path) } else { nil }
        }
    }
}
