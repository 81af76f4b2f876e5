import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import express from "express";
import { createAccountsAuthenticator, createFileService } from "fileferry";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";

/** An Express application whose users log in by better-auth. They see their files without a second login. */
export function start(root, port) {
  const auth = betterAuth({
    baseURL: `http://127.0.0.1:${port}`,
    secret: "change me to a text of at least 32 characters",
    // An application has a database here.
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
  });

  const service = createFileService({
    basePath: "/files",
    storage: createDiskStorage({ root }),
    // No user logs in to the service itself.
    authentication: createAccountsAuthenticator({ accounts: [] }),
    async identify({ headers }) {
      const session = await auth.api.getSession({ headers });
      return session === null ? undefined : { username: session.user.id };
    },
  });

  const app = express();
  app.use(toNodeMiddleware(service));
  app.all("/api/auth/*splat", toNodeHandler(auth));

  const server = app.listen(port, "127.0.0.1");
  prepareNodeServer(server, service);
  return server;
}
