import { toBase64 } from "../../platform/text-encoding.ts";
import type { AuthenticationRequest } from "../../schemas/remote-auth.ts";

/** What the log gets of an error. It has only texts, because an error's own members could hold complete requests. */
interface DescribedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly causes?: readonly DescribedError[];
}

const WITHHELD = "withheld because it contains the credentials";
const MAX_DEPTH = 4;

/** What of a thrown value may appear in the log: nothing if any of its texts holds the secret of the request. */
export function describeThrown(thrown: unknown, { credentials }: AuthenticationRequest): DescribedError {
  try {
    const described = describe(thrown, 0);
    const texts = textsOf(described).join("\n");
    const holdsSecret = toSecretForms(credentials).some((form) => texts.includes(form));
    return holdsSecret ? { name: "Error", message: WITHHELD } : described;
  } catch {
    return { name: "Error", message: "withheld because it cannot be read" };
  }
}

/** The forms in which messages quote a secret: as it is, in JSON, in a URL or form, in Base64, and as HTTP Basic. */
function toSecretForms({ username, content }: AuthenticationRequest["credentials"]): readonly string[] {
  const inForm = new URLSearchParams([["", content]]).toString().slice(1);
  const inBase64 = [content, `${username}:${content}`].flatMap(toBase64Forms);
  return [
    content,
    JSON.stringify(content).slice(1, -1),
    encodeURIComponent(content),
    encodeURI(content),
    inForm,
    ...inBase64,
  ];
}

/**
 * Base64 without padding, which is also the start of the padded form, and the variant for URLs and file names (RFC 4648
 * 5).
 */
function toBase64Forms(text: string): readonly string[] {
  const base64 = toBase64(text).replaceAll("=", "");
  return [base64, base64.replaceAll("+", "-").replaceAll("/", "_")];
}

function describe(thrown: unknown, depth: number): DescribedError {
  if (typeof thrown !== "object" || thrown === null) return { name: typeof thrown, message: String(thrown) };
  const { name, message, code, stack, cause, errors } = thrown as Readonly<Record<string, unknown>>;
  const causes = depth < MAX_DEPTH ? [cause, ...(Array.isArray(errors) ? errors.slice(0, 8) : [])] : [];
  const known = causes.filter((one) => one !== undefined);
  return {
    name: typeof name === "string" ? name : "object",
    message: typeof message === "string" ? message : "",
    ...(typeof code === "string" || typeof code === "number" ? { code: String(code) } : {}),
    ...(typeof stack === "string" ? { stack } : {}),
    ...(known.length > 0 ? { causes: known.map((one) => describe(one, depth + 1)) } : {}),
  };
}

function textsOf({ name, message, code = "", stack = "", causes = [] }: DescribedError): readonly string[] {
  return [name, message, code, stack, ...causes.flatMap(textsOf)];
}
