public import Instrument
public import InstrumentHTTP

/// A kind of backend that a command line offers: its name, its help, its address, its credentials, and how a backend is
/// made from them.
///
/// The option `--backend`, the configuration of `watch`, the option `--credentials-from`, the help and the completions
/// read this value, so that a backend states each of them once:
///
/// ```swift
/// extension BackendKind {
///     static let acme = BackendKind("acme", summary: "Acme", credentials: .required("a key")) { url, context in
///         let key = try context.requiredCredentials().secret()
///         return AcmeBackend(url, key: key, transport: try context.transport(), report: context.report)
///     }
/// }
/// ```
///
/// An error that `read` or `make` throws ends the command with the error's description as its message. A description
/// must not contain a secret.
public struct BackendKind: Sendable {
    /// The name in front of the colon of `--backend NAME:ADDRESS`, and the key in a configuration of `watch`.
    ///
    /// It has lowercase letters, digits and hyphens, and is not `credentials`, `keep` or `rotate`.
    package let name: String
    /// What the help says: the service, and what its address must have.
    package let summary: String
    /// The form of the address.
    package let address: AddressForm
    /// The form of the credentials; nil for a backend without credentials.
    package let credentials: CredentialsForm?
    /// Whether the backend writes samples to standard output, where nothing else may write then.
    package let writesOutput: Bool
    private let prepare: @Sendable (String) throws -> @Sendable (BackendContext) throws -> any Backend

    /// Creates a kind of backend without an address.
    /// - Parameters:
    ///   - name: the name.
    ///   - summary: what the help says.
    ///   - writesOutput: whether the backend writes samples with ``BackendContext/write``.
    ///   - credentials: the form of the credentials; nil without credentials.
    ///   - make: creates the backend.
    public init(
        _ name: String,
        summary: String,
        writesOutput: Bool = false,
        credentials: CredentialsForm? = nil,
        make: @escaping @Sendable (_ context: BackendContext) throws -> any Backend
    ) {
        (self.name, self.summary, self.address, self.credentials) = (name, summary, .none, credentials)
        self.writesOutput = writesOutput
        prepare = { _ in make }
    }

    /// Creates a kind of backend with an address of any form.
    /// - Parameters:
    ///   - name: the name.
    ///   - summary: what the help says.
    ///   - address: the form of the address.
    ///   - credentials: the form of the credentials; nil without credentials.
    ///   - read: reads the text behind the colon, and throws if a backend could not use it.
    ///   - make: creates the backend for an address that `read` returned.
    public init<Address: Sendable>(
        _ name: String,
        summary: String,
        address: AddressForm,
        credentials: CredentialsForm? = nil,
        read: @escaping @Sendable (_ text: String) throws -> Address,
        make: @escaping @Sendable (_ address: Address, _ context: BackendContext) throws -> any Backend
    ) {
        (self.name, self.summary, self.address, self.credentials) = (name, summary, address, credentials)
        writesOutput = false
        prepare = { text in
            let address = try read(text)
            return { context in try make(address, context) }
        }
    }

    /// Creates a kind of backend whose address is an http or https URL.
    /// - Parameters:
    ///   - name: the name.
    ///   - summary: what the help says.
    ///   - credentials: the form of the credentials; nil without credentials.
    ///   - make: creates the backend for a URL.
    public init(
        _ name: String,
        summary: String,
        credentials: CredentialsForm? = nil,
        make: @escaping @Sendable (_ url: HTTPURL, _ context: BackendContext) throws -> any Backend
    ) {
        self.init(
            name,
            summary: summary,
            address: .url(),
            credentials: credentials,
            read: { try HTTPURL(address: $0, of: name, prefix: name + ":") },
            make: make
        )
    }

    /// A backend of this kind. Throws if the address has not the form of the kind.
    ///
    /// - Parameter address: the text behind the colon; nil without a colon.
    package func backend(at address: String?) throws(BackendKindError) -> ChosenBackend {
        if self.address == .none, let address {
            let use = writesOutput ? "writes to standard output and takes" : "takes"
            throw BackendKindError("\(name) \(use) no address (found '\(address)')")
        }
        if self.address == .path, address?.isEmpty ?? true {
            throw BackendKindError("\(name) needs a path, such as \(name):samples.ndjson")
        }
        do {
            return ChosenBackend(kind: self, address: address, make: try prepare(address ?? ""))
        } catch let error as BackendKindError {
            throw error
        } catch let error as HTTPError {
            throw BackendKindError("\(name): \(error.message)")
        } catch {
            throw BackendKindError("\(name): \(error)")
        }
    }

    /// `influx:URL: InfluxDB`, for the help.
    package var helpLine: String {
        let forms = address.forms.map { "\(name):\($0)" }
        let all = forms.dropLast().joined(separator: ", ")
        let form = all.isEmpty ? forms.last ?? name : "\(all) or \(forms.last ?? name)"
        return "\(form): \(summary)\(credentials?.isRequired == true ? "; needs --credentials-from" : "")"
    }
}
