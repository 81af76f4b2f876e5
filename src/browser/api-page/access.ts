import { HEADERS } from "../requests.ts";
import type { ViewerResponse } from "./requests.ts";
import type { ApiPageTexts } from "./texts.ts";
import type { Viewer } from "./viewer.ts";

/** The security scheme of the OpenAPI document that takes a session. */
const SCHEME = "session";

const LOGOUT = "/__svc__/logout";

/** The login and logout of the page. */
export interface Access {
  /** Shows the login form. Call this when the viewer knows the security schemes. */
  offer(viewer: Viewer): void;
  /** Checks after a call whether the session has ended. */
  onResponse(response: ViewerResponse): void;
}

/**
 * Creates the login of the API page. The session ID is only in a variable of the page, and leaving the page ends the
 * session: the browser stores neither the password nor the session ID.
 */
export function createAccess(root: HTMLElement, service: string, texts: ApiPageTexts): Access {
  const form = find<HTMLFormElement>(root, "#login");
  const access = find(root, "#access");
  const message = find(root, "#message");
  const codeField = find(form, "#code-field");
  const [submit, logout] = [find<HTMLButtonElement>(form, "button"), find<HTMLButtonElement>(root, "#logout")];
  let viewer: Viewer | undefined;
  let session: string | undefined;

  function say(text: string, isProblem = false): void {
    message.textContent = text;
    message.classList.toggle("problem", isProblem);
  }

  function show(): void {
    form.hidden = session !== undefined;
    access.hidden = session === undefined;
  }

  async function logIn(): Promise<void> {
    const fields = new FormData(form);
    say("");
    submit.disabled = true;
    try {
      const response = await askForSession(service, fields);
      if (typeof response !== "string") {
        if (toCode(response) in texts.secondFactor) codeField.hidden = false;
        return say(toProblem(response, texts), true);
      }
      session = response;
      codeField.hidden = true;
      viewer?.preauthorizeApiKey(SCHEME, `session ${session}`);
      form.reset();
      show();
      logout.focus();
    } catch {
      say(texts.networkLost, true);
    } finally {
      submit.disabled = false;
    }
  }

  /** Ends the session. The page forgets the session even if the request to the service fails. */
  function logOut(): void {
    if (session === undefined) return;
    void endSession(service, session).catch(() => undefined);
    forget();
  }

  function forget(): void {
    session = undefined;
    viewer?.authActions.logout([SCHEME]);
    show();
  }

  /** Checks the session: a 401 can also have another reason. */
  async function check(suspect: string): Promise<void> {
    const isAlive = await isSessionAlive(service, suspect);
    if (isAlive || session !== suspect) return;
    forget();
    say(texts.sessionEnded, true);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void logIn();
  });
  logout.addEventListener("click", () => {
    logOut();
    say(texts.loggedOut);
    find(form, "input").focus();
  });
  addEventListener("pagehide", logOut);

  return {
    offer(started) {
      if (viewer !== undefined) return;
      viewer = started;
      show();
    },
    onResponse({ url, status }) {
      const isDoubtful = status === 401 || url.endsWith(LOGOUT);
      if (isDoubtful && session !== undefined) void check(session).catch(() => undefined);
    },
  };
}

/** Requests a session. Returns its ID, or the error response. Rejects if the service does not respond. */
async function askForSession(service: string, fields: FormData): Promise<string | Response> {
  const credentials = Object.fromEntries(fields);
  const response = await fetch(`${service}/__svc__/login`, {
    method: "POST",
    headers: { ...HEADERS, "Content-Type": "application/json" },
    body: JSON.stringify(credentials),
    credentials: "same-origin",
    cache: "no-store",
  });
  if (!response.ok) return response;
  const { results } = (await response.json()) as { results: readonly { session: string }[] };
  return results[0]?.session ?? response;
}

async function isSessionAlive(service: string, session: string): Promise<boolean> {
  const response = await fetch(`${service}/home/`, {
    method: "HEAD",
    headers: { ...HEADERS, Authorization: `session ${session}` },
    credentials: "omit",
    cache: "no-store",
  });
  return response.status !== 401;
}

async function endSession(service: string, session: string): Promise<void> {
  await fetch(`${service}${LOGOUT}`, {
    method: "POST",
    headers: { ...HEADERS, Authorization: `session ${session}` },
    // A cookie would belong to another session, which must stay.
    credentials: "omit",
    // The request must also be sent while the page is left.
    keepalive: true,
  });
}

function toProblem(response: Response, { wrong, secondFactor, refused }: ApiPageTexts): string {
  const { status } = response;
  return status === 401 ? (secondFactor[toCode(response)] ?? wrong) : refused.replace("{status}", String(status));
}

function toCode({ headers }: Response): string {
  return headers.get("error-code") ?? "";
}

function find<Found extends HTMLElement>(parent: HTMLElement, selector: string): Found {
  const found = parent.querySelector<Found>(selector);
  if (found === null) throw new Error(`The page has no ${selector}.`);
  return found;
}
