import { Request as LightRequest } from "@whatwg-node/fetch";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { FileService } from "../../../src/contracts/file-service.ts";
import { type ApiCheck, apiCheckOf } from "./api-check.ts";
import { toFields } from "./exchange.ts";
import { noteProblems } from "./noted-problems.ts";

/** One of the handlers of a service. */
export type ServiceApi = "fetch" | "rest" | "webdav" | "browser";

/** The handler that a request was for, and its description. */
interface Way {
  readonly api?: ServiceApi;
  readonly connection?: Connection;
  readonly isProbe?: boolean;
}

/** A service whose exchanges are compared with the description that it gives of itself. */
export interface DescribedService {
  /** Fails the test if an exchange differs from the description. A body that was not read is `undefined`. */
  check(
    request: Request,
    requestBody: Uint8Array | undefined,
    response: Response,
    body: Uint8Array | undefined,
    way: Way,
  ): Promise<void>;
}

/** Creates the check of a service. It gets the description at the first exchange. */
export function createDescribedService(service: FileService, options: Partial<FileServiceOptions>): DescribedService {
  const { basePath = "", metadataFields } = options;
  /** By API. A description depends on the options and on the abilities of the storage, so services share none. */
  const checks = new Map<ServiceApi, Promise<ApiCheck>>();
  const header = typeof metadataFields === "string" ? metadataFields.trim().split(/\s/)[0] : metadataFields?.header;
  const vocabulary = header === undefined ? [] : [header];

  async function fetchCheck(api: ServiceApi): Promise<ApiCheck> {
    const url = `http://files.example${basePath.replace(/\/$/, "")}/__svc__/openapi.json`;
    const response = await service[api](new LightRequest(url, { headers: { accept: "application/json" } }));
    const text = await response.text();
    if (response.status !== 200) throw new Error(`The description is answered ${response.status}: ${text}`);
    return apiCheckOf(text, { vocabulary });
  }

  return {
    async check(request, requestBody, response, body, { api = "fetch", connection, isProbe }) {
      const known = checks.get(api) ?? fetchCheck(api);
      checks.set(api, known);
      const { check } = await known;
      const problems = check({
        method: request.method,
        target: request.url,
        requestFields: toFields(request.headers),
        requestBody,
        status: response.status,
        fields: toFields(response.headers),
        body,
        isCertified: connection?.clientCertificate !== undefined,
        isProbe,
      });
      noteProblems(problems);
    },
  };
}
