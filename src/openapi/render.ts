import { stringify } from "yaml";
import { toDocument } from "./document.ts";
import type { OpenApiInput } from "./input.ts";

/** The description of a service, as texts of the same; either is made once, when it is asked for. */
export interface Description {
  yaml(): string;
  json(): string;
}

/** Describes a service in OpenAPI 3.0.3 (1.1, item 3; 9). */
export function describe(service: OpenApiInput): Description {
  const document = toDocument(service);
  return {
    // Many readers are of YAML 1.1, to which `on` and `2018-11-13` are no texts.
    yaml: once(() => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false, compat: "yaml-1.1" })),
    json: once(() => JSON.stringify(document)),
  };
}

function once(make: () => string): () => string {
  let made: string | undefined;

  return function recall() {
    made ??= make();
    return made;
  };
}
