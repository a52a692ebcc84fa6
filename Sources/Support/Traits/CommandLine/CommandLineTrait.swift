// Fails where a target that needs the trait is built without the trait.
#if !(CommandLine || Everything)
#error("The command lines need a trait: write traits: [\"CommandLine\"] in the dependency on instrument")
#endif
