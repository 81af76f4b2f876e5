import { AsyncLocalStorage } from "node:async_hooks";
import express from "express";
import session from "express-session";
import { createAccountsAuthenticator, createFileService } from "fileferry";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";
import passport from "passport";
import { Strategy } from "passport-local";
import { isPassword } from "./users.mjs";

passport.use(new Strategy((username, password, done) => done(null, isPassword(username, password) && { username })));
passport.serializeUser(({ username }, done) => done(null, username));
passport.deserializeUser((username, done) => done(null, { username }));

/** An Express application whose users log in by Passport. They see their files without a second login. */
export function start(root, port) {
  /** The user of the request in progress. */
  const users = new AsyncLocalStorage();

  const service = createFileService({
    basePath: "/files",
    storage: createDiskStorage({ root }),
    // No user logs in to the service itself.
    authentication: createAccountsAuthenticator({ accounts: [] }),
    identify() {
      const user = users.getStore();
      return user === undefined ? undefined : { username: user.username };
    },
  });

  const app = express();
  app.use(session({ secret: "change me", resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
  app.use(passport.session());

  // Before every body parser. A user without a login gets the login of the application, not that of the service.
  const files = toNodeMiddleware(service);
  app.use("/files", (request, response, next) => {
    if (request.user === undefined) return response.redirect(303, "/");
    users.run(request.user, () => files(request, response, next));
  });

  const check = passport.authenticate("local", { successRedirect: "/files/home/" });
  app.post("/login", express.urlencoded({ extended: false }), check);
  app.post("/logout", (request, response, next) => {
    request.logout((error) => (error ? next(error) : response.redirect(303, "/")));
  });

  const server = app.listen(port, "127.0.0.1");
  prepareNodeServer(server, service);
  return server;
}
