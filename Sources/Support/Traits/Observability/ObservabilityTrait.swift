// Fails where a target that needs the trait is built without the trait.
#if !(Observability || Everything)
#error("InstrumentObservability needs a trait: write traits: [\"Observability\"] in the dependency on instrument")
#endif
