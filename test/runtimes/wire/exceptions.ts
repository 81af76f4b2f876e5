import type { WireRuntime } from "./runtimes.ts";

/** A case that a runtime does not meet, by the runtime's own doing. `docs/runtimes.md` has the same table. */
export interface WireException {
  readonly runtime: WireRuntime["name"];
  /** The sentence of the case. */
  readonly name: string;
  readonly reason: string;
  /** How the case fails: what is seen instead. `undefined` where it is met sometimes, by chance: it is not run. */
  readonly seen: string | undefined;
}

const CONTINUE = "an upload that is refused gets the final answer in place of 100 Continue";
/** The interim answer stands before the final one. */
const CONTINUED = "expected 'HTTP/1.1 100 Continue";

const ANNOUNCED = "an upload by PUT is announced by 104 before its content is read";

function unannounced(runtime: WireRuntime["name"], reason: string): WireException {
  return { runtime, name: ANNOUNCED, reason, seen: "Waited in vain for /^HTTP\\/1\\.1 104 " };
}

function resolved(runtime: WireRuntime["name"], reason: string, paths: readonly string[]): readonly WireException[] {
  const seen = "expected 201 to be 400";
  return paths.map((path) => ({ runtime, name: `the path ${path} is 400, and is not resolved`, reason, seen }));
}

export const wireExceptions: readonly WireException[] = [
  {
    runtime: "deno",
    name: CONTINUE,
    reason: "Deno sends `100 Continue` before it calls the handler.",
    seen: CONTINUED,
  },
  { runtime: "bun", name: CONTINUE, reason: "Bun sends `100 Continue` before it calls the handler.", seen: CONTINUED },
  unannounced("deno", "Deno has no way to send interim responses."),
  unannounced("bun", "Bun has no way to send interim responses."),
  {
    runtime: "bun",
    name: "a file of 20 MiB comes back byte for byte, with its exact length",
    reason: "Bun drops the `Content-Length` of streams (oven-sh/bun#10507).",
    seen: "expected null to be '20971520'",
  },
  ...resolved("bun", "Bun resolves dot segments before it calls the handler.", [
    "../x",
    "%2e%2e/x",
    ".%2E/x",
    "./x",
    "%2e/x",
  ]),
  {
    runtime: "bun",
    name: "two requests at once on one connection are answered in their order",
    reason: "Bun closes a connection when a request arrives before the previous response.",
    seen: undefined,
  },
  {
    runtime: "bun",
    name: "an upload and what follows it on one connection",
    reason: "Bun closes a connection when a request arrives before the previous response.",
    seen: undefined,
  },
  ...resolved("workerd", "workerd resolves dot segments that are not encoded before it calls the handler.", [
    "../x",
    "./x",
  ]),
  {
    runtime: "workerd",
    name: "Expect: 100-continue brings the interim answer, then the final one",
    reason: "workerd sends no interim response: clients continue after a while.",
    seen: "Waited in vain for /^HTTP\\/1\\.1 100 [^\\r]*\\r\\n\\r\\n$/ in ",
  },
  unannounced("workerd", "Workers have no way to send interim responses."),
  {
    runtime: "workerd",
    name: "Connection: close ends the connection behind the answer",
    reason: "workerd keeps connections; clients connect to Cloudflare's network.",
    seen: "Waited in vain for the end behind HTTP/1.1 200 OK",
  },
  {
    runtime: "workerd",
    name: "HTTP/1.0 is answered, and ends the connection",
    reason: "workerd keeps connections; clients connect to Cloudflare's network.",
    seen: "Waited in vain for the end behind HTTP/1.1 200 OK",
  },
];
