# Davit in a container, beside the Docker Engine that it uses:
#
#   docker build --tag davit .
#   docker run --detach --name davit --init --restart unless-stopped --network host \
#     --volume /var/run/docker.sock:/var/run/docker.sock --volume davit:/data davit
#
# It needs the host's network, to check each app over the app's own network, and Docker's socket,
# which gives it the power of root. It listens on 127.0.0.1:3000; settings are
# given with `--env DAVIT_…`. All of its state is in the volume: stop Davit, then back it up.

ARG BUILD_IMAGE=node:22-bookworm-slim
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /davit
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY src/docker/docker-modem.patch src/docker/
RUN npx --yes bun@1.4.5 install --frozen-lockfile
COPY drizzle drizzle
COPY assets assets
COPY src src
RUN npm run build

FROM ${RUN_IMAGE}
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir --mode=700 /data
COPY --from=build /davit/dist/davit /usr/local/bin/davit
ENV DAVIT_DATA_DIR=/data
VOLUME /data
ENTRYPOINT ["davit"]
CMD ["serve"]
