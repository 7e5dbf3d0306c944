import { afterAll } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { pebbleImage } from '../support/images/edge.ts'
import { loopback } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/free-port.ts'

/**
 * An authority of the test's own that validates names as a public one does, over this port of HTTP. Without
 * a name server it has every name on this machine.
 */
export async function anAuthority({
  http,
  nameServer,
  validity,
  blocked = [],
}: {
  http: number
  nameServer?: string
  /** Seconds that its certificates hold. */
  validity?: number
  /** Names for which it issues none. */
  blocked?: string[]
}) {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const made: string[] = []
  afterAll(async () => {
    for (const id of made) await docker.removeContainer(id, { force: true, volumes: true })
  })
  const [acme, management, dns, names] = [freePort(), freePort(), freePort(), freePort()]
  const config = {
    listenAddress: `127.0.0.1:${acme}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: '/pebble/cert.pem',
    privateKey: '/pebble/key.pem',
    httpPort: http,
    tlsPort: 1,
    externalAccountBindingRequired: false,
    domainBlocklist: blocked,
    ...(validity && {
      profiles: { short: { description: 'Of a short time', validityPeriod: validity } },
    }),
  }
  const start = async (command: string[], files: Record<string, string> = {}) => {
    const id = await docker.createContainer({
      name: `test-${Bun.randomUUIDv7()}`,
      image: pebbleImage,
      entrypoint: command,
      command: [],
      env: { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', PEBBLE_AUTHZREUSE: '0' },
      labels: { 'test.pebble': '' },
      network: 'host',
      memoryBytes: 128 * 2 ** 20,
      cpus: 1,
      pidsLimit: 64,
      granted: { hostNetwork: true },
    })
    made.push(id)
    const written = Object.entries(files).map(([path, content]) => ({ path, content, mode: 0o644 }))
    if (written.length > 0) await docker.putArchive(id, { path: '/', files: written })
    await docker.startContainer(id)
  }
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', '', '-defaultIPv6', '']
  const own = `127.0.0.1:${dns}`
  const ask = ['-dnsserver', nameServer ?? own]
  if (!nameServer)
    await start(['pebble-challtestsrv', ...off, ...ask, '-management', `127.0.0.1:${names}`])
  await start(['pebble', '-config', '/pebble/config.json', ...ask], {
    'pebble/config.json': JSON.stringify({ pebble: config }),
    'pebble/cert.pem': loopback.cert,
    'pebble/key.pem': loopback.key,
  })
  const directory = `https://127.0.0.1:${acme}/dir`
  const tls = { ca: loopback.cert }
  await until(async () => (await fetch(directory, { tls }).catch(() => null))?.ok === true)

  return {
    directory,
    /** Of the authority's own address. */
    root: loopback.cert,
    /** Of what it issues. */
    ca: async () => (await fetch(`https://127.0.0.1:${management}/roots/0`, { tls })).text(),
  }
}
