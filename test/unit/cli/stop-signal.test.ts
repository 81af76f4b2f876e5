import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stopSignal } from "../../../src/cli/stop-signal.ts";

describe("the signals that stop the command", () => {
  let formerly: Record<"SIGINT" | "SIGTERM", ReturnType<typeof process.rawListeners>>;
  let written: string[];
  let ended: unknown[];

  beforeEach(() => {
    written = [];
    ended = [];
    formerly = { SIGINT: process.rawListeners("SIGINT"), SIGTERM: process.rawListeners("SIGTERM") };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeAllListeners(signal);
    vi.useFakeTimers({ toFake: ["performance", "setTimeout"] });
    vi.spyOn(process, "kill").mockImplementation((_pid, signal) => {
      ended.push(signal);
      return true;
    });
    vi.spyOn(process, "exit").mockImplementation((status) => {
      ended.push(status);
      return undefined as never;
    });
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.removeAllListeners(signal);
      for (const listener of formerly[signal]) process.on(signal, listener as () => void);
    }
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "count as one if %s comes again within 200 ms; a later one ends the process by itself",
    async (signal, status) => {
      const stdout = { write: (text: string) => written.push(text) > 0 };
      let forced = 0;
      const stopped = stopSignal({ stderr: stdout as never, quiet: false }, () => {
        forced += 1;
      });
      process.emit(signal, signal);
      await stopped;
      expect(written).toEqual(["Stopping.\n"]);
      for (const milliseconds of [0, 100, 100]) {
        vi.advanceTimersByTime(milliseconds);
        process.emit(signal, signal);
      }
      expect([forced, ended]).toEqual([0, []]);
      vi.advanceTimersByTime(1);
      process.emit(signal, signal);
      expect([forced, ended]).toEqual([1, [signal, status]]);
      expect(written).toHaveLength(1);
    },
  );

  it("say that the command waits if that takes a second, and that it has stopped", async () => {
    const stderr = { write: (text: string) => written.push(text) > 0 };
    const before = process.rawListeners("exit");
    const stopped = stopSignal({ stderr: stderr as never, quiet: false });
    process.emit("SIGTERM", "SIGTERM");
    await stopped;
    vi.advanceTimersByTime(999);
    expect(written).toEqual(["Stopping.\n"]);
    vi.advanceTimersByTime(1);
    expect(written).toEqual(["Stopping.\n", "Waiting for requests in progress.\n"]);
    const [atExit] = process.rawListeners("exit").filter((listener) => !before.includes(listener));
    atExit?.call(process);
    expect(written.at(-1)).toBe("Stopped.\n");
  });
});
