import "reflect-metadata";
import { Body, Controller, Get, HttpCode, Module, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createFiles } from "./files.mjs";

/** NestJS 12 on its Express adapter, with a folder below `/files` and routes of its own. */
export async function start(root, port) {
  const files = createFiles(root);
  const app = await NestFactory.create(AppModule, { logger: ["error"] });

  // Before `listen` and `init`: they add the body parsers.
  app.use(toNodeMiddleware(files));

  await app.listen(port, "127.0.0.1");
  const server = app.getHttpServer();
  prepareNodeServer(server, files);
  return server;
}

class ApiController {
  hello() {
    return { hello: "world" };
  }

  echo(body) {
    return body;
  }
}

class AppModule {}

// What TypeScript makes of decorators.
decorate(ApiController, Controller("api"));
decorateMethod(ApiController, "hello", Get("hello"));
decorateMethod(ApiController, "echo", Post("echo"), HttpCode(200));
Body()(ApiController.prototype, "echo", 0);
decorate(AppModule, Module({ controllers: [ApiController] }));

function decorate(target, decorator) {
  decorator(target);
}

function decorateMethod(target, name, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name);
  for (const decorator of decorators) decorator(target.prototype, name, descriptor);
}
