import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createPartsProgress } from "../../../../src/browser/uploads/parts-progress.ts";
import type { OnProgress } from "../../../../src/browser/uploads/send.ts";
import { ENGLISH } from "../../../../src/views/texts/english.ts";

function open(parts: number, isResumed: boolean) {
  const shown: Parameters<OnProgress>[] = [];
  let advances = 0;
  vi.stubGlobal("document", { documentElement: { lang: "en" } });
  onTestFinished(() => void vi.unstubAllGlobals());
  const progress = createPartsProgress({
    ...{ size: 100, parts, isResumed, texts: ENGLISH.script },
    onProgress: (...report) => shown.push(report),
    onAdvance: () => advances++,
  });
  return { progress, shown, advances: () => advances };
}

describe("the progress of an upload", () => {
  it("stays while the connection is broken, and goes back by what is lost (R 11.3)", () => {
    const { progress, shown } = open(1, false);
    progress.start(0);
    progress.send(0, 50);
    progress.interrupt();
    progress.find(0, 43);
    progress.send(0, 60);
    expect(shown).toEqual([
      [0, undefined, 0],
      [50, undefined, 0],
      [50, "Interrupted, trying again", 0],
      [43, "resumed at 43 %", 0],
      [60, "resumed at 43 %", 0],
    ]);
  });

  it("is the sum of the parts, and tells where all of them go on, and what was there before", () => {
    const { progress, shown } = open(2, true);
    progress.find(0, 20);
    progress.send(0, 25);
    progress.find(1, 10);
    expect(shown).toEqual([
      [20, undefined, 20],
      [25, undefined, 20],
      [35, "resumed at 35 %", 30],
    ]);
  });

  it("advances by bytes that were never sent before, not by those that are sent again", () => {
    const { progress, advances } = open(1, false);
    progress.send(0, 10);
    progress.find(0, 2);
    progress.send(0, 10);
    expect(advances()).toBe(1);
    progress.send(0, 11);
    expect(advances()).toBe(2);
  });
});
