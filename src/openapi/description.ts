import { stringify } from "yaml";
import type { DescribedService } from "./described-service.ts";
import { toDocument } from "./document.ts";

/** The description of a service, as texts of the same; either is made once, when it is asked for. */
export interface Description {
  yaml(): string;
  json(): string;
}

/** Describes a service in OpenAPI 3.0.3 (1.1, item 3; 9). */
export function describe(service: DescribedService): Description {
  const document = toDocument(service);
  return {
    yaml: once(() => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })),
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
