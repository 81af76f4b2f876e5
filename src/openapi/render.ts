import { dump } from "js-yaml";
import { toDocument } from "./document.ts";
import type { OpenApiInput } from "./input.ts";

/** The OpenAPI document of a service as text. Each text is rendered when it is first requested, and then reused. */
export interface OpenApiTexts {
  yaml(): string;
  json(): string;
}

/** An application may have a service for each tenant. More documents than this are not shared. */
const MAX_SHARED = 16;
const shared = new Map<string, OpenApiTexts>();

/**
 * Creates the OpenAPI 3.0.3 document of a service (1.1, item 3; 9). Services of one process with the same input share
 * their texts, which have hundreds of kilobytes.
 */
export function renderOpenApi(service: OpenApiInput): OpenApiTexts {
  const key = JSON.stringify(service);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const texts = createTexts(service);
  if (shared.size === MAX_SHARED) shared.clear();
  shared.set(key, texts);
  return texts;
}

function createTexts(service: OpenApiInput): OpenApiTexts {
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
