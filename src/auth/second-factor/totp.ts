import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { isSameText } from "../../platform/constant-time.ts";

/** Every authenticator app supports these settings (RFC 6238): HMAC-SHA-1, 6 digits, 30 seconds. */
const SETTINGS = "algorithm=SHA1&digits=6&period=30";
const DIGITS = 6;
const STEP_MS = 30_000;
/** A code also counts one step before and after its own, as clocks differ (RFC 6238 5.2). */
const NEAR_STEPS = [0, -1, 1];
/** 160 bits, the length of the HMAC's digest (RFC 4226 4, R6). */
const SECRET_CHARACTERS = 32;
/** Base32: 5 bits a character (RFC 4648 6). */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Whether a text can be a one-time password, and not a recovery code. */
export function isOneTimePassword(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}

/**
 * Returns the time step of a one-time password, to accept each step once; `undefined` for a wrong one. `secret` is
 * Base32 in upper case, `now` is milliseconds since the epoch.
 */
export function findStep(secret: string, password: string, now: number): number | undefined {
  const key = decodeBase32(secret);
  const steps = NEAR_STEPS.map((delta) => Math.floor(now / STEP_MS) + delta);
  return steps.find((step) => isSameText(password, toOneTimePassword(key, step)));
}

/** Makes a random secret in Base32. */
export function createTotpSecret(): string {
  const random = crypto.getRandomValues(new Uint8Array(SECRET_CHARACTERS));
  return Array.from(random, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** Returns the `otpauth://` URL that authenticator apps read from a QR code. It contains the secret. */
export function toTotpUrl(secret: string, username: string, issuer: string): string {
  const name = encodeURIComponent(username);
  const service = encodeURIComponent(issuer);
  const label = service === "" ? `${name}?` : `${service}:${name}?issuer=${service}&`;
  return `otpauth://totp/${label}secret=${secret}&${SETTINGS}`;
}

/** Computes the one-time password of a step (RFC 4226 5.3). */
function toOneTimePassword(key: Uint8Array, step: number): string {
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const digest = hmac(sha1, key, new Uint8Array(counter.buffer));
  const offset = (digest.at(-1) ?? 0) & 0x0f;
  const number = new DataView(digest.buffer, digest.byteOffset).getUint32(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** Bits after the last complete byte are ignored. */
function decodeBase32(text: string): Uint8Array {
  const bits = Array.from(text, (character) => ALPHABET.indexOf(character).toString(2).padStart(5, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
