import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { createClient } from "../../../src/client.ts";
import { useFolder, useUploads } from "../../../src/react.ts";

it("the hooks render on a server, where nothing is requested", () => {
  const requests: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (url) => {
    requests.push(url);
    return new Response();
  };
  const client = createClient({ baseUrl: "http://files.example", credentials: { token: "abc" }, fetch });
  function Page() {
    const { entries, isLoading, error } = useFolder(client, "/");
    const { uploads } = useUploads(client);
    return createElement("p", null, JSON.stringify({ entries, isLoading, error, uploads }));
  }
  const html = renderToString(createElement(Page)).replaceAll("&quot;", '"');
  expect(html).toBe('<p>{"entries":[],"isLoading":true,"uploads":[]}</p>');
  expect(requests).toEqual([]);
});
