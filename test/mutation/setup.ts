import { configureGlobal } from "fast-check";

// For each mutant that a property lives through all of its cases would be made again: half a second of them is what one
// mutant is worth.
configureGlobal({ interruptAfterTimeLimit: 500 });
