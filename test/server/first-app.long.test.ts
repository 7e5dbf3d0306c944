import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import type { Deployment } from '../demo/deploy.ts'
import { makeSample } from '../demo/sample.ts'
import { buildExecutable } from '../support/executable.ts'
import { startGitServer } from '../support/git-server.ts'
import type { GitServer } from '../support/git-server.ts'
import { askEngine } from '../support/machine/engine.ts'
import { caddyImage, pebbleImage } from '../support/images/edge.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { loopback } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { unhurried } from './installed.ts'

// From a bare server to the first app at its address with HTTPS, with the seconds that each part takes.

setDefaultTimeout(600_000)

let machine: SystemdMachine
let davit: string
let repositories: string
let git: GitServer

beforeAll(async () => {
  machine = await startSystemdMachine()
  davit = join(machine.sharedInside, 'davit')
  await buildExecutable(join(machine.shared, 'davit'))
  repositories = await mkdtemp(join(tmpdir(), 'davit-first-app-'))
  git = startGitServer(repositories, { hostname: neighbour() })
})

afterAll(async () => {
  git?.stop()
  await machine?.leave()
  if (repositories) await rm(repositories, { recursive: true })
})

/** This machine, as the server sees it. */
const neighbour = () => machine.address.replace(/\d+$/, '1')

const domain = 'davit.example.com'
const authority = { acme: 14_000, roots: 15_000 }

/** An authority on the server itself, which finds every name there; and what Davit must know of it. */
async function prepare() {
  const { must, shared, sharedInside } = machine
  const settings = {
    ...unhurried,
    DAVIT_HOST: '0.0.0.0',
    DAVIT_ALLOW_HOSTS: neighbour(),
    DAVIT_PUBLIC_ADDRESS: machine.address,
    DAVIT_ACME_URL: `https://127.0.0.1:${authority.acme}/dir`,
    DAVIT_ACME_CA: '/etc/davit/authority.pem',
  }
  const lines = Object.entries(settings).map((pair) => `${pair.join('=')}\n`)
  await Bun.write(join(shared, 'davit.env'), lines.join(''))
  await Bun.write(join(shared, 'authority.pem'), loopback.cert)
  for (const [name, mode] of [
    ['davit.env', '600'],
    ['authority.pem', '644'],
  ])
    await must(['install', '-D', '-m', mode!, `${sharedInside}/${name}`, `/etc/davit/${name}`])
  const config = {
    listenAddress: `127.0.0.1:${authority.acme}`,
    managementListenAddress: `0.0.0.0:${authority.roots}`,
    certificate: '/pebble/cert.pem',
    privateKey: '/pebble/key.pem',
    httpPort: 80,
    tlsPort: 443,
    externalAccountBindingRequired: false,
  }
  await Bun.write(join(shared, 'pebble/config.json'), JSON.stringify({ pebble: config }))
  await Bun.write(join(shared, 'pebble/cert.pem'), loopback.cert)
  await Bun.write(join(shared, 'pebble/key.pem'), loopback.key)
}

/** The server's engine has, as soon as it runs, what it would pull elsewhere, and the authority. */
async function bringImages() {
  const { must, shared, sharedInside } = machine
  for (const [at, image] of [caddyImage, pebbleImage, 'busybox:latest'].entries()) {
    const saved = await askEngine(`/images/${image}/get`)
    await Bun.write(join(shared, `image-${at}.tar`), saved)
  }
  const start = 'docker run --detach --network=host --volume=/mnt/shared/pebble:/pebble'
  const names = '127.0.0.1:53'
  const off = `-http01= -https01= -tlsalpn01= -doh= -defaultIPv6= -defaultIPv4=${machine.address} -management=127.0.0.1:8055`
  const settings = '--env=PEBBLE_VA_NOSLEEP=1 --env=PEBBLE_WFE_NONCEREJECT=0'
  const script = `set -e
for image in ${sharedInside}/image-*.tar; do docker load --input $image; done
${start} ${pebbleImage} pebble-challtestsrv ${off} -dnsserver=${names}
${start} ${settings} ${pebbleImage} pebble -config=/pebble/config.json -dnsserver=${names}
echo nameserver 127.0.0.1 > /etc/resolv.conf
`
  await Bun.write(join(shared, 'images.sh'), script)
  await Bun.write(
    join(shared, 'images.conf'),
    `[Service]\nExecStartPost=/bin/sh ${sharedInside}/images.sh\n`,
  )
  const place = '/etc/systemd/system/docker.service.d/images.conf'
  await must(['install', '-D', `${sharedInside}/images.conf`, place])
}

test('a bare server has its first app at an address with HTTPS', async () => {
  await prepare()
  await bringImages()
  const began = performance.now()
  let last = began
  const phases: string[] = []
  const phase = (name: string) => {
    const now = performance.now()
    phases.push(`${((now - last) / 1000).toFixed(1).padStart(6)} s  ${name}`)
    last = now
  }

  const clock = `"$@" 2>&1 | while IFS= read -r line; do
    read -r up rest < /proc/uptime; echo "$up $line"
  done`
  const options = ['install', '--yes', '--domain', domain, '--email', 'ada@example.com']
  const output = await machine.must(['sh', '-c', clock, 'clock', davit, ...options])
  expect(output).toContain('is installed, and runs.')
  const starts = [...output.matchAll(/^([\d.]+) (\[\d\/\d\] .*|Davit \S+ is installed.*)$/gm)]
  for (const [at, [, begin, does]] of starts.slice(0, -1).entries()) {
    const seconds = Number(starts[at + 1]![1]) - Number(begin)
    phases.push(`${seconds.toFixed(1).padStart(6)} s    ${does}`)
  }
  phase(
    'davit install; these were its steps, the first one with loading images in place of pulling them',
  )

  const signal = AbortSignal.timeout(300_000)
  const client = new DavitClient({ url: `http://${machine.address}:3000`, signal })
  const setupCode = /Setup code: +(\S+)/.exec(output)![1]
  const ada = { email: 'ada@example.com', password: 'correct horse battery', setupCode }
  await client.enter('/auth/register', ada)
  const sample = makeSample(repositories)
  sample.commit('Hello from a bare server')
  const repositoryUrl = `${git.url}${sample.name}`
  const { id } = await client.post<{ id: string }>('/projects', { name: 'hello', repositoryUrl })
  phase('the first account and project')
  const begun = await client.post<Deployment>(`/projects/${id}/deployments`)
  const path = `/projects/${id}/deployments/${begun.id}`
  const deployment = () => client.get<Deployment>(path)
  const isAtWork = /queued|cloning|building|deploying/
  await until(async () => !isAtWork.test((await deployment()).status), 120)
  const { status, error } = await deployment()
  expect({ status, error }).toEqual({ status: 'running', error: null })
  phase('deployed from a git server')

  const ca = await (
    await fetch(`https://${machine.address}:${authority.roots}/roots/0`, {
      tls: { ca: loopback.cert, checkServerIdentity: () => undefined },
    })
  ).text()
  const visit = (host: string) =>
    fetch(`https://${machine.address}/`, {
      headers: { Host: host },
      tls: { ca, serverName: host },
      redirect: 'manual',
    })
  let page = ''
  await until(async () => {
    const answer = await visit(`hello.${domain}`).catch(() => null)
    if (answer?.status === 200) page = await answer.text()
    return page !== ''
  }, 400)
  expect(page).toContain('<h1>Hello from a bare server</h1>')
  phase('its certificate, and the first response with HTTPS')
  last = began
  phase('in all, from the bare server to the app')
  const ofDavit = () => visit(domain).catch(() => null) // its own certificate may come after the app's
  await until(async () => ((await ofDavit())?.status ?? 500) < 400, 200)
  console.log(['', ...phases].join('\n'))
})
