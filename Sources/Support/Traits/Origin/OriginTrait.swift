// Fails where a target that needs the trait is built without the trait.
#if !(Origin || Everything)
#error("InstrumentOrigin needs a trait: write traits: [\"Origin\"] in the dependency on instrument")
#endif
