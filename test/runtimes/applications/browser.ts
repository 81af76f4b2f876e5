import { expect } from "vitest";
import { leaveUndescribed } from "../../support/openapi/undescribed.ts";

/** Options of {@link Browser.send}. */
export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
}

/** Sends requests with the cookies that it has got, as a browser does. It follows no redirects. */
export interface Browser {
  readonly origin: string;
  send(method: string, path: string, options?: SendOptions): Promise<Response>;
  cookieNames(): readonly string[];
}

interface Cookie {
  readonly name: string;
  readonly path: string;
  readonly value: string;
}

/** Creates a browser without cookies. It asks for pages, from the same origin. */
export function createBrowser(origin: string): Browser {
  const cookies = new Map<string, Cookie>();

  async function send(method: string, path: string, { headers, body }: SendOptions = {}): Promise<Response> {
    const url = new URL(path, origin);
    // The description of the service is behind the login of the application.
    leaveUndescribed(method, path);
    const sent = [...cookies.values()].filter((cookie) => isSentTo(cookie, url.pathname));
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        accept: "text/html",
        "sec-fetch-site": "same-origin",
        cookie: sent.map(({ name, value }) => `${name}=${value}`).join("; "),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    for (const text of response.headers.getSetCookie()) keep(text);
    return response;
  }

  function keep(text: string): void {
    const [pair = "", ...attributes] = text.split(/; */);
    const [, name = "", value = ""] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5);
    expect(path).toBeDefined();
    const key = `${name};${path}`;
    if (attributes.some((attribute) => /^max-age=0$/i.test(attribute))) cookies.delete(key);
    else cookies.set(key, { name, path: path ?? "/", value });
  }

  return { origin, send, cookieNames: () => [...cookies.values()].map(({ name }) => name) };
}

/** RFC 6265 5.1.4. */
function isSentTo({ path }: Cookie, requested: string): boolean {
  return requested === path || requested.startsWith(path.endsWith("/") ? path : `${path}/`);
}
