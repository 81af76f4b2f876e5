import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, it, onTestFinished } from "vitest";
import { importAgain } from "../../support/modules.ts";

const HOUR = 3_600_000;
const isLinux = process.platform === "linux";

/** The module as in a process that has just started. */
async function begin() {
  return importAgain<typeof import("../../../src/platform/process-identity-node.ts")>(
    "platform/process-identity-node.ts",
  );
}

/** Files that identify machines and processes. The tests read other files as well, which stay as they are. */
const OF_MACHINE = /^\/(?:proc|etc\/machine-id)(?:\/|$)/;

/** Has each file about the machine read as given, or fail, until the function is called that it gives. */
function replaceReading(read: (path: string) => string): () => void {
  const { readFileSync, readlinkSync } = fs;
  const { readFile } = fs.promises;
  function restore(): void {
    Object.assign(fs, { readFileSync, readlinkSync });
    fs.promises.readFile = readFile;
    syncBuiltinESMExports();
  }
  const readOr =
    (ordinary: (...args: never[]) => unknown) =>
    (...args: never[]) =>
      OF_MACHINE.test(String(args[0])) ? read(String(args[0])) : ordinary(...args);
  Object.assign(fs, { readFileSync: readOr(readFileSync), readlinkSync: readOr(readlinkSync) });
  Object.assign(fs.promises, { readFile: async (...args: never[]) => readOr(readFile)(...args) });
  syncBuiltinESMExports();
  onTestFinished(restore);
  return restore;
}

function failReading(code: string): () => void {
  return replaceReading(() => {
    throw Object.assign(new Error(code), { code });
  });
}

/** A Linux machine with this process, and others by their lines in `/proc`. */
function replaceMachine(files: Readonly<Record<string, string>>): void {
  const all: Readonly<Record<string, string>> = {
    "/etc/machine-id": "machine",
    "/proc/sys/kernel/random/boot_id": "boot",
    "/proc/self/ns/pid": "pid:[1]",
    "/proc/self/ns/time": "time:[1]",
    "/proc/self/stat": statLine(process.pid, "500"),
    ...files,
  };
  replaceReading((path) => {
    const text = all[path];
    if (text === undefined) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
    return text;
  });
}

function statLine(id: number, start: string, { program = "node", state = "S" } = {}): string {
  return `${id} (${program}) ${state} ${"1 ".repeat(18)}${start} 0 0\n`;
}

/** Has every process be signalled with a result, or an error of a code. */
function replaceSignals(code?: string): void {
  const { kill } = process;
  process.kill = () => {
    if (code !== undefined) throw Object.assign(new Error("refused"), code === "" ? {} : { code });
    return true;
  };
  onTestFinished(() => {
    process.kill = kill;
  });
}

function hostOf(identity: string): string {
  return identity.split("-")[0] ?? "";
}

describe("the identity of a process", () => {
  it("has its host, process ID and start, and is the same for every thread of it", async () => {
    const { processIdentity } = await begin();
    expect(processIdentity()).toMatch(new RegExp(`^[0-9a-f]{8}-${process.pid}-${isLinux ? "[0-9]+" : ""}$`));
    expect((await begin()).processIdentity()).toBe(processIdentity());
  });

  it.each([
    ["start of the machine", "/proc/sys/kernel/random/boot_id"],
    ["machine", "/etc/machine-id"],
    ["PID namespace", "/proc/self/ns/pid"],
    ["time namespace, which changes the starts of processes", "/proc/self/ns/time"],
  ])("has another host after another %s", async (_, file) => {
    replaceMachine({});
    const host = hostOf((await begin()).processIdentity());
    replaceMachine({ [file]: "other" });
    expect(hostOf((await begin()).processIdentity())).not.toBe(host);
  });

  it.each(["EMFILE", "ENFILE"])(
    "is not another one for good where a process begins short of descriptors: %s",
    async (code) => {
      const expected = (await begin()).processIdentity();
      const restore = failReading(code);
      const { processIdentity, isAbandoned } = await begin();
      const early = processIdentity();
      // Until then this process removes nothing: it does not know which files are of its host.
      expect(await isAbandoned(expected, 0, HOUR)).toBe(false);
      expect(await isAbandoned(early, 0, HOUR)).toBe(false);
      restore();
      expect(processIdentity()).toBe(expected);
      expect(await isAbandoned(`${hostOf(expected)}-999999999-1`, Date.now(), HOUR)).toBe(true);
    },
  );

  it("is kept where the system has no such files", async () => {
    const restore = failReading("ENOENT");
    const { processIdentity } = await begin();
    const identity = processIdentity();
    restore();
    expect(processIdentity()).toBe(identity);
  });
});

describe("a file of another process", () => {
  it.skipIf(!isLinux)(
    "of this host is abandoned once that has ended, and never before (skipped unless Linux)",
    async () => {
      replaceMachine({
        "/proc/1001/stat": statLine(1001, "700", { program: "a) S 1 (b" }),
        "/proc/1002/stat": statLine(1002, "700", { state: "Z" }),
      });
      replaceSignals();
      const { processIdentity, isAbandoned } = await begin();
      const host = hostOf(processIdentity());
      expect(await isAbandoned(`${host}-1001-700`, 0, HOUR)).toBe(false);
      expect(await isAbandoned(`${host}-1001-699`, Date.now(), HOUR)).toBe(true);
      expect(await isAbandoned(`${host}-1002-700`, Date.now(), HOUR)).toBe(true);
      expect(await isAbandoned(processIdentity(), 0, HOUR)).toBe(false);
      replaceSignals("ESRCH");
      expect(await isAbandoned(`${host}-1001-700`, Date.now(), HOUR)).toBe(true);
    },
  );

  it.each([undefined, "EPERM"])(
    "is not abandoned if the system hides that process, which exists (%s)",
    async (code) => {
      replaceMachine({});
      replaceSignals(code);
      const { processIdentity, isAbandoned } = await begin();
      expect(await isAbandoned(`${hostOf(processIdentity())}-1001-700`, 0, HOUR)).toBe(false);
    },
  );

  it("is abandoned by its age if that process is of another host, or the runtime allows no question", async () => {
    const { processIdentity, isAbandoned } = await begin();
    replaceSignals("");
    for (const creator of ["01234567-1001-700", `${hostOf(processIdentity())}-1001-700`]) {
      expect(await isAbandoned(creator, Date.now() - HOUR + 10_000, HOUR)).toBe(false);
      expect(await isAbandoned(creator, Date.now() - HOUR - 10_000, HOUR)).toBe(true);
    }
  });

  it.skipIf(!isLinux)(
    "is abandoned by its age if no process can tell its PID namespace (skipped unless Linux)",
    async () => {
      failReading("ENOENT");
      replaceSignals("ESRCH");
      const { processIdentity, isAbandoned } = await begin();
      expect(await isAbandoned(processIdentity(), Date.now(), HOUR)).toBe(false);
      expect(await isAbandoned(processIdentity(), 0, HOUR)).toBe(true);
    },
  );

  it("is not abandoned by its start if /proc is that of another PID namespace", async () => {
    replaceMachine({
      "/proc/self/stat": statLine(process.pid + 1, "500"),
      "/proc/1001/stat": statLine(1001, "701"),
    });
    replaceSignals();
    const { processIdentity, isAbandoned } = await begin();
    expect(processIdentity()).toMatch(/-$/);
    expect(await isAbandoned(`${hostOf(processIdentity())}-1001-700`, 0, HOUR)).toBe(false);
  });

  it("with the ID of this process is abandoned if it is older than this process, where starts are not known", async () => {
    replaceMachine({ "/proc/self/stat": "" });
    const { processIdentity, isAbandoned } = await begin();
    const startedAt = Date.now() - process.uptime() * 1000;
    expect(await isAbandoned(processIdentity(), startedAt - 10_000, HOUR)).toBe(true);
    expect(await isAbandoned(processIdentity(), Date.now(), HOUR)).toBe(false);
  });
});
