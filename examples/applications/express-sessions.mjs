import { AsyncLocalStorage } from "node:async_hooks";
import express from "express";
import session from "express-session";
import { createAccountsAuthenticator, createFileService } from "fileferry";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";
import { isPassword } from "./users.mjs";

/** An Express application with sessions of its own. Its users see their files without a second login. */
export function start(root, port) {
  /** The user of the request in progress. */
  const users = new AsyncLocalStorage();

  const service = createFileService({
    basePath: "/files",
    storage: createDiskStorage({ root }),
    // No user logs in to the service itself.
    authentication: createAccountsAuthenticator({ accounts: [] }),
    identify() {
      const username = users.getStore();
      return username === undefined ? undefined : { username, settings: { home_folder_path: `/${username}` } };
    },
  });

  const app = express();
  app.use(session({ secret: "change me", resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));

  // Before every body parser. A user without a login gets the login of the application, not that of the service.
  const files = toNodeMiddleware(service);
  app.use("/files", (request, response, next) => {
    const { username } = request.session;
    if (username === undefined) return response.redirect(303, "/");
    users.run(username, () => files(request, response, next));
  });

  app.get("/", (request, response) => {
    const { username } = request.session;
    response.send(username === undefined ? LOGIN_FORM : `<p>${username}: <a href="/files/home/">your files</a></p>`);
  });

  app.post("/login", express.urlencoded({ extended: false }), (request, response, next) => {
    const { username, password } = request.body;
    if (!isPassword(username, password)) return response.status(401).send("Wrong name or password.");
    // A new session ID: an attacker may know the old one.
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.username = username;
      response.redirect(303, "/");
    });
  });

  app.post("/logout", (request, response) => request.session.destroy(() => response.redirect(303, "/")));

  const server = app.listen(port, "127.0.0.1");
  prepareNodeServer(server, service);
  return server;
}

const LOGIN_FORM = `<form method="post" action="/login">
<label>Name <input name="username"></label> <label>Password <input name="password" type="password"></label>
<button>Log in</button>
</form>`;
