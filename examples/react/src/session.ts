import { createClient, type FileClient, FileferryError } from "fileferry/client";

/** Where the service is. */
const SERVICE: string = import.meta.env.VITE_SERVICE ?? "http://127.0.0.1:8080";

/** A user who is logged in. */
export interface Session {
  readonly username: string;
  readonly client: FileClient;
  /** Ends the session at the service. */
  logOut(): Promise<void>;
}

/** Starts a session. @throws FileferryError, with the code `credentials-wrong` for a wrong password. */
export async function logIn(username: string, password: string): Promise<Session> {
  const body = JSON.stringify({ username, password });
  const response = await post("/__svc__/login", { "Content-Type": "application/json" }, body);
  const [{ session }] = (await response.json()).results;
  return {
    username,
    client: createClient({ baseUrl: SERVICE, credentials: { session } }),
    logOut: async () => void (await post("/__svc__/logout", { Authorization: `session ${session}` })),
  };
}

async function post(path: string, headers: Readonly<Record<string, string>>, body = ""): Promise<Response> {
  const response = await fetch(`${SERVICE}${path}`, {
    method: "POST",
    // The last one keeps browsers from opening their own password dialog after a 401.
    headers: { ...headers, Accept: "application/json", "X-Requested-With": "XMLHttpRequest" },
    body,
  }).catch((cause: unknown) => {
    throw new FileferryError("There is no response of the service.", { cause });
  });
  if (response.ok) return response;
  const { status } = response;
  throw new FileferryError(`The login failed with status ${status}.`, {
    code: response.headers.get("Error-Code") ?? undefined,
    status,
  });
}
