import { stringify } from "yaml";
import type { DescribedService } from "./described-service.ts";
import { toDocument } from "./document.ts";

/** The description of a service, as texts of the same. */
export interface Description {
  readonly yaml: string;
  readonly json: string;
}

export function describe(service: DescribedService): Description {
  const document = toDocument(service);
  const yaml = stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
  return { yaml, json: JSON.stringify(document) };
}
