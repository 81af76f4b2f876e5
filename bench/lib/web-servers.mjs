// nginx and Apache, each with a configuration of its own in a folder of its own.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./processes.mjs";

const isRoot = process.getuid?.() === 0;

export async function startNginx({ folder, own }) {
  const port = await freePort();
  const config = join(own, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${own}/tmp;`);
  writeFileSync(
    config,
    `${isRoot ? "user root;" : ""}
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
  client_max_body_size 0;
  client_body_buffer_size 128k;
  ${temporary.join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    autoindex on;
    autoindex_format json;
    dav_methods PUT;
  }
}
`,
  );
  return { command: "nginx", args: ["-c", config, "-p", own, "-e", "stderr"], port };
}

const APACHE_MODULES = ["mpm_event", "authz_core", "autoindex", "dir", "dav", "dav_fs"];

export async function startApache({ folder, own }) {
  const port = await freePort();
  const config = join(own, "apache.conf");
  const modules = APACHE_MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
  mkdirSync(join(own, "lock"));
  if (isRoot) {
    // It does not serve as root: the account that it takes needs its way in.
    chmodSync(own, 0o755);
    chmodSync(join(own, "lock"), 0o777);
  }
  writeFileSync(
    config,
    `${modules.join("\n")}
ServerName 127.0.0.1
ServerRoot ${own}
DefaultRuntimeDir ${own}
PidFile ${own}/apache.pid
ErrorLog ${own}/error.log
Listen 127.0.0.1:${port}
${isRoot ? "User www-data\nGroup www-data" : ""}
StartServers 1
ThreadLimit 128
ThreadsPerChild 128
MaxRequestWorkers 128
MinSpareThreads 1
MaxSpareThreads 128
KeepAlive On
MaxKeepAliveRequests 0
EnableSendfile On
LimitRequestBody 0
DavLockDB ${own}/lock/dav
DocumentRoot ${folder}
<Directory ${folder}>
  Require all granted
  Options +Indexes
  IndexOptions FancyIndexing
  Dav On
</Directory>
`,
  );
  return { command: "apache2", args: ["-f", config, "-D", "FOREGROUND"], port };
}
