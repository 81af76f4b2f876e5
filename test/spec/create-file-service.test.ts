import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { FileServiceOptions } from "../../src/config/options.ts";
import { OptionError } from "../../src/contracts/option-error.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { readAnswer } from "../support/service.ts";

const accounts = [{ username: "alice", password: "secret" }];
const good: FileServiceOptions = {
  storage: createMemoryStorage(),
  authentication: createAccountsAuthenticator({ accounts }),
};

/** Wrong in ways that only callers without types get past the compiler. */
function create(wrong: Readonly<Record<string, unknown>>): unknown {
  return createFileService({ ...good, ...wrong } as unknown as FileServiceOptions);
}

describe("createFileService", () => {
  it.each<readonly [option: string, wrong: Readonly<Record<string, unknown>>]>([
    ["storage", { storage: undefined }],
    ["storage", { storage: null }],
    ["storage", { storage: {} }],
    ["storage", { storage: { ...good.storage, write: undefined } }],
    ["storage", { storage: { ...good.storage, copy: undefined } }],
    ["storage", { storage: { ...good.storage, move: undefined } }],
    ["storage", { storage: "/srv/data" }],
    ["authentication", { authentication: undefined }],
    ["authentication", { authentication: null }],
    ["authentication", { authentication: [] }],
    ["authentication", { authentication: {} }],
    ["authentication", { authentication: "accounts" }],
    ["authentication", { authentication: [{ name: "x" }] }],
    ["authentication", { authentication: [undefined] }],
    ["basePath", { basePath: "files" }],
    ["basePath", { basePath: "/files//x" }],
    ["basePath", { basePath: "/files/../x" }],
    ["basePath", { basePath: "/%2e%2e" }],
    ["basePath", { basePath: "/a%2fb" }],
    ["basePath", { basePath: "/a%" }],
    ["basePath", { basePath: "/caf\u00e9" }],
    ["basePath", { basePath: "//" }],
    ["basePath", { basePath: "https://files.example/" }],
    ["basePath", { basePath: "/a?b" }],
    ["basePath", { basePath: "/a#b" }],
    ["basePath", { basePath: 5 }],
    ["basePath", { basePath: null }],
    ["server.name", { server: { name: "" } }],
    ["server.name", { server: { name: "two words" } }],
    ["server.name", { server: { name: "a\r\nX: y" } }],
    ["server.name", { server: { name: 5 } }],
    ["server", { server: null }],
    ["session", { session: null }],
    ["session.idleSeconds", { session: { idleSeconds: 0 } }],
    ["session.idleSeconds", { session: { idleSeconds: -1 } }],
    ["session.idleSeconds", { session: { idleSeconds: Number.NaN } }],
    ["session.idleSeconds", { session: { idleSeconds: Number.POSITIVE_INFINITY } }],
    ["session.idleSeconds", { session: { idleSeconds: "30" } }],
    ["session.maxSeconds", { session: { maxSeconds: 0 } }],
    ["session.maxSeconds", { session: { maxSeconds: null } }],
    ["session.announce", { session: { announce: "yes" } }],
    ["session.cookie", { session: { cookie: null } }],
    ["session.cookie.name", { session: { cookie: { name: "" } } }],
    ["session.cookie.name", { session: { cookie: { name: "a=b" } } }],
    ["session.cookie.name", { session: { cookie: { name: "a; Domain" } } }],
    ["session.cookie.name", { session: { cookie: { name: "a".repeat(65) } } }],
    ["session.cookie.path", { session: { cookie: { path: "/other" } } }],
    ["session.cookie.path", { basePath: "/files", session: { cookie: { path: "/file" } } }],
    ["session.cookie.path", { basePath: "/files", session: { cookie: { path: "/; Domain=x" } } }],
    ["session.cookie.path", { basePath: "/files", session: { cookie: { path: "" } } }],
    ["session.cookie.path", { basePath: "/files", session: { cookie: { name: "__Host-files" } } }],
    ["session.cookie.path", { basePath: "/files", session: { cookie: { path: [] } } }],
    ["session.store", { session: { store: {} } }],
    ["session.store", { session: { store: new Map().entries() } }],
    ["session.store", { session: { store: null } }],
    ["publicOrigin", { publicOrigin: "files.example" }],
    ["publicOrigin", { publicOrigin: "https://files.example/" }],
    ["publicOrigin", { publicOrigin: "ftp://files.example" }],
    ["publicOrigin", { publicOrigin: null }],
    ["acceptedOrigins", { acceptedOrigins: "https://app.example" }],
    ["acceptedOrigins", { acceptedOrigins: ["https://app.example/"] }],
    ["acceptedOrigins", { acceptedOrigins: ["app.example"] }],
    ["acceptedOrigins", { acceptedOrigins: ["*"] }],
    ["acceptedOrigins", { acceptedOrigins: ["null"] }],
    ["acceptedOrigins", { acceptedOrigins: [5] }],
    ["acceptedOrigins", { acceptedOrigins: null }],
    ["passwordPolicy", { passwordPolicy: null }],
    ["passwordPolicy.minLength", { passwordPolicy: { minLength: 0 } }],
    ["passwordPolicy.minLength", { passwordPolicy: { minLength: 1025 } }],
    ["passwordPolicy.maxLength", { passwordPolicy: { minLength: 8, maxLength: 7 } }],
    ["passwordPolicy.maxLength", { passwordPolicy: { maxLength: "64" } }],
    ["passwordPolicy.requireClasses", { passwordPolicy: { requireClasses: "digit" } }],
    ["passwordPolicy.requireClasses", { passwordPolicy: { requireClasses: ["emoji"] } }],
    ["passwordPolicy.allowUserName", { passwordPolicy: { allowUserName: 1 } }],
    ["passwordPolicy.estimate", { passwordPolicy: { estimate: 3 } }],
    ["passwordPolicy.minEstimate", { passwordPolicy: { minEstimate: Number.NaN } }],
    ["limits", { limits: null }],
    ["limits.loginAttempts", { limits: { loginAttempts: 0 } }],
    ["limits.loginAttempts", { limits: { loginAttempts: 1.5 } }],
    ["limits.loginAttempts", { limits: { loginAttempts: 1001 } }],
    ["limits.loginWindowSeconds", { limits: { loginWindowSeconds: 0 } }],
    ["clientForwardedHeader", { clientForwardedHeader: "X Forwarded" }],
    ["clientForwardedHeader", { clientForwardedHeader: null }],
    ["trustedProxies", { clientForwardedHeader: "Forwarded", trustedProxies: "10.0.0.0/8" }],
    ["trustedProxies", { clientForwardedHeader: "Forwarded", trustedProxies: ["10.0.0.0/33"] }],
    ["trustedProxies", { clientForwardedHeader: "Forwarded", trustedProxies: ["10.0.0.0/8", 5] }],
    ["trustedProxies", { clientForwardedHeader: "Forwarded", trustedProxies: null }],
    ["trustedProxies", { trustedProxies: ["10.0.0.0/8"] }],
    ["trustedProxies", { clientForwardedHeader: "", trustedProxies: [] }],
    ["links.maxSeconds", { links: { secret: "s".repeat(32), store: createMemoryKeyValueStore(), maxSeconds: 5n } }],
    ["archive", { archive: null }],
    ["archive.method", { archive: { method: "zstd" } }],
    ["logger", { logger: {} }],
    ["logger", { logger: null }],
    ["clock", { clock: 5 }],
    ["clock", { clock: null }],
  ])("throws an OptionError that names %s for %o (DESIGN, style 4)", (option, wrong) => {
    expect(() => create(wrong)).toThrow(TypeError);
    expect(() => create(wrong)).toThrow(expect.objectContaining({ name: "OptionError", option }));
  });

  it.each<readonly [what: string, options: Partial<FileServiceOptions>]>([
    ["only what is needed", {}],
    ["a list of authenticators", { authentication: [createAccountsAuthenticator({ accounts })] }],
    ["an empty base path", { basePath: "" }],
    ["the root as base path", { basePath: "/" }],
    ["a base path with a trailing /", { basePath: "/files/" }],
    ["a base path with escapes", { basePath: "/a%20b/c" }],
    [
      "undefined for all that may be left out",
      { basePath: undefined, session: undefined } as unknown as FileServiceOptions,
    ],
    ["origins of other schemes", { acceptedOrigins: ["http://localhost:3000", "https://app.example"] }],
    ["a fraction of a second", { session: { idleSeconds: 0.5 } }],
  ])("takes %s (DESIGN, style 4)", (_what, options) => {
    expect(() => create(options)).not.toThrow();
  });

  it("never writes to its options (DESIGN, style 4)", () => {
    const freeze = <T extends object>(value: T): T => Object.freeze(value);
    const session = freeze({ idleSeconds: 10 });
    const options = freeze({
      ...good,
      session,
      server: freeze({ name: "x" }),
      acceptedOrigins: freeze(["https://a.example"]),
    });
    expect(() => createFileService(options)).not.toThrow();
  });

  it("does not look at its options again (DESIGN, style 4)", async () => {
    const acceptedOrigins = ["https://app.example"];
    const service = createFileService({ ...good, acceptedOrigins });
    acceptedOrigins.push("https://evil.example");
    const headers = { authorization: `Basic ${btoa("alice:secret")}`, origin: "https://evil.example" };
    const request = new Request("http://files.example/home/x", { method: "PUT", headers, body: "x" });
    expect((await service.fetch(request)).status).toBe(403);
  });
});

describe("a service's start and close", () => {
  it("starts its authenticators, each once (5.2)", async () => {
    let starts = 0;
    const authentication = {
      ...createAccountsAuthenticator({ accounts }),
      start: async () => {
        starts++;
      },
    };
    const service = createFileService({ ...good, authentication });
    await Promise.all([service.start(), service.start()]);
    await service.start();
    expect(starts).toBe(1);
    await service.close();
  });

  it("rejects its start when an authenticator does not work (5.2)", async () => {
    const authentication = {
      ...createAccountsAuthenticator({ accounts }),
      start: () => Promise.reject(new Error("no route to host")),
    };
    await expect(createFileService({ ...good, authentication }).start()).rejects.toThrow("no route to host");
  });

  it("starts by its first login where nobody started it; should that fail, the login is refused like a wrong password (CONTRACT 9.3)", async () => {
    let isReachable = false;
    const authentication = {
      ...createAccountsAuthenticator({ accounts }),
      start: () => (isReachable ? Promise.resolve() : Promise.reject(new Error("no route to host"))),
    };
    const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const service = createFileService({ ...good, authentication, logger });
    const ask = async (password: string) => {
      const headers = { authorization: `Basic ${btoa(`alice:${password}`)}`, accept: "application/json" };
      const { status, text } = await readAnswer(
        await service.fetch(new Request("http://files.example/home/", { headers })),
      );
      return { status, text };
    };
    const refused = await ask("secret");
    expect(refused.status).toBe(401);
    isReachable = true;
    expect((await ask("secret")).status).toBe(200);
    expect(await ask("wrong")).toEqual(refused);
  });
});

describe("an option with an unknown name", () => {
  it.each<[option: string, wrong: object, meant: string | undefined]>([
    ["storag", { storag: 1 }, "storage"],
    ["acceptedorigin", { acceptedorigin: [] }, "acceptedOrigins"],
    ["limits.maxFileByte", { limits: { maxFileByte: 1 } }, "limits.maxFileBytes"],
    ["session.idle", { session: { idle: 1 } }, undefined],
    ["session.cookie.nam", { session: { cookie: { nam: "x" } } }, "session.cookie.name"],
    ["quotas", { quotas: undefined }, "quota"],
  ])("%s is refused, with the name that was probably meant", (option, wrong, meant) => {
    const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    expect(() => create(wrong as Readonly<Record<string, unknown>>)).toThrow(
      new OptionError(option, `left out: it is not a known option${hint}`),
    );
  });
});
