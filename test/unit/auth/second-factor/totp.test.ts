import { describe, expect, it } from "vitest";
import { createTotp } from "../../../../src/auth/second-factor/create-totp.ts";
import { findRecoveryCode } from "../../../../src/auth/second-factor/recovery-codes.ts";
import { createTotpSecret, findStep, toTotpUrl } from "../../../../src/auth/second-factor/totp.ts";
import { accountTotpSchema } from "../../../../src/schemas/totp.ts";
import { TOTP_SECRET } from "../../../support/secrets/totp.ts";

/** RFC 6238 B, SHA-1: seconds, and the last 6 of the 8 digits. */
const VECTORS = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
] as const;

describe("a one-time password", () => {
  it.each(VECTORS)("at %d s is %s (RFC 6238 B)", (seconds, password) => {
    expect(findStep(TOTP_SECRET, password, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it("counts one step before and after its own, and no more (RFC 6238 5.2)", () => {
    const own = Math.floor(1_234_567_890 / 30);
    const found = [-2, -1, 0, 1, 2].map((steps) => findStep(TOTP_SECRET, "005924", (own + steps) * 30_000));
    expect(found).toEqual([undefined, own, own, own, undefined]);
  });

  it.each(["005925", "00592", "0059240", "", "００５９２４"])("is not %j", (password) => {
    expect(findStep(TOTP_SECRET, password, 1_234_567_890_000)).toBeUndefined();
  });
});

describe("new one-time passwords", () => {
  it("have a random secret of 160 bits, and a URL for the app with all that it needs to know", () => {
    const { totp, url } = createTotp({ username: "alice & bob", issuer: "Files: ours" });
    expect(totp.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(createTotpSecret()).not.toBe(totp.secret);
    const { protocol, host, pathname, searchParams } = new URL(url);
    expect([protocol, host, decodeURIComponent(pathname)]).toEqual(["otpauth:", "totp", "/Files: ours:alice & bob"]);
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ issuer: "Files: ours", secret: totp.secret, algorithm: "SHA1", digits: "6", period: "30" },
    });
    expect(accountTotpSchema.parse(totp)).toEqual(totp);
  });

  it("have a URL without an issuer, if the service has no name", () => {
    expect(toTotpUrl(TOTP_SECRET, "alice", "")).toBe(
      `otpauth://totp/alice?secret=${TOTP_SECRET}&algorithm=SHA1&digits=6&period=30`,
    );
  });

  it("have ten recovery codes of 80 bits, of which only digests are kept", () => {
    const { totp, recoveryCodes } = createTotp({ username: "alice" });
    const { recovery_codes: digests = [] } = totp;
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const [index, code] of recoveryCodes.entries()) {
      expect(code).toMatch(/^(?:[0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
      expect(JSON.stringify(totp)).not.toContain(code);
      expect(findRecoveryCode(code, digests)).toBe(digests[index]);
      expect(findRecoveryCode(` ${code.toUpperCase().replaceAll("-", " ")}`, digests)).toBe(digests[index]);
    }
    expect(findRecoveryCode("0000-0000-0000-0000", digests)).toBeUndefined();
    expect(findRecoveryCode(digests[0] ?? "", digests)).toBeUndefined();
  });
});

describe("the setting totp of an account", () => {
  it.each([
    ["a short secret", { secret: "GEZDGNBVGY3TQOJQ" }],
    ["a secret that is no Base32", { secret: TOTP_SECRET.toLowerCase() }],
    ["a recovery code that is no digest", { secret: TOTP_SECRET, recovery_codes: ["7q2m-x0tf-9k4d-hz81"] }],
    ["an unknown member", { secret: TOTP_SECRET, digits: 8 }],
  ])("is refused with %s, without its value", (_case, totp) => {
    const { error } = accountTotpSchema.safeParse(totp);
    expect(error?.issues).toHaveLength(1);
    for (const text of [totp.secret, "7q2m"]) expect(String(error)).not.toContain(text);
  });
});
