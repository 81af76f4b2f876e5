// This project behind nginx, both in one tree of processes: node bench/servers/behind-nginx.mjs <job as JSON>.
//
// job: dist, config (of the command), file (where it goes), own (a folder for nginx), root (of the storage),
// minBytes (nginx sends files of this size and larger; absent: none)
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../lib/processes.mjs";

const { dist, config, file, own, root, minBytes } = JSON.parse(process.argv[2]);
const children = [];
process.once("SIGTERM", stop);

writeFileSync(
  file,
  JSON.stringify({
    ...config,
    ...(minBytes !== undefined && { offload: { type: "nginx", prefix: "/files/", minBytes } }),
  }),
);
const service = start(process.execPath, [join(dist, "cli/main.js"), "serve", "--config", file, "--quiet"], "pipe");
const upstream = await new Promise((resolve) => {
  createInterface({ input: service.stdout }).on("line", (line) => {
    const match = /http:\/\/([\d.]+:\d+)/.exec(line);
    if (match) resolve(match[1]);
  });
});

const port = await freePort();
const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${own}/tmp;`);
writeFileSync(
  join(own, "nginx.conf"),
  `${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
daemon off;
pid ${own}/nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  ${temporary.join("\n  ")}
  upstream fileferry { server ${upstream}; keepalive 64; keepalive_requests 1000000000; keepalive_timeout 4s; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://fileferry;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_request_buffering off;
    }
    location /files/ {
      internal;
      alias ${root}/;
      disable_symlinks on from=${root};
      etag off;
      add_header ETag $upstream_http_etag;
      add_header Server-Path $upstream_http_server_path;
      add_header Vary $upstream_http_vary;
      add_header Content-Security-Policy $upstream_http_content_security_policy;
      add_header X-Content-Type-Options $upstream_http_x_content_type_options;
    }
  }
}
`,
);
start("nginx", ["-c", join(own, "nginx.conf"), "-p", own, "-e", "stderr"], "inherit");
while (
  !(await fetch(`http://127.0.0.1:${port}/__svc__/openapi.json`).then(
    (found) => found.ok,
    () => false,
  ))
)
  await new Promise((resolve) => setTimeout(resolve, 20));
process.stdout.write(`http://127.0.0.1:${port}/\n`);

function start(command, args, out) {
  const child = spawn(command, args, { stdio: ["ignore", out, "inherit"] });
  children.push(child);
  child.once("exit", stop);
  return child;
}

function stop() {
  for (const child of children) child.kill("SIGTERM");
  // The service waits for open requests, which have no client any more.
  setTimeout(() => {
    for (const child of children) child.kill("SIGKILL");
    process.exit(0);
  }, 500);
}
