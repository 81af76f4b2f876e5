import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import {
  createPasswordHasher,
  equalBytes,
  isPasswordHash,
  type PasswordHasherOptions,
  parsePasswordHash,
} from "../../../../src/auth/passwords/hash.ts";
import { createNodePasswordHasher } from "../../../../src/auth/passwords/hash-node.ts";
import { startProcessorTime } from "../../../support/processor-time.ts";
import { areMutants } from "../../../support/timed.ts";

/**
 * RFC 7914 section 12, third vector: "pleaseletmein", salt "SodiumChloride". The other vectors have an empty password,
 * 4 bytes of salt, or need 1 GiB.
 */
const rfc7914 = `$scrypt$ln=14,r=8,p=1$${base64("SodiumChloride")}$${base64FromHex(
  "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887",
)}`;
/** The example in the documentation of passlib.hash.scrypt. */
const passlib = "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E";
/**
 * From src/test.c of the reference implementation, password "password", salt "somesalt". The vectors of RFC 9106 have
 * a secret and associated data, which these PHC strings cannot say.
 */
const argon2Reference = [
  "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
  "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
];
const cheap = argon2Reference[0] ?? "";

const hashers = { portable: createPasswordHasher, node: createNodePasswordHasher };

describe.each(Object.entries(hashers))("password hasher (%s)", (_name, createHasher) => {
  it("verifies the published scrypt vectors", async () => {
    const hasher = createHasher();
    expect(await hasher.verify("pleaseletmein", rfc7914)).toBe(true);
    expect(await hasher.verify("pleaseletmeim", rfc7914)).toBe(false);
    expect(await hasher.verify("password", passlib)).toBe(true);
  });

  it("verifies the vectors of the argon2 reference implementation", async () => {
    const hasher = createHasher();
    for (const phc of argon2Reference) {
      expect(await hasher.verify("password", phc)).toBe(true);
      expect(await hasher.verify("differentpassword", phc)).toBe(false);
    }
  });

  it("verifies what it hashed, with a salt of its own each time", async () => {
    const hasher = createHasher();
    const [first, second] = await Promise.all([hasher.hash("påsswörd 文"), hasher.hash("påsswörd 文")]);
    expect(first).toMatch(/^\$scrypt\$ln=13,r=8,p=10\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(second).not.toBe(first);
    expect(await hasher.verify("påsswörd 文", first)).toBe(true);
    expect(await hasher.verify("passwörd 文", first)).toBe(false);
  });

  it("gives way to what waits already before it computes", async () => {
    let isDone = false;
    setTimeout(() => {
      isDone = true;
    }, 0);
    await createHasher().verify("password", cheap);
    expect(isDone).toBe(true);
  });

  it.skipIf(areMutants)("lets timers run while logins queue", async () => {
    const hasher = createHasher();
    const startedAt = performance.now();
    let firstTick = 0;
    const timer = setTimeout(() => {
      firstTick = performance.now() - startedAt;
    }, 1);
    const logins = Array.from({ length: 8 }, () => hasher.verify("pleaseletmein", rfc7914));
    await Promise.all(logins);
    const all = performance.now() - startedAt;
    clearTimeout(timer);
    expect(firstTick).toBeGreaterThan(0);
    expect(firstTick).toBeLessThan(all / 2);
  });
});

it("verifies on one runtime what was hashed on the other", async () => {
  const [portable, node] = [createPasswordHasher(), createNodePasswordHasher()];
  expect(await node.verify("secret", await portable.hash("secret"))).toBe(true);
  expect(await portable.verify("secret", await node.hash("secret"))).toBe(true);
});

it.skipIf(areMutants)("keeps the main thread free on Node, for both algorithms", async () => {
  const hasher = createNodePasswordHasher();
  const slowArgon2 = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  for (const phc of [rfc7914, slowArgon2]) {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 2);
    await hasher.verify("password", phc);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
  }
});

describe("a password out of bounds", () => {
  const bad = ["", "password\0", "\0", "x".repeat(1025), "ä".repeat(513), "x".repeat(1_000_000)];

  it("is refused before anything is computed", async () => {
    const { options, calls } = countingOptions();
    const hasher = createPasswordHasher(options);
    for (const password of bad) {
      expect(await hasher.verify(password, cheap)).toBe(false);
      const error = new TypeError("A password must have 1 to 1024 bytes and no NUL.");
      await expect(hasher.hash(password)).rejects.toThrow(error);
    }
    expect(calls()).toBe(0);
  });

  it("begins beyond 1,024 bytes", async () => {
    const { options, calls } = countingOptions();
    const hasher = createPasswordHasher(options);
    await hasher.verify("x".repeat(1024), cheap);
    await hasher.verify("ä".repeat(512), cheap);
    expect(calls()).toBe(2);
  });
});

describe("the bound on computations at once", () => {
  it.each([
    ["portable", createPasswordHasher, 1],
    ["node", createNodePasswordHasher, availableParallelism() > 2 ? 2 : 1],
  ] as const)(
    "(%s) lets 64 wait, and answers the next one 503 with Retry-After",
    async (_name, createHasher, atOnce) => {
      const { options, calls, release } = countingOptions(true);
      const hasher = createHasher(options);
      const logins = Array.from({ length: atOnce + 64 }, () => hasher.verify("password", cheap));
      await expect(hasher.verify("password", cheap)).rejects.toMatchObject({
        name: "HttpError",
        failure: "unavailable",
        message: "Too many concurrent logins.",
        headers: { "Retry-After": "1" },
      });
      await expect(hasher.hash("password")).rejects.toMatchObject({ failure: "unavailable" });
      expect(calls()).toBe(atOnce);
      release();
      await Promise.all(logins);
      await hasher.verify("password", cheap);
      expect(calls()).toBe(atOnce + 65);
    },
  );

  it("never lets more run than it says, and gives the place of a failed one free", async () => {
    let running = 0;
    let most = 0;
    const hasher = createPasswordHasher({
      maxConcurrent: 3,
      argon2id: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running -= 1;
        throw new Error("out of memory");
      },
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => hasher.verify("password", cheap)));
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(most).toBe(3);
    await expect(hasher.verify("password", cheap)).rejects.toThrow("out of memory");
  });

  it("refuses bounds that are no counts", () => {
    expect(() => createPasswordHasher({ maxConcurrent: 0 })).toThrow(/^The option maxConcurrent /);
    expect(() => createPasswordHasher({ maxWaiting: Number.NaN })).toThrow(/^The option maxWaiting /);
  });
});

describe("a PHC string", () => {
  it("is taken apart", () => {
    const { id, parameters, salt, hash } = parsePasswordHash(rfc7914);
    expect({ id, parameters, salt: salt.length, hash: hash.length }).toEqual({
      id: "scrypt",
      parameters: { ln: 14, r: 8, p: 1 },
      salt: 14,
      hash: 64,
    });
    expect(parsePasswordHash(cheap)).toMatchObject({ id: "argon2id", parameters: { m: 256, t: 2, p: 1 } });
  });

  const salt = "c29tZXNhbHQ";
  const hash = "nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
  const tampered: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "The password hash is not a PHC string of scrypt or argon2id.": {
      "an empty text": "",
      "a plain password": "secret",
      "another algorithm": `$argon2i$v=19$m=256,t=2,p=1$${salt}$${hash}`,
      bcrypt: "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
      "an older version": `$argon2id$v=16$m=256,t=2,p=1$${salt}$${hash}`,
      "no version": `$argon2id$m=256,t=2,p=1$${salt}$${hash}`,
      "another order": `$argon2id$v=19$t=2,m=256,p=1$${salt}$${hash}`,
      "a missing parameter": `$scrypt$ln=4,r=8$${salt}$${hash}`,
      "an extra parameter": `$scrypt$ln=4,r=8,p=1,x=1$${salt}$${hash}`,
      "a leading zero": `$scrypt$ln=04,r=8,p=1$${salt}$${hash}`,
      "a sign": `$scrypt$ln=+4,r=8,p=1$${salt}$${hash}`,
      "a zero": `$scrypt$ln=4,r=0,p=1$${salt}$${hash}`,
      "an exponent": `$scrypt$ln=4,r=8,p=1e1$${salt}$${hash}`,
      "a blank at the end": `$scrypt$ln=4,r=8,p=1$${salt}$${hash} `,
      "a line break at the end": `$scrypt$ln=4,r=8,p=1$${salt}$${hash}\n`,
      "one more part": `$scrypt$ln=4,r=8,p=1$${salt}$${hash}$`,
      "no hash": `$scrypt$ln=4,r=8,p=1$${salt}`,
      "an empty hash": `$scrypt$ln=4,r=8,p=1$${salt}$`,
      padding: `$scrypt$ln=4,r=8,p=1$${salt}=$${hash}=`,
      "URL-safe Base64": `$scrypt$ln=4,r=8,p=1$${salt}$${hash.replace("/", "_")}`,
      "days of argon2id": `$argon2id$v=19$m=8,t=4294967295,p=1$${salt}$${hash}`,
      "something before scrypt": `x$scrypt$ln=4,r=8,p=1$${salt}$${hash}`,
      "something before argon2id": `x$argon2id$v=19$m=256,t=2,p=1$${salt}$${hash}`,
      "one more part of argon2id": `$argon2id$v=19$m=256,t=2,p=1$${salt}$${hash}$`,
    },
    "The password hash has a larger N than its r allows (RFC 7914 2).": {
      "an N beyond what r allows": `$scrypt$ln=16,r=1,p=1$${salt}$${hash}`,
    },
    "The password hash has less memory than its lanes need.": {
      "too little memory for its lanes": `$argon2id$v=19$m=256,t=2,p=64$${salt}$${hash}`,
    },
    "The password hash would cost too much memory or time to verify.": {
      "1 GiB of scrypt": `$scrypt$ln=20,r=8,p=1$${salt}$${hash}`,
      "2^99": `$scrypt$ln=99,r=99,p=99$${salt}$${hash}`,
      "minutes of scrypt": `$scrypt$ln=17,r=8,p=99$${salt}$${hash}`,
      "4 GiB of argon2id": `$argon2id$v=19$m=4194304,t=1,p=1$${salt}$${hash}`,
      "minutes of argon2id": `$argon2id$v=19$m=262144,t=9999,p=1$${salt}$${hash}`,
      "a KiB of argon2id too much": `$argon2id$v=19$m=262145,t=1,p=1$${salt}$${hash}`,
    },
    "The password hash has a salt or hash of odd length.": {
      "an endless hash": `$scrypt$ln=4,r=8,p=1$${salt}$${"A".repeat(1_000_000)}`,
      "a length no Base64 has": `$scrypt$ln=4,r=8,p=1$c29tZXNhb$${hash}AA`,
    },
    "The password hash is not canonical Base64.": {
      "spare bits": `$scrypt$ln=4,r=8,p=1$c29tZXNhbHR$${hash}`,
    },
    "The password hash has a salt or hash of less than 8 bytes.": {
      "a short salt": `$scrypt$ln=4,r=8,p=1$AAAA$${hash}`,
    },
    "The password hash has a salt or hash of less than 16 bytes.": {
      "a short hash": `$scrypt$ln=4,r=8,p=1$${salt}$AAAA`,
    },
  };
  const cases = Object.entries(tampered).flatMap(([problem, texts]) =>
    Object.entries(texts).map(([name, text]) => [name, problem, text] as const),
  );

  it.each(cases)("is refused with %s: %s", async (_name, problem, text) => {
    const { options, calls } = countingOptions();
    const hasher = createPasswordHasher(options);
    expect(() => parsePasswordHash(text)).toThrow(new TypeError(problem));
    await expect(hasher.verify("password", text)).rejects.toThrow(new TypeError(problem));
    expect(calls()).toBe(0);
  });

  it.skipIf(areMutants)("is refused quickly however hostile it is", () => {
    const elapsed = startProcessorTime();
    for (const text of ["$".repeat(1e6), `$scrypt$ln=4,r=8,p=1$${"A".repeat(1e6)}$${"$".repeat(1e6)}`]) {
      expect(() => parsePasswordHash(text)).toThrow(TypeError);
    }
    expect(elapsed()).toBeLessThan(500);
  });

  it("may cost anything up to the bounds", () => {
    for (const text of [
      `$scrypt$ln=4,r=8,p=1$${salt}$${hash}`,
      `$scrypt$ln=10,r=16,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=8,t=1,p=1$${salt}$${hash}`,
      `$argon2id$v=19$m=256,t=10,p=12$${salt}$${hash}`,
      `$scrypt$ln=17,r=8,p=1$${salt}$${hash}`,
      `$scrypt$ln=18,r=8,p=4$${salt}$${hash}`,
      `$argon2id$v=19$m=65536,t=3,p=4$${salt}$${hash}`,
      `$argon2id$v=19$m=262144,t=4,p=1$${salt}$${hash}`,
    ]) {
      expect(() => parsePasswordHash(text)).not.toThrow();
    }
  });

  it("does not verify with any one bit of its hash changed", async () => {
    const bytes = Buffer.from(hash, "base64");
    for (let bit = 0; bit < bytes.length * 8; bit += 37) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const phc = `$argon2id$v=19$m=256,t=2,p=1$${salt}$${changed.toString("base64").replaceAll("=", "")}`;
      expect(await createPasswordHasher().verify("password", phc)).toBe(false);
    }
  });
});

it("treats any text of the form $name$... as a hash, so that a hash is never a valid password", () => {
  for (const text of [rfc7914, cheap, "$2b$12$abc", "$6$rounds=1$x", "$pbkdf2-sha256$1$x"]) {
    expect(isPasswordHash(text)).toBe(true);
  }
  for (const text of ["secret", "$ecret", "$1,000 $2,000", "", "a$b$c", "$$"]) expect(isPasswordHash(text)).toBe(false);
});

it("compares byte strings of any lengths", () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);
  expect(equalBytes(bytes(), bytes())).toBe(true);
  expect(equalBytes(bytes(1, 2), bytes(1, 2))).toBe(true);
  expect(equalBytes(bytes(1, 2), bytes(1, 3))).toBe(false);
  expect(equalBytes(bytes(1, 0), bytes(1))).toBe(false);
  expect(equalBytes(bytes(1), bytes(1, 0))).toBe(false);
  expect(equalBytes(bytes(), bytes(0))).toBe(false);
});

/** Derivations that count their calls and can wait for `release`. */
function countingOptions(held = false): { options: PasswordHasherOptions; calls(): number; release(): void } {
  let calls = 0;
  let release: () => void = () => {};
  const released = held ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve();
  async function derive(_password: Uint8Array, _salt: Uint8Array, length: number): Promise<Uint8Array> {
    calls += 1;
    await released;
    return new Uint8Array(length);
  }
  return { options: { scrypt: derive, argon2id: derive }, calls: () => calls, release: () => release() };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64").replaceAll("=", "");
}

function base64FromHex(text: string): string {
  return Buffer.from(text, "hex").toString("base64").replaceAll("=", "");
}
