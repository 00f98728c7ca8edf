# One image for every service; compose.yaml names the command of each.

FROM node:20-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Packages may not run code at install time; the one that has to be built is built by name.
RUN npm ci && npm rebuild better-sqlite3 --ignore-scripts=false
COPY tsconfig.json tsconfig.build.json ./
COPY services services
COPY shared shared
COPY projections projections
COPY streams streams
RUN npm run -s build && npm prune --omit=dev

FROM node:20-bookworm-slim
# The sandbox around conversions.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
# Disposable copies of streams; everything that must stay lies in NATS, Postgres and the S3 store.
RUN install -d -o node -g node /data
ENV NODE_ENV=production TZ=UTC DATA_DIR=/data
USER node
CMD ["node", "dist/services/api/main.js"]
