import { dump } from "js-yaml";
import { toDocument } from "./document.ts";
import type { OpenApiInput } from "./input.ts";

/** The OpenAPI document of a service as text. Each text is rendered when it is first requested, and then reused. */
export interface OpenApiTexts {
  yaml(): string;
  json(): string;
}

/** Creates the OpenAPI 3.0.3 document of a service (1.1, item 3; 9). */
export function renderOpenApi(service: OpenApiInput): OpenApiTexts {
  const document = toDocument(service);
  return {
    // It quotes `on` and `2018-11-13`, which the many parsers of YAML 1.1 would read as a boolean and a date.
    yaml: once(() => dump(document, { lineWidth: -1, noRefs: true })),
    json: once(() => JSON.stringify(document)),
  };
}

function once(render: () => string): () => string {
  let rendered: string | undefined;

  return function renderOnce() {
    rendered ??= render();
    return rendered;
  };
}
