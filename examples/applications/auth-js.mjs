import { getToken } from "@auth/core/jwt";
import { ExpressAuth } from "@auth/express";
import Credentials from "@auth/express/providers/credentials";
import express from "express";
import { createAccountsAuthenticator, createFileService } from "fileferry";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";
import { isPassword } from "./users.mjs";

const secret = "change me to a text of at least 32 characters";

/** An Express application whose users log in by Auth.js. They see their files without a second login. */
export function start(root, port) {
  const service = createFileService({
    basePath: "/files",
    storage: createDiskStorage({ root }),
    // No user logs in to the service itself.
    authentication: createAccountsAuthenticator({ accounts: [] }),
    async identify(request) {
      // `secureCookie` is true if the site has https, also behind a proxy.
      const token = await getToken({ req: request, secret, secureCookie: false });
      return token?.sub === undefined ? undefined : { username: token.sub };
    },
  });

  const credentials = Credentials({
    credentials: { username: {}, password: { type: "password" } },
    authorize: ({ username, password }) => (isPassword(username, password) ? { id: username } : null),
  });
  const app = express();
  app.use(toNodeMiddleware(service));
  app.use("/auth", ExpressAuth({ secret, trustHost: true, providers: [credentials] }));

  const server = app.listen(port, "127.0.0.1");
  prepareNodeServer(server, service);
  return server;
}
