import { describe, expect, it } from "vitest";
import { createPasswordHasher } from "../../../../src/auth/passwords/hash.ts";

const PHC = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

/** A hasher that computes one password at each call of a step, and the passwords that it has started to compute. */
function createStepwise() {
  const begun: string[] = [];
  let finish: () => void = () => undefined;
  const hasher = createPasswordHasher({
    argon2id: async (password) => {
      begun.push(new TextDecoder().decode(password));
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return new Uint8Array(32);
    },
  });

  /** Starts a login, and returns whether it was refused. */
  async function logIn(password: string, address?: string): Promise<string> {
    const result = hasher.verify(password, PHC, address).then(
      () => "computed",
      (error: { readonly code: string }) => error.code,
    );
    return Promise.race([result, new Promise<string>((resolve) => setImmediate(() => resolve("waits")))]);
  }

  async function step(): Promise<void> {
    finish();
    await new Promise((resolve) => setImmediate(resolve));
  }

  return { begun, logIn, step };
}

describe("passwords that wait to be verified", () => {
  it("take turns by network: an honest one waits for one of each other network at most", async () => {
    const { begun, logIn, step } = createStepwise();
    for (let guess = 0; guess < 10; guess++) {
      for (const network of [1, 2, 3]) expect(await logIn(`guess ${network}`, `192.0.2.${network}`)).toBe("waits");
    }
    expect(await logIn("honest", "198.51.100.1")).toBe("waits");
    expect(await logIn("honest too", "198.51.100.1")).toBe("waits");
    while (!begun.includes("honest too")) await step();
    const [first, second] = [begun.indexOf("honest"), begun.indexOf("honest too")];
    expect(first).toBeLessThanOrEqual(4);
    expect(second - first).toBe(4);
  });

  it("count IPv6 addresses by their first 64 bits", async () => {
    const { begun, logIn, step } = createStepwise();
    for (let guess = 0; guess < 30; guess++) await logIn("guess", `2001:db8::${guess + 1}`);
    await logIn("honest", "2001:db8:0:1::1");
    while (!begun.includes("honest")) await step();
    expect(begun.length).toBeLessThanOrEqual(3);
  });

  it("are refused beyond 32 of a network and 64 in all, but a network may always add its first one", async () => {
    const { logIn } = createStepwise();
    await logIn("computed now");
    const results: string[] = [];
    for (let guess = 0; guess < 33; guess++) results.push(await logIn("guess", "192.0.2.1"));
    expect(results.filter((result) => result === "waits")).toHaveLength(32);
    expect(results.at(-1)).toBe("too-many-logins");
    for (let guess = 0; guess < 32; guess++) expect(await logIn("guess", "192.0.2.2")).toBe("waits");
    expect(await logIn("honest", "198.51.100.1")).toBe("waits");
    expect(await logIn("honest", "198.51.100.1"), "its second one").toBe("too-many-logins");
    expect(await logIn("honest"), "of an unknown address").toBe("waits");
  });

  it("are refused beyond 1,024 other networks", async () => {
    const { logIn } = createStepwise();
    await logIn("computed now");
    for (let guess = 0; guess < 64 + 1024; guess++) {
      expect(await logIn("guess", `10.0.${guess >> 8}.${guess & 255}`)).toBe("waits");
    }
    expect(await logIn("honest", "198.51.100.1")).toBe("too-many-logins");
  });
});
