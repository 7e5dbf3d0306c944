import { cp, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { which } from '../machine/command.ts'

const trusted = '/etc/ssl/certs/ca-certificates.crt'

/** Makes an image with this machine's node and npm, and the authorities that it trusts, on another one. */
export async function makeNodeImage(image: string, { base }: { base: string }) {
  const work = await mkdtemp(join(tmpdir(), 'davit-node-'))
  try {
    await cp(await realpath(which('node')!), join(work, 'node'))
    const npm = dirname(dirname(await realpath(which('npx')!)))
    await cp(npm, join(work, 'npm'), { recursive: true })
    await cp(trusted, join(work, 'trusted.crt'), { dereference: true })
    await Bun.write(
      join(work, 'Dockerfile'),
      `FROM ${base}
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY trusted.crt ${trusted}
RUN ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \\
  && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=${trusted} SSL_CERT_FILE=${trusted}
`,
    )
    const tar = Bun.spawn(['tar', '-c', '-C', work, '.'], { stdout: 'pipe' })
    const docker = connectDocker({ host: process.env.DOCKER_HOST })
    const options = { context: tar.stdout, dockerfile: 'Dockerfile', tag: image, labels: {} }
    for await (const _ of docker.buildImage(options)) continue
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
