import Instrument
import InstrumentJSON
import InstrumentTestKit

@testable import InstrumentXAPI

/// Statements at random that keep the rules.
struct RandomStatements {
    var generator: SeededGenerator
    let version: XAPIVersion

    mutating func next() -> Statement {
        let object = object()
        var statement = Statement(
            id: maybe { $0.id() },
            actor: actor(),
            verb: Statement.Verb(iri(), display: map()),
            object: object,
            result: result(),
            context: context(ofActivity: { if case .activity = object { true } else { false } }()),
            timestamp: maybe { $0.time() },
            attachments: list { $0.attachment() }
        )
        statement.stored = maybe { $0.time() }
        statement.authority = maybe { .agent($0.agent()) }
        statement.version = pick([nil, "1.0", "1.0.3", version == .v2 ? "2.0.0" : nil])
        return statement
    }

    private mutating func flip() -> Bool { Bool.random(using: &generator) }
    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &generator)]
    }
    private mutating func maybe<Value>(_ make: (inout RandomStatements) -> Value) -> Value? {
        flip() ? make(&self) : nil
    }
    private mutating func list<Value>(_ make: (inout RandomStatements) -> Value) -> [Value] {
        (0..<Int.random(in: 0...2, using: &generator)).map { _ in make(&self) }
    }

    private mutating func text() -> String { pick(["", "a", "é日\u{1F600}", "\"\\\n\t", "mailto:", "P3Y"]) }
    private mutating func iri() -> IRI {
        pick(["https://example.org/a?b=c#d", "urn:a", "http://example.com/فعل", "tag:b"])
    }
    private mutating func id() -> SampleID { SampleID(log: generator.next(), sequence: generator.next()) }
    private mutating func time() -> WallTime {
        WallTime(milliseconds: .random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator))
    }

    private mutating func map() -> LanguageMap {
        pick([[:], ["en": text()], ["en-US": "a", "zh-Hant": "日", "x-whatever": ""]])
    }

    private mutating func extensions() -> Extensions {
        pick([[:], [iri(): nil], ["urn:x": ["a": [1, 2.5, true, nil, [:]]], "urn:y": ""]])
    }

    private mutating func identifier() -> Statement.Identifier {
        pick([
            .mailbox("mailto:a@example.org"), .mailboxSHA1("ebd31e95054c018b10727ccffd2ef2ec3a016ee9"), .openID(iri()),
            .account(homePage: iri(), name: "a"),
        ])
    }

    private mutating func agent() -> Statement.Agent { Statement.Agent(identifier(), name: maybe { $0.text() }) }

    private mutating func group() -> Statement.Group {
        flip()
            ? Statement.Group(identifier(), name: maybe { $0.text() }, members: list { $0.agent() })
            : Statement.Group(members: [agent()] + list { $0.agent() }, name: maybe { $0.text() })
    }

    private mutating func actor() -> Statement.Actor { flip() ? .agent(agent()) : .group(group()) }

    private mutating func activity() -> Statement.Activity { Statement.Activity(iri(), definition: definition()) }

    private mutating func definition() -> Statement.Definition? {
        let definition = Statement.Definition(
            name: map(),
            description: map(),
            type: maybe { $0.iri() },
            moreInfo: maybe { $0.iri() },
            interaction: maybe { $0.interaction() },
            extensions: extensions()
        )
        return definition == Statement.Definition() ? nil : definition
    }

    private mutating func interaction() -> Statement.Interaction {
        let kind: Statement.Interaction.Kind = pick([
            .trueFalse, .choice(components()), .fillIn, .longFillIn,
            .matching(source: components(), target: components()), .performance(components()),
            .sequencing(components()),
            .likert(components()), .numeric, .other,
        ])
        return Statement.Interaction(kind, correctResponses: pick([nil, [], ["a[,]b", ""]]))
    }

    private mutating func components() -> [Statement.Interaction.Component] {
        flip() ? [] : [.init("a", description: map()), .init("b")]
    }

    private mutating func object() -> Statement.Object {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .actor(actor())
        case 1: return .statementRef(id())
        case 2:
            let object: Statement.SubStatement.Object = pick([
                .activity(activity()), .actor(actor()), .statementRef(id()),
            ])
            let isActivity = if case .activity = object { true } else { false }
            return .subStatement(
                Statement.SubStatement(
                    actor: actor(),
                    verb: Statement.Verb(iri(), display: map()),
                    object: object,
                    result: result(),
                    context: context(ofActivity: isActivity),
                    timestamp: maybe { $0.time() },
                    attachments: list { $0.attachment() }
                )
            )
        default: return .activity(activity())
        }
    }

    private mutating func result() -> Statement.Result? {
        let min = Double(Int.random(in: -9...9, using: &generator))
        let score = Statement.Score(
            scaled: maybe { $0.pick([-1, 0.125, 1]) },
            raw: min + 0.5,
            min: min,
            max: maybe { _ in min + 1 }
        )
        let result = Statement.Result(
            score: flip() ? score : nil,
            success: maybe { $0.flip() },
            completion: maybe { $0.flip() },
            response: maybe { $0.text() },
            duration: maybe { $0.pick([ISODuration(.seconds(61.234)), ISODuration("P3Y") ?? ISODuration(.zero)]) },
            extensions: extensions()
        )
        return result == Statement.Result() ? nil : result
    }

    private mutating func context(ofActivity: Bool) -> Statement.Context? {
        let activities = Statement.ContextActivities(
            parent: list { $0.activity() },
            grouping: list { $0.activity() },
            category: list { $0.activity() },
            other: list { $0.activity() }
        )
        var context = Statement.Context(
            registration: maybe { $0.id() },
            instructor: maybe { $0.actor() },
            team: maybe { $0.group() },
            activities: activities,
            revision: ofActivity ? maybe { $0.text() } : nil,
            platform: ofActivity ? maybe { $0.text() } : nil,
            language: pick([nil, "en", "de-CH"]),
            statement: maybe { $0.id() },
            extensions: extensions()
        )
        if version == .v2 {
            context.agents = list { .init($0.agent(), relevantTypes: $0.list { $0.iri() }) }
            context.groups = list { .init($0.group(), relevantTypes: $0.list { $0.iri() }) }
        }
        return context == Statement.Context() ? nil : context
    }

    private mutating func attachment() -> Statement.Attachment {
        Statement.Attachment(
            usageType: iri(),
            display: ["en": text()],
            description: map(),
            contentType: "text/plain; charset=utf-8",
            length: Int.random(in: 0...(1 << 40), using: &generator),
            sha2: String(repeating: "0f", count: 32),
            fileURL: maybe { $0.iri() }
        )
    }
}
