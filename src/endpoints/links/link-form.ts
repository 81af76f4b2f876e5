import { createError } from "../../http/errors.ts";
import type { EnteredLink } from "../../views/links/new-link-page.ts";

/** The fields of the form that describes a new link. Those that are empty are absent. */
export interface LinkForm extends EnteredLink {
  readonly action?: string | undefined;
  readonly path?: string | undefined;
  readonly password?: string | undefined;
  /** Whether it has a field that is not of this form, or one twice. */
  readonly hasUnexpected: boolean;
}

const TEXTS = ["action", "path", "expires_in", "password", "max_uses", "max_file_bytes", "ask_name", "label"] as const;

/** Reads the fields of a form. Only `permissions` may come more than once. */
export function parseLinkForm(form: URLSearchParams): LinkForm {
  const fields = new Map<string, string>();
  const permissions: string[] = [];
  let hasUnexpected = false;
  for (const [name, value] of form) {
    if (name === "permissions") permissions.push(value);
    else if (fields.has(name) || !(TEXTS as readonly string[]).includes(name)) hasUnexpected = true;
    else fields.set(name, value);
  }
  const texts = Object.fromEntries(TEXTS.map((name) => [name, fields.get(name) || undefined]));
  return { ...(texts as Record<(typeof TEXTS)[number], string | undefined>), permissions, hasUnexpected };
}

/**
 * Returns the description of a link that a form stands for, with the types of the JSON body. It is not checked yet.
 * @throws HttpError `malformed` for a form that is not of the page.
 */
export function toNewLinkBody({ action, hasUnexpected, ...form }: LinkForm): unknown {
  if (hasUnexpected)
    throw createError("link-malformed", { values: { problem: "it has an unknown or repeated field" } });
  if (action !== undefined) throw createError("form-action-unknown");
  const { permissions, expires_in: expires, max_uses: uses, max_file_bytes: bytes, ask_name: asks, ...texts } = form;
  const body = {
    ...texts,
    permissions: permissions.length === 0 ? undefined : permissions,
    expires_in: toNumber(expires),
    max_uses: toNumber(uses),
    max_file_bytes: toNumber(bytes),
    ask_name: asks === undefined ? undefined : (ANSWERS.get(asks) ?? asks),
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** `on`: a checked box without a value. */
const ANSWERS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["on", true],
  ["false", false],
]);

/** A number of digits alone; other texts stay, and are refused. */
function toNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text;
}
