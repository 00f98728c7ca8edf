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
# What conversions are made with, the list that `npm run setup` installs. More fonts for other scripts:
# --build-arg EXTRA_PACKAGES="fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji"
ARG EXTRA_PACKAGES=""
# Debian 12 and its backports, because that is what the conversions are tested with; LibreOffice 25.2 converts twice as
# fast as the 7.4 of the release itself, and does not hang on some documents that make that one hang.
RUN sed -i 's/^Suites: bookworm bookworm-updates$/& bookworm-backports/' /etc/apt/sources.list.d/debian.sources \
 && apt-get update \
 && apt-get install -y --no-install-recommends \
      ffmpeg poppler-utils qpdf bubblewrap \
      fonts-liberation fonts-crosextra-carlito fonts-crosextra-caladea fonts-dejavu-core $EXTRA_PACKAGES \
 && apt-get install -y --no-install-recommends -t bookworm-backports \
      libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-uiconfig-writer python3-uno \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
# Disposable copies of streams; everything that must stay lies in NATS, Postgres and the S3 store.
RUN install -d -o node -g node /data
ENV NODE_ENV=production TZ=UTC DATA_DIR=/data
USER node
CMD ["node", "dist/services/api/main.js"]
