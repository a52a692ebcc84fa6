internal import InstrumentJSON
internal import InstrumentText

/// The format of a request's body: `[{"id", "name", "timestamp", "variables": {…}, "metadata": {…}}, …]`. Members of
/// objects are sorted by the bytes of their names, so that the same actions are the same bytes. The last two are there
/// even if they are empty.
extension ClickstreamAction {
    static func body(of actions: [ClickstreamAction]) -> [UInt8] {
        var writer = JSONWriter(capacity: actions.count * 1024)
        writer.array { writer in
            for action in actions { action.write(to: &writer) }
        }
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("id")
            writer.string(id)
            writer.key("name")
            writer.string(name)
            writer.key("timestamp")
            writer.string(timestamp.rfc3339)
            writer.key("variables")
            writer.json(.object(variables))
            writer.key("metadata")
            writer.json(.object(metadata))
        }
    }
}
