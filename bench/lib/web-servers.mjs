// nginx and Apache, each with a configuration of its own in a folder of its own.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./processes.mjs";

const DAV_EXT = `dav_methods PUT DELETE MKCOL COPY MOVE;
    dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
    dav_ext_lock zone=locks;`;
const isRoot = process.getuid?.() === 0;

const NGINX_DAV_EXT = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so";

/** nginx with the module that adds PROPFIND and locks. */
export async function startNginxDav({ folder, own }) {
  return startNginxWith({ folder, own }, existsSync(NGINX_DAV_EXT));
}

export async function startNginx({ folder, own }) {
  return startNginxWith({ folder, own }, false);
}

async function startNginxWith({ folder, own }, hasDavExt) {
  const port = await freePort();
  const config = join(own, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${own}/tmp;`);
  writeFileSync(
    config,
    `${isRoot ? "user root;" : ""}
${hasDavExt ? `load_module ${NGINX_DAV_EXT};` : ""}
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
  ${hasDavExt ? "dav_ext_lock_zone zone=locks:10m;" : ""}
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    autoindex on;
    autoindex_format json;
    ${hasDavExt ? DAV_EXT : "dav_methods PUT;"}
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
