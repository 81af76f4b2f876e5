/**
 * What a framework does not let through, by its name and the case's title, with the reason; docs/mounting.md has each
 * reason in these words.
 */
export const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  hono: { "asks for no body that it refuses": "Node sends `100 Continue` before Hono gets the request." },
  "hono-fetch": {
    "asks for no body that it refuses": "Node sends `100 Continue` before Hono gets the request.",
  },
  elysia: {
    "asks for no body that it refuses": "Node sends `100 Continue` before Elysia gets the request.",
  },
  next: {
    "leaves the other routes what is theirs":
      "The app's other routes are other files: Next.js itself is not part of these tests.",
    "leaves unknown URLs above and below its prefix to the framework":
      "A route receives every URL below its folder, so unknown URLs there get the service's 404.",
    "answers the methods of WebDAV": "Next.js responds with 400 to methods that it does not know, such as MKCOL.",
    "asks for no body that it refuses": "Node sends `100 Continue` before Next.js gets the request.",
  },
  "react-router": {
    "leaves unknown URLs above and below its prefix to the framework":
      "The route receives every URL below `/files`, so unknown URLs there get the service's 404.",
    "answers the methods of WebDAV": "React Router responds with 405 to methods that it does not know, such as MKCOL.",
    "asks for no body that it refuses": "Node sends `100 Continue` before React Router gets the request.",
  },
  sveltekit: {
    "asks for no body that it refuses": "Node sends `100 Continue` before SvelteKit gets the request.",
  },
  astro: {
    "leaves unknown URLs above and below its prefix to the framework":
      "The page receives every URL below `/files`, so unknown URLs there get the service's 404.",
    "asks for no body that it refuses": "Node sends `100 Continue` before Astro gets the request.",
  },
  "whatwg-server": {
    "asks for no body that it refuses": "Node sends `100 Continue` before the adapter gets the request.",
  },
  "whatwg-server-bare": {
    "leaves the other routes what is theirs": "A service that is the whole app responds to unknown URLs itself.",
    "leaves unknown URLs above and below its prefix to the framework":
      "A service that is the whole app responds to unknown URLs itself.",
    "asks for no body that it refuses": "Node sends `100 Continue` before the adapter gets the request.",
    "breaks the connection under a file that gets shorter":
      "The adapter leaves a response open whose body has failed, and ends the process when its client gives up.",
  },
};
