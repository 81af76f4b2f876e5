import { NIL_UUID } from "../contracts/connection.ts";
import { checkOption } from "../contracts/option-error.ts";
import { isHttpToken, isObject } from "./checks.ts";
import type { FileServiceOptions } from "./options.ts";
import { VERSION } from "./version.ts";

/** What a service is called in headers and events. */
export interface ServiceNames {
  /** The value of the `Server` header. */
  readonly serverHeader: string;
  readonly server: { readonly uuid: string };
  readonly component: { readonly uuid: string };
}

/** Checks the options `server` and `component`. @throws OptionError */
export function toServiceNames({ server = {}, component = {} }: FileServiceOptions): ServiceNames {
  checkOption(isObject(server), "server", "an object");
  const { name = "fileferry", uuid: serverUuid = NIL_UUID } = server;
  checkOption(isHttpToken(name), "server.name", "an RFC 9110 token");
  checkOption(isUuid(serverUuid), "server.uuid", "a UUID");
  checkOption(isObject(component), "component", "an object");
  const { uuid: componentUuid = NIL_UUID } = component;
  checkOption(isUuid(componentUuid), "component.uuid", "a UUID");
  return {
    serverHeader: `${name}/${VERSION}`,
    server: { uuid: serverUuid },
    component: { uuid: componentUuid },
  };
}

function isUuid(text: unknown): boolean {
  return typeof text === "string" && /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text);
}
