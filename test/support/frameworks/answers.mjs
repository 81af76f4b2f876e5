// What frameworks with a build step do with the modules of examples/frameworks: each function makes a handler
// `(Request) => Response` of a module. React Router does it itself; the others are imitated.

const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"];

/** `app/files/[[...path]]/route.ts`: 400 for a method that Next.js does not know, 405 for one that is not exported. */
export function toNext(route) {
  return async (request) => {
    if (!isBelowFiles(request)) return new Response("Next.js", { status: 404 });
    const isKnown = METHODS.includes(request.method);
    const handler = isKnown ? route[request.method] : undefined;
    if (handler === undefined) return new Response(null, { status: isKnown ? 405 : 400 });
    return handler(request, { params: Promise.resolve({}) });
  };
}

/** `src/hooks.server.ts`, with `csrf.trustedOrigins` that contain `*`: the hook gets requests of all methods. */
export function toSvelteKit({ handle }) {
  return (request, req) => {
    const event = {
      request,
      url: new URL(request.url),
      platform: { req },
      params: {},
      locals: {},
      route: { id: null },
    };
    return handle({ event, resolve: ({ request }) => answerOthers(request) });
  };
}

/** `src/pages/files/[...path].ts`, with `security.checkOrigin` off: 404 for a method without a function. */
export function toAstro(route) {
  return async (request) => {
    if (!isBelowFiles(request)) return answerOthers(request);
    const handler = route[request.method] ?? route.ALL;
    if (handler === undefined) return new Response(null, { status: 404 });
    const response = await handler.call(route, { request, url: new URL(request.url), params: {} });
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

/** `app/routes/files.ts`, in React Router's own handler of requests; the build is what its compiler makes. */
export async function toReactRouter(files, { createRequestHandler }) {
  const notFound = () => new Response("Not found", { status: 404 });
  const routes = {
    root: { id: "root", path: "", module: { default: () => null } },
    files: { id: "files", parentId: "root", path: "files/*", module: files },
    hello: { id: "hello", parentId: "root", path: "api/*", module: { loader: answerRoute, action: answerRoute } },
  };
  const build = {
    routes,
    ssr: true,
    basename: "/",
    prerender: [],
    future: {},
    routeDiscovery: { mode: "initial", manifestPath: "/__manifest" },
    assets: { version: "1", url: "", entry: { module: "", imports: [] }, routes: {} },
    entry: { module: { default: notFound, handleError() {} } },
  };
  const handle = createRequestHandler(build, "production");
  return (request) => handle(request);
}

function answerRoute({ request }) {
  return answerOthers(request);
}

/** Other routes of an application. */
export async function answerOthers(request) {
  const { pathname } = new URL(request.url);
  if (request.method === "GET" && pathname === "/api/hello") return Response.json({ hello: "world" });
  if (request.method === "POST" && pathname === "/api/echo") return Response.json(await request.json());
  return new Response("Not found", { status: 404 });
}

function isBelowFiles({ url }) {
  return /^\/files(?:\/|$)/.test(new URL(url).pathname);
}
