import { describe, expectTypeOf, it } from "vitest";
import type { z } from "zod";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { fileEventSchema } from "../../../src/schemas/events.ts";

/** The same shape, flat and without `readonly`, which a schema does not know. */
type Plain<Value> = Value extends object ? { -readonly [Key in keyof Value]: Plain<Value[Key]> } : Value;

describe("The schema of events", () => {
  it("is the type, event by event and member by member", () => {
    expectTypeOf<Plain<z.infer<typeof fileEventSchema>>>().toEqualTypeOf<Plain<FileEvent>>();
  });
});
