FROM node:22-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts && npm pack

FROM node:22-slim
WORKDIR /app
COPY --from=build /build/fileferry-*.tgz ./
RUN npm install --ignore-scripts ./fileferry-*.tgz \
    redis@5 openid-client@6 @aws-sdk/credential-provider-node@3 @opentelemetry/api@1 && \
  rm fileferry-*.tgz && mkdir /files && chown node /files
ENV PATH=/app/node_modules/.bin:$PATH
USER node
VOLUME /files
EXPOSE 8080
HEALTHCHECK --timeout=5s \
  CMD ["node", "-e", "fetch(process.env.HEALTH_URL ?? 'http://127.0.0.1:8080/__svc__/health').then(({ ok }) => process.exit(ok ? 0 : 1))"]
CMD ["node", "node_modules/fileferry/dist/cli/main.js", "serve", "--config", "/etc/fileferry/fileferry.json", "--host", "0.0.0.0"]
