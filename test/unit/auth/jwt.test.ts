import { describe, expect, it } from "vitest";
import { createJwtIdentifier, type JwtIdentifierOptions } from "../../../src/auth/jwt.ts";
import { OptionError } from "../../../src/contracts/option-error.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
/** A public key that is given as text would be a secret that everybody knows. */
const PEM = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n";
const PUBLIC = { kty: "EC", crv: "P-256", x: "x", y: "y" };

const options: JwtIdentifierOptions = {
  issuer: "https://login.example",
  audience: "files",
  algorithms: ["ES256"],
  jwks: { keys: [] },
  toAccount: () => undefined,
};

function create(changed: object): () => unknown {
  return () => createJwtIdentifier({ ...options, ...changed } as JwtIdentifierOptions);
}

describe("createJwtIdentifier", () => {
  it("leaves API keys to the service", async () => {
    const identify = createJwtIdentifier(options);
    const authorization = `Bearer ff_${"0".repeat(16)}_${"1".repeat(32)}`;
    const request = new Request("https://files.example/home/", { headers: { authorization } });
    expect(await identify(request, {})).toBeUndefined();
    const other = new Request("https://files.example/home/", { headers: { authorization: `${authorization}2` } });
    await expect(identify(other, {})).rejects.toMatchObject({ code: "token-invalid" });
  });

  it.each<[string, object]>([
    ["a set of keys", {}],
    ["a URL", { jwks: "https://login.example/jwks.json" }],
    ["a URL object", { jwks: new URL("https://login.example/jwks.json") }],
    ["a public key", { jwks: undefined, key: PUBLIC }],
    ["a secret", { jwks: undefined, key: SECRET, algorithms: ["HS256", "HS512"] }],
    ["lists", { issuer: ["a", "b"], audience: ["c"] }],
  ])("accepts %s", (_what, changed) => {
    expect(create(changed)()).toHaveProperty("challenge", 'Bearer realm="Web files access"');
  });

  it.each<[string, object]>([
    ["issuer", { issuer: undefined }],
    ["issuer", { issuer: "" }],
    ["issuer", { issuer: [] }],
    ["audience", { audience: undefined }],
    ["audience", { audience: [1] }],
    ["algorithms", { algorithms: undefined }],
    ["algorithms", { algorithms: [] }],
    ["algorithms", { algorithms: ["none"] }],
    ["algorithms", { algorithms: ["ES256", "none"] }],
    ["algorithms", { algorithms: ["HS256"] }],
    ["algorithms", { jwks: undefined, key: PUBLIC, algorithms: ["ES256", "HS256"] }],
    ["algorithms", { jwks: undefined, key: SECRET }],
    ["jwks", { jwks: undefined }],
    ["jwks", { key: PUBLIC }],
    ["jwks", { jwks: null }],
    ["jwks", { jwks: "file:///etc/jwks.json" }],
    ["jwks", { jwks: {} }],
    ["jwks", { jwks: { keys: "none" } }],
    ["key", { jwks: undefined, key: null }],
    ["key", { jwks: undefined, key: "too-short", algorithms: ["HS256"] }],
    ["key", { jwks: undefined, key: { kty: "oct", k: "dG9vLXNob3J0" }, algorithms: ["HS256"] }],
    ["key", { jwks: undefined, key: { ...PUBLIC, d: "private" } }],
    ["key", { jwks: undefined, key: PEM, algorithms: ["HS256"] }],
    ["key", { jwks: undefined, key: `\n${PEM}`, algorithms: ["RS256"] }],
    ["key", { jwks: undefined, key: Buffer.from(PEM), algorithms: ["HS256"] }],
    ["toAccount", { toAccount: undefined }],
  ])("names the option that is wrong: %s in %j", (option, changed) => {
    const wrong = create(changed);
    expect(wrong).toThrow(OptionError);
    expect(wrong).toThrow(`The option ${option} must be `);
    expect(wrong).not.toThrow(/too-short|private|BEGIN/);
  });

  it("refuses unknown options, and says which one was probably meant", () => {
    expect(create({ algoritms: [] })).toThrow(
      new OptionError("algoritms", "left out: it is not a known option (did you mean algorithms?)"),
    );
  });
});
