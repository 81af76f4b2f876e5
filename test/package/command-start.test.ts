import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, startServer } from "../support/built.ts";

/** Counts what is compiled from text, and prints it with the modules of Node when the process ends. */
const WATCH = `
let compiled = 0;
globalThis.Function = new Proxy(Function, {
  construct(target, args) {
    compiled += 1;
    return Reflect.construct(target, args);
  },
});
process.on("exit", () => process.stderr.write("LOADED " + JSON.stringify({ compiled, modules: process.moduleLoadList }) + "\\n"));
`;

beforeAll(() => ensureBuilt(), 300_000);

describe("the start of the command", () => {
  it("compiles no schema, and loads no web streams", async () => {
    const watch = `--import=data:text/javascript,${encodeURIComponent(WATCH)}`;
    const args = ["serve", await makeFolder(), "--account", "alice:secret", "--port", "0"];
    const server = await startServer(args, ["env", `NODE_OPTIONS=${watch}`]);
    server.child.kill("SIGTERM");
    await server.ended;
    const [, loaded = "{}"] = /LOADED (.*)/.exec(server.stderr()) ?? [];
    const { compiled, modules } = JSON.parse(loaded) as { readonly compiled: number; readonly modules: string[] };
    expect(modules).toContain("NativeModule http");
    expect(modules).not.toContain("NativeModule internal/webstreams/readablestream");
    expect(compiled).toBe(0);
  });
});
