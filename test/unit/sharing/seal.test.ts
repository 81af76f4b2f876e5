import { describe, expect, it } from "vitest";
import { createSeal } from "../../../src/sharing/seal.ts";

const [FIRST, SECOND] = ["the first secret, of 32 characters", "the second secret, of 32 characters"];

describe("a seal (SHARING 2)", () => {
  it("opens what it has sealed, and tells nothing of it", async () => {
    const seal = createSeal([FIRST], "test 1");
    const token = await seal.seal('{"path":"/reports"}');
    expect(token).toMatch(/^[0-9a-f]{8}\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/);
    expect(await seal.open(token)).toBe('{"path":"/reports"}');
    expect(await seal.seal('{"path":"/reports"}')).not.toBe(token);
  });

  it("opens by every secret, seals by the first one, and ends with a secret", async () => {
    const old = await createSeal([FIRST], "test 1").seal("old");
    const both = createSeal([SECOND, FIRST], "test 1");
    expect(await both.open(old)).toBe("old");
    const next = await both.seal("next");
    const rotated = createSeal([SECOND], "test 1");
    expect(await rotated.open(next)).toBe("next");
    expect(await rotated.open(old)).toBeUndefined();
  });

  it("opens no token of another purpose", async () => {
    const token = await createSeal([FIRST], "test 1").seal("x");
    expect(await createSeal([FIRST], "test 2").open(token)).toBeUndefined();
  });

  it("opens no text that is none, or is written otherwise", async () => {
    const seal = createSeal([FIRST], "test 1");
    const token = await seal.seal("x");
    const [kid, iv, ciphertext, tag] = token.split(".");
    const others = [
      "",
      "x",
      `${kid}.${iv}.${ciphertext}`,
      `${token}.`,
      `${token}=`,
      ` ${token}`,
      `${kid?.toUpperCase()}.${iv}.${ciphertext}.${tag}`.replace(/^\d+\./, "X."),
      `${kid}.${iv}.${ciphertext}=.${tag}`,
      `${kid}.${iv}..${tag}`,
      `${kid}.${iv}.${ciphertext}.${tag?.slice(0, -1)}B`,
      "a".repeat(4097),
      `00000000.${iv}.${ciphertext}.${tag}`,
    ];
    for (const text of others) expect(await seal.open(text), text).toBeUndefined();
  });
});
