// Fails where a target that needs the trait is built without the trait.
#if !(DurableQueue || Everything)
#error("InstrumentDurableQueue needs a trait: write traits: [\"DurableQueue\"] in the dependency on instrument")
#endif
