import type { Credentials } from "../../contracts/authenticator.ts";
import { type Component, NIL_UUID, type Peer, type Trace } from "../../contracts/connection.ts";
import type { HeaderLines } from "../../outbound/headers.ts";
import { toTraceLines } from "../../outbound/trace-headers.ts";
import { randomHex } from "../../platform/random-hex.ts";
import { hasLoneSurrogate } from "../../platform/text-encoding.ts";
import { type AuthenticationRequest, MAX_MESSAGE_BYTES } from "../../schemas/remote-auth.ts";
import type { RemoteSettings } from "./options.ts";

/** An authentication request, ready to be sent. */
export interface EncodedAuthRequest {
  /** JSON in UTF-8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The component that received the login, as in the body. */
  readonly creator: Component;
  /** The server of that component, as in the body. */
  readonly server: { readonly uuid: string };
  /** The trace of the login. */
  readonly trace: Trace | undefined;
  /** The header fields of the trace; none if the configured fields name another. */
  readonly traceLines: HeaderLines;
}

/** Stands for a client without a known address. */
const unknownPeer: Peer = { address: "0.0.0.0", port: 0, family: "IPv4", protocol: "TCP" };

/** Creates the body of an authentication request (2.3), or returns in English why these credentials cannot be sent. */
export function encodeAuthRequest(
  credentials: Credentials,
  { server: configuredServer, creator: configured, headers }: Pick<RemoteSettings, "server" | "creator" | "headers">,
): EncodedAuthRequest | string {
  const { type, username, content, peer = unknownPeer, trace } = credentials;
  if (username === "") return "the username is empty: no request sent";
  if (content === "") return "the credentials are empty: no request sent";
  // JSON would send a lone surrogate as an escape. Decoders replace it, or compare it unequal to any other text.
  if (hasLoneSurrogate(username) || hasLoneSurrogate(content))
    return "the credentials cannot be encoded as UTF-8: no request sent";
  const { address, port, family, protocol } = peer;
  const creator: Component = {
    uuid: configured.uuid ?? credentials.creator?.uuid ?? NIL_UUID,
    type: configured.type ?? credentials.creator?.type ?? "http",
  };
  const server = { uuid: configuredServer?.uuid ?? credentials.server?.uuid ?? NIL_UUID };
  const request: AuthenticationRequest = {
    credentials: { type, username, content, peer: { address, port, family, protocol }, creator },
    server,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  if (bytes.byteLength > MAX_MESSAGE_BYTES) return "the credentials are too large: no request sent";
  return { bytes, creator, server, trace, traceLines: toTraceLines(trace, headers) };
}

/** Credentials of an account that does not exist, for the test at the start (4.7, rule 1). */
export function madeUpCredentials(): Credentials {
  return { type: "password", username: `start-up-test-${randomHex(8)}`, content: randomHex(16) };
}
