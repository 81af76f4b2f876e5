import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";

export const ISSUER = "https://login.example";
export const AUDIENCE = "files";

/** A key that signs tokens, as the issuer has it. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: string;
  readonly keys: GenerateKeyPairResult;
}

export async function createSigningKey(kid: string, algorithm = "ES256"): Promise<SigningKey> {
  return { kid, algorithm, keys: await generateKeyPair(algorithm, { extractable: true }) };
}

/** What the issuer publishes of its keys. */
export async function toKeySet(...signers: readonly SigningKey[]): Promise<JSONWebKeySet> {
  const toPublic = async ({ kid, algorithm, keys }: SigningKey) => ({
    ...(await exportJWK(keys.publicKey)),
    kid,
    alg: algorithm,
  });
  return { keys: await Promise.all(signers.map(toPublic)) };
}

/** What a token has besides what it needs; `undefined` leaves a claim out. */
export interface TokenParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Partial<JWTHeaderParameters>;
  readonly key?: CryptoKey | Uint8Array;
}

/** Signs a token of ann that is valid for five minutes. */
export async function signToken(signer: SigningKey, { claims, header, key }: TokenParts = {}): Promise<string> {
  const payload: JWTPayload = { iss: ISSUER, aud: AUDIENCE, sub: "ann", exp: inSeconds(300), ...claims };
  const protectedHeader = { alg: signer.algorithm, kid: signer.kid, ...header };
  return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key ?? signer.keys.privateKey);
}

/** The time of a claim. */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

/** The endpoint of an issuer's keys. */
export interface KeyServer {
  readonly url: string;
  /** How often it was asked. */
  readonly asked: () => number;
  /** Changes what it responds from now on. */
  respond(status: number, body: string): void;
  stop(): Promise<void>;
}

export async function startKeyServer(keySet: JSONWebKeySet): Promise<KeyServer> {
  let response = { status: 200, body: JSON.stringify(keySet) };
  let asked = 0;
  const server = createServer((_request, reply) => {
    asked += 1;
    const headers = { "content-type": "application/json", connection: "close", location: "/other" };
    reply.writeHead(response.status, headers).end(response.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    asked: () => asked,
    respond(status, body) {
      response = { status, body };
    },
    async stop() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
