/** What a framework does not let through, by its name and the case's title, with the reason; docs/mounting.md tells of each in these words. */
export const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  hono: { "asks for no body that it refuses": "Node has sent `100 Continue` before Hono hears of the request." },
  "hono-fetch": {
    "asks for no body that it refuses": "Node has sent `100 Continue` before Hono hears of the request.",
  },
  next: {
    "leaves the other routes what is theirs":
      "The app's other routes are other files: Next.js itself is not part of these tests.",
    "leaves unknown URLs above and below its prefix to the framework":
      "A route answers for all that is below its folder, so that unknown URLs there are the service's 404.",
    "answers the methods of WebDAV": "Next.js answers methods that it does not know, MKCOL among them, with 400.",
    "asks for no body that it refuses": "Node has sent `100 Continue` before Next.js hears of the request.",
  },
};
