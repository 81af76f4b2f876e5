import type { RequestListener } from "node:http";
import { ACCOUNT, answer, createHandwrittenEndpoint, type Steps, serveEndpoint } from "../support/endpoint-server.ts";

/** Servers in place of those that pages name. */
export interface StandIns {
  /** What a page names, with what is asked instead. */
  readonly places: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** The account that pages try endpoints with; its password is in their `password.txt`. */
const USER = "test";

const right: Partial<Steps> = {
  isRight: ({ type, username, content }) => type === "password" && username === USER && content === ACCOUNT.password,
  refuse: (res, { username }) => answer(res, username === USER ? 403 : 401),
};

const draft: Partial<Steps> = {
  ...right,
  isAuthorized: ({ headers }) => headers.authorization === `Basic ${btoa("svc:secret")}`,
  refuse: (res, { type, username }) => answer(res, username === USER ? 403 : type === "ssh-key" ? 500 : 401),
};

/** Starts them. */
export async function startStandIns(): Promise<StandIns> {
  const endpoints: readonly RequestListener[] = [createHandwrittenEndpoint(right), withPage(draft)];
  const [login, unfinished] = await Promise.all(endpoints.map(serveEndpoint));
  return {
    places: {
      "https://auth.example/login": login?.url ?? "",
      "https://auth.example/draft": unfinished?.url ?? "",
    },
    async stop() {
      await Promise.all([login, unfinished].map((server) => server?.stop()));
    },
  };
}

/** An endpoint that shows something to browsers as well. */
function withPage(steps: Partial<Steps>): RequestListener {
  const endpoint = createHandwrittenEndpoint(steps);
  return (req, res) => (req.method === "GET" ? answer(res, 200, "text/plain", "an endpoint") : endpoint(req, res));
}
