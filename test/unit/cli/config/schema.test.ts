import { describe, expect, it } from "vitest";
import { describeIssues } from "../../../../src/cli/config/issues.ts";
import { configFileSchema } from "../../../../src/cli/config/schema.ts";

const ALICE = { username: "alice", password: "secret" };
const MINIMAL = { authentication: [{ type: "accounts", accounts: [ALICE] }] };

function problemsOf(config: unknown): readonly string[] {
  const parsed = configFileSchema.safeParse(config);
  return parsed.success ? [] : describeIssues(parsed.error);
}

describe("the configuration file's schema", () => {
  it("requires only authentication (CONTRACT 10)", () => {
    expect(problemsOf(MINIMAL)).toEqual([]);
    expect(problemsOf({})).toEqual(["authentication: is missing"]);
  });

  it("takes every key that it documents", () => {
    const config = {
      listen: { host: "127.0.0.1", port: 8080, tls: { key: "key.pem", cert: "cert.pem", ca: "clients.pem" } },
      basePath: "/files",
      server: { name: "fileferry", uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" },
      component: { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635" },
      publicError: true,
      storage: { type: "disk", root: "./files" },
      digests: { computeBytes: 0 },
      idempotency: { store: "sqlite://answers.db", seconds: 60 },
      scan: { clamd: "127.0.0.1:3310", maxBytes: 1, onTooLarge: "pass", onUnavailable: "refuse", timeoutSeconds: 5 },
      authentication: [
        {
          type: "accounts",
          accounts: [{ ...ALICE, home_folder_path: "/", uuid: "u", email: "a@b.example", create_home_folder: false }],
        },
        { type: "accounts", file: "accounts.json" },
        {
          type: "http",
          url: "https://a.example/auth, https://b.example/auth",
          username: "",
          password: "",
          headers: "Authorization: token KEY\nX-Tenant: 7",
          timeoutSeconds: 30,
          suspendSeconds: 300,
          testAtStart: true,
        },
      ],
      session: {
        idleSeconds: 1800,
        maxSeconds: 43_200,
        maxPerAccount: 100,
        announce: true,
        cookie: { name: "files", path: "/" },
      },
      passwordPolicy: { minLength: 10, maxLength: 64, requireClasses: ["digit", "symbol"], allowUserName: true },
      connections: {
        max: 10_000,
        maxPerAddress: 0,
        maxHeaderBytes: 16_384,
        headersSeconds: 60,
        idleSeconds: 120,
        minBytesPerSecond: 256,
        paceSeconds: 120,
        deadlineSeconds: 0,
      },
      limits: {
        maxFileBytes: 1000,
        loginAttempts: 5,
        loginWindowSeconds: 60,
        maxLoginBytes: 8192,
        maxJsonBytes: 65_536,
        maxCommands: 100,
        maxFormParts: 100,
        maxPartHeaderBytes: 8192,
        maxFormFieldBytes: 65_536,
        transfersPerAccount: 0,
        transfersPerAddress: 100,
        transfersPerLink: 10,
        pageBytesPerAccount: 10_000,
        pageBytesPerAddress: 0,
        pageBytesPerProcess: 100_000,
      },
      clientForwardedHeader: "X-Forwarded-For",
      trustedProxies: ["10.0.0.0/8", "::1"],
      publicOrigin: "https://files.example",
      webdav: { lockStore: "sqlite://locks.db", maxLockSeconds: 60, locksPerAccount: 10, infiniteDepth: true },
      links: {
        secret: ["a secret of 32 characters or more", "its predecessor, which opens links"],
        store: "redis://127.0.0.1:6379",
        defaultSeconds: 3600,
        maxSeconds: 86_400,
        maxPerAccount: 10,
      },
      archive: { method: "deflate" },
      acceptedOrigins: ["https://app.example"],
      branding: { name: "Depot", logo: "/logo.svg", accent: "#0b5fff", footnote: "Acme" },
      frameAncestors: ["https://intranet.example"],
    };
    expect(problemsOf(config)).toEqual([]);
    expect(configFileSchema.parse(config)).toEqual(config);
  });

  it.each<[string, object, string]>([
    ["unknown key", { publicErrors: true }, "publicErrors: unknown key"],
    ["public error as text", { publicError: "yes" }, "publicError: expected boolean, received string"],
    ["archive of another kind", { archive: { method: "zstd" } }, 'archive.method: expected one of "stored"|"deflate"'],
    ["server without a UUID", { server: { uuid: "main" } }, "server.uuid: must be a UUID"],
    ["component without a UUID", { component: { uuid: "" } }, "component.uuid: must be a UUID"],
    ["key with odd characters", { "a b": 1 }, '["a b"]: unknown key'],
    ["key that every object has", JSON.parse('{"__proto__": {}}'), "__proto__: unknown key"],
    ["nested unknown key", { session: { shop: "redis://x" } }, "session.shop: unknown key"],
    ...["memory", "http://a:secret@b", "redis://", "redis://h/db", "redis://h?db=1", "redis://%ff@h", "sqlite://"].map(
      (store): [string, object, string] => [
        `session store ${store}`,
        { session: { store } },
        "session.store: must be redis://HOST, rediss://HOST or sqlite://FILE",
      ],
    ),
    [
      "session store in memory",
      { session: { store: "sqlite://:memory:" } },
      "session.store: must be sqlite:// and the path of a file",
    ],
    [
      "lock store of another kind",
      { webdav: { lockStore: "memory" } },
      "webdav.lockStore: must be redis://HOST, rediss://HOST or sqlite://FILE",
    ],
    [
      "lock of a second",
      { webdav: { maxLockSeconds: 1 } },
      "webdav.maxLockSeconds: must be a whole number from 60 to 604,800",
    ],
    ["no locks", { webdav: { locksPerAccount: 0 } }, "webdav.locksPerAccount: must be a whole number from 1 to 10,000"],
    ...["Memory", "disk", "http://a:secret@b"].map((store): [string, object, string] => [
      `link store ${store}`,
      { links: { store } },
      "links.store: must be memory, redis://HOST, rediss://HOST or sqlite://FILE",
    ]),
    [
      "short secret of links",
      { links: { secret: ["a secret of 32 characters or more", "short"] } },
      "links.secret: must be a text of at least 32 characters, or a list of such",
    ],
    [
      "default of links over their maximum",
      { links: { defaultSeconds: 61, maxSeconds: 60 } },
      "links.defaultSeconds: must be a whole number of seconds, at most links.maxSeconds",
    ],
    ["no links", { links: { maxPerAccount: 0 } }, "links.maxPerAccount: must be a whole number from 1 to 10,000"],
    ["unknown key of links", { links: { passwordHasher: {} } }, "links.passwordHasher: unknown key"],
    [
      "transfers of links as a fraction",
      { limits: { transfersPerLink: 0.5 } },
      "limits.transfersPerLink: must be a whole number from 0 to 1000000",
    ],
    ["key of the other storage", { storage: { type: "memory", root: "." } }, "storage.root: unknown key"],
    ["null", { basePath: null }, "basePath: expected string, received null"],
    ["port as text", { listen: { port: "80" } }, "listen.port: expected number, received string"],
    ["broken port", { listen: { port: 80.5 } }, "listen.port: expected int, received number"],
    ["negative port", { listen: { port: -1 } }, "listen.port: must be 0 to 65535"],
    ["empty host", { listen: { host: "" } }, "listen.host: must not be empty"],
    ["key without a certificate", { listen: { tls: { key: "k" } } }, "listen.tls.cert: is missing"],
    ["relative base path", { basePath: "files" }, "basePath: must be empty or a path such as /files"],
    ["base path with dots", { basePath: "/a/../b" }, "basePath: must be empty or a path such as /files"],
    ["server name with a blank", { server: { name: "my server" } }, "server.name: must be an RFC 9110 token"],
    ["bucket left out", { storage: { type: "s3" } }, "storage.bucket: is missing"],
    [
      "key in the file",
      { storage: { type: "s3", bucket: "b-1", accessKeyId: "x" } },
      "storage.accessKeyId: unknown key",
    ],
    [
      "endpoint that is none",
      { storage: { type: "s3", bucket: "b-1", endpoint: "store" } },
      "storage.endpoint: must be an http or https URL without a user or a query",
    ],
    [
      "part that is too small",
      { storage: { type: "s3", bucket: "b-1", partBytes: 1000 } },
      "storage.partBytes: must be an integer from 5242880 to 67108864",
    ],
    [
      "container left out",
      { storage: { type: "azure", account: "abc", key: "YQ==" } },
      "storage.container: is missing",
    ],
    [
      "key that is none",
      { storage: { type: "azure", account: "abc", container: "files", key: "no key" } },
      "storage.key: must be a key of the account, in base64",
    ],
    ["unknown storage", { storage: { type: "tape" } }, "storage.type: expected 'disk' | 'memory' | 's3' | 'azure'"],
    ["storage without a type", { storage: {} }, "storage.type: expected 'disk' | 'memory' | 's3' | 'azure'"],
    ["disk without a root", { storage: { type: "disk" } }, "storage.root: is missing"],
    ["session without an end", { session: { idleSeconds: 0 } }, "session.idleSeconds: must be a positive number"],
    [
      "session limit beyond any",
      { session: { maxPerAccount: 1001 } },
      "session.maxPerAccount: must be a whole number from 0 to 1000",
    ],
    [
      "policy without a length",
      { passwordPolicy: { minLength: 0 } },
      "passwordPolicy.minLength: must be a whole number from 1 to 1024",
    ],
    [
      "policy that no password fits",
      { passwordPolicy: { maxLength: 8 } },
      "passwordPolicy.maxLength: must be a whole number from minLength on",
    ],
    ["unknown rule of the policy", { passwordPolicy: { minlength: 8 } }, "passwordPolicy.minlength: unknown key"],
    ["limit of none", { limits: { loginAttempts: 0 } }, "limits.loginAttempts: must be a whole number from 1 to 1000"],
    [
      "login of any size",
      { limits: { maxLoginBytes: 0 } },
      "limits.maxLoginBytes: must be a whole number from 1024 to 1048576",
    ],
    [
      "half a transfer",
      { limits: { transfersPerAccount: 0.5 } },
      "limits.transfersPerAccount: must be a whole number from 0 to 1000000",
    ],
    ["half a connection", { connections: { max: 0.5 } }, "connections.max: must be a whole number, or 0"],
    [
      "fewer connections than none",
      { connections: { maxPerAddress: -1 } },
      "connections.maxPerAddress: must be a whole number, or 0",
    ],
    ["head of no bytes", { connections: { maxHeaderBytes: 0 } }, "connections.maxHeaderBytes: must be 1024 to 1048576"],
    ["idle time before now", { connections: { idleSeconds: -1 } }, "connections.idleSeconds: must be 0 to 86400"],
    ["pace of a moment", { connections: { paceSeconds: 0 } }, "connections.paceSeconds: must be 1 to 86400"],
    [
      "deadline beyond a day",
      { connections: { deadlineSeconds: 86_401 } },
      "connections.deadlineSeconds: must be 0 to 86400",
    ],
    [
      "deadline as text",
      { connections: { deadlineSeconds: "30" } },
      "connections.deadlineSeconds: expected number, received string",
    ],
    ["unknown limit of connections", { connections: { min: 1 } }, "connections.min: unknown key"],
    ["window of none", { limits: { loginWindowSeconds: 0 } }, "limits.loginWindowSeconds: must be a positive number"],
    [
      "header with a blank",
      { clientForwardedHeader: "X Forwarded" },
      "clientForwardedHeader: must be empty or a header's name such as X-Forwarded-For",
    ],
    [
      "network without its address",
      { clientForwardedHeader: "X-Forwarded-For", trustedProxies: ["::1", "/8"] },
      "trustedProxies[1]: must be addresses or networks such as 10.0.0.0/8",
    ],
    [
      "list of proxies without a header",
      { trustedProxies: ["::1"] },
      "trustedProxies: must be given together with clientForwardedHeader",
    ],
    [
      "list of proxies with an empty header",
      { clientForwardedHeader: "", trustedProxies: [] },
      "trustedProxies: must be given together with clientForwardedHeader",
    ],
    [
      "public origin without a scheme",
      { publicOrigin: "files.example" },
      "publicOrigin: must be empty or an origin such as https://files.example",
    ],
    [
      "a cookie beside the base path",
      { basePath: "/files", session: { cookie: { path: "/other" } } },
      "session.cookie.path: must be the base path or a path above it",
    ],
    [
      "a cookie with a name that is none",
      { session: { cookie: { name: "a b" } } },
      "session.cookie.name: must be letters, digits, _, - and .",
    ],
    ["announce as text", { session: { announce: "no" } }, "session.announce: expected boolean, received string"],
    [
      "origin with a path",
      { acceptedOrigins: ["https://app.example", "https://app.example/x"] },
      "acceptedOrigins[1]: must be origins such as https://app.example",
    ],
    [
      "logo of another scheme",
      { branding: { logo: "http://cdn.example/logo.svg" } },
      "branding.logo: must be an https URL or a path such as /logo.svg",
    ],
    [
      "frame ancestor that is no origin",
      { frameAncestors: ["*"] },
      "frameAncestors[0]: must be origins such as https://intranet.example, or 'self' with its quotes",
    ],
    ["authentication as an object", { authentication: {} }, "authentication: expected array, received object"],
  ])("refuses a %s", (_case, change, problem) => {
    expect(problemsOf({ ...MINIMAL, ...change })).toEqual([problem]);
  });

  it.each<[string, unknown, string]>([
    [
      "both accounts and a file",
      { type: "accounts", accounts: [], file: "a.json" },
      ": must have either accounts or file",
    ],
    ["neither accounts nor a file", { type: "accounts" }, ": must have either accounts or file"],
    ["an unknown method", { type: "ldap" }, ".type: expected 'accounts' | 'http'"],
    ["an unknown member", accounts({ ...ALICE, admin: true }), ".accounts[0].admin: unknown key"],
    ["a missing password", accounts({ username: "alice" }), ".accounts[0].password: is missing"],
    ["an empty password", accounts({ username: "alice", password: "" }), ".accounts[0].password: must not be empty"],
    ["the same name twice", accounts(ALICE, ALICE), ".accounts[1].username: is already in use"],
    [
      "a relative home",
      accounts({ ...ALICE, home_folder_path: "x" }),
      ".accounts[0].home_folder_path: must be an absolute",
    ],
    ["an external method without a URL", { type: "http" }, ".url: is missing"],
    ["a URL that is none", { type: "http", url: "a.example" }, ".url: must be a URL"],
    ["a second URL that is none", { type: "http", url: "https://a.example, b.example" }, ".url[1]: must be a URL"],
    ["a key of the other method", { type: "http", url: "https://a.example", file: "a.json" }, ".file: unknown key"],
    ["a time-out of none", { type: "http", url: "https://a.example", timeoutSeconds: 0 }, ".timeoutSeconds: must be "],
    [
      "a header that breaks the exchange",
      { type: "http", url: "https://a.example", headers: "Host: x" },
      ".headers: must",
    ],
    ["a broken hash", accounts({ ...ALICE, password: "$scrypt$ln=99$" }), ".accounts[0].password: The password hash"],
  ])("refuses in authentication %s", (_case, entry, problem) => {
    const problems = problemsOf({ authentication: [entry] });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`authentication[0]${problem}`);
  });

  it("reports all problems, and no value", () => {
    const problems = problemsOf({
      listen: { port: "secret", hots: "secret" },
      basePath: "secret",
      session: { idleSeconds: -1 },
      authentication: [
        accounts({ username: "secret", password: 5 }),
        { type: "secret" },
        { type: "http", url: "https://secret@a.example", headers: "secret" },
      ],
    });
    expect(problems).toHaveLength(7);
    expect(problems.join("\n")).not.toContain("secret");
  });

  it("reports a file that does not hold an object", () => {
    expect(problemsOf([])).toEqual(["expected object, received array"]);
  });

  it.each([
    [{ digests: { computeBytes: -1 } }, "digests.computeBytes: must be a whole number of bytes, or 0"],
    [{ digests: { store: "memory" } }, "digests.store: unknown key"],
    [
      { idempotency: { store: "file://x" } },
      "idempotency.store: must be memory, redis://HOST, rediss://HOST or sqlite://FILE",
    ],
    [{ idempotency: { seconds: 0 } }, "idempotency.seconds: must be a positive number"],
    [{ scan: {} }, "scan.clamd: is missing"],
    [
      { scan: { clamd: "nowhere" } },
      "scan.clamd: must be host:port, or the path of a socket such as /run/clamav/clamd.ctl",
    ],
    [{ scan: { clamd: "a:1", maxBytes: 0 } }, "scan.maxBytes: must be a whole number of bytes"],
  ])("checks digests, retries and scans: %j", (keys, problem) => {
    expect(problemsOf({ ...MINIMAL, ...keys })).toEqual([problem]);
  });
});

function accounts(...entries: unknown[]): unknown {
  return { type: "accounts", accounts: entries };
}
