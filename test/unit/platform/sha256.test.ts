import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sha256Hex, sha256Portable } from "../../../src/platform/sha256.ts";

it.each(["", "alice", "påsswörd 文 💚", "x".repeat(10_000)])("is the SHA-256 of %j, of the runtime or not", (text) => {
  const digest = createHash("sha256").update(text).digest("hex");
  expect([sha256Hex(text), sha256Portable(text)]).toEqual([digest, digest]);
});
