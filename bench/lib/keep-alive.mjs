// Loaded into the server's process before it: idle connections stay, which Node closes after 5 seconds.
import { Server } from "node:http";

const { listen } = Server.prototype;
Server.prototype.listen = function (...values) {
  this.keepAliveTimeout = 0;
  this.timeout = 0;
  return listen.apply(this, values);
};
