import { connectDocker } from '../../src/docker/index.ts'
import { buildTestImage } from '../support/images.ts'
import { makeNodeImage } from '../support/images/node.ts'
import { ensureBareSystemd } from '../support/images/systemd.ts'

/** Images under the official names, made of Debian's packages, as none can be pulled here. */
const packages: Record<string, string> = {
  'python:3.14-slim': 'python3 python3-venv python-is-python3',
  'golang:1.27': 'golang-go ca-certificates',
  'rust:1.96-slim': 'cargo',
  'debian:trixie-slim': '',
  'alpine:3.24': '',
}

const docker = connectDocker({ host: process.env.DOCKER_HOST })

/** Makes those that are missing. */
export async function ensureStandIns(names: string[]) {
  const base = await ensureBareSystemd()
  for (const name of names) {
    if (await docker.inspectImage(name)) continue
    if (name.startsWith('node:')) await makeNode(name, base)
    else if (name.startsWith('caddy:'))
      await build(
        name,
        `FROM ${base}\nCOPY --from=caddy:2 /usr/bin/caddy /usr/bin/caddy\nRUN mkdir -p /etc/caddy`,
      )
    else await build(name, `FROM ${base}\n${installing(packages[name]!)}\n${zoneinfo(name)}`)
  }
}

async function makeNode(name: string, base: string) {
  const plain = `${name}-plain`
  await makeNodeImage(plain, { base })
  await build(name, `FROM ${plain}\nRUN useradd --create-home --uid 1000 node`)
}

const build = (tag: string, dockerfile: string) => buildTestImage(docker, { tag, dockerfile })

const installing = (names: string) =>
  names === ''
    ? ''
    : `RUN apt-get update && apt-get install -y --no-install-recommends ${names} && rm -rf /var/lib/apt/lists/*`

/** Debian keeps it elsewhere. */
const zoneinfo = (name: string) =>
  name.startsWith('golang:')
    ? 'RUN mkdir -p /usr/local/go/lib/time && touch /usr/local/go/lib/time/zoneinfo.zip'
    : ''
