import { describe, expect, it } from "vitest";
import { createSharedRuns } from "../../../src/platform/shared-runs.ts";

/** Actions whose ends the test decides about. */
function createActions() {
  const started: string[] = [];
  const ends: { readonly succeed: () => void; readonly fail: (error: Error) => void }[] = [];
  const action = (name: string) => () => {
    started.push(name);
    return new Promise<void>((succeed, fail) => ends.push({ succeed, fail }));
  };
  return { started, ends, action };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("runs that are shared", () => {
  it("start at once while none of the key runs", async () => {
    const { started, ends, action } = createActions();
    const share = createSharedRuns();
    const runs = [share("a", action("a1")), share("b", action("b1"))];
    expect(started).toEqual(["a1", "b1"]);
    for (const { succeed } of ends) succeed();
    await Promise.all(runs);
    const later = share("a", action("a2"));
    expect(started).toEqual(["a1", "b1", "a2"]);
    ends[2]?.succeed();
    await later;
  });

  it("are one further run for all that come meanwhile, which starts after the first", async () => {
    const { started, ends, action } = createActions();
    const share = createSharedRuns();
    const first = share("a", action("first"));
    const ended: number[] = [];
    const others = [1, 2, 3].map((number) => share("a", action(`${number}`)).then(() => ended.push(number)));
    await settled();
    expect(started).toEqual(["first"]);
    ends[0]?.succeed();
    await first;
    await settled();
    expect([started, ended]).toEqual([["first", "1"], []]);
    // Those that come now have to wait for a third run.
    const last = share("a", action("last"));
    ends[1]?.succeed();
    await Promise.all(others);
    await settled();
    expect(started).toEqual(["first", "1", "last"]);
    ends[2]?.succeed();
    await last;
  });

  it("fail for all that share them, and the next run takes place", async () => {
    const { ends, action } = createActions();
    const share = createSharedRuns();
    const first = share("a", action("first"));
    const others = [share("a", action("1")), share("a", action("2"))];
    ends[0]?.fail(new Error("first"));
    await expect(first).rejects.toThrow("first");
    await settled();
    ends[1]?.fail(new Error("second"));
    for (const other of others) await expect(other).rejects.toThrow("second");
    const later = share("a", action("later"));
    ends[2]?.succeed();
    await later;
  });
});
