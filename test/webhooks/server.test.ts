import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import type { DavitProcess } from '../support/davit.ts'
import { makeRepository, startGitServer } from '../support/git-server.ts'
import type { GitServer } from '../support/git-server.ts'
import { aPush, sent } from './senders.ts'
import type { Delivery } from './senders.ts'

const MB = 1_000_000
const account = { email: 'ada@example.com', password: 'correct horse battery staple' }

let directory: string
let host: GitServer
let davit: DavitProcess

/** A git host that accepts and never answers: what is deployed from it stays in work. */
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'davit-webhooks-'))
  makeRepository(directory, 'app.git')
  host = startGitServer(directory)
  host.mode = 'hang'
  davit = await start()
})

afterEach(async () => {
  await davit.stop()
  host.stop()
  rmSync(directory, { recursive: true })
})

const start = () =>
  startDavit({
    directory,
    env: {
      DAVIT_DATA_DIR: join(directory, 'data'),
      DAVIT_ALLOW_HOSTS: '127.0.0.1',
      DAVIT_RATE_LIMIT: '100000',
      DAVIT_RATE_BURST: '100000',
    },
  })

async function logIn(path: '/auth/register' | '/auth/login') {
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(60_000) })
  await client.enter(path, account)
  return client
}

async function aProject(client: DavitClient) {
  const repositoryUrl = `${host.url}app.git`
  const project = { name: 'app', repositoryUrl, branch: 'main' }
  const { id, webhookSecret } = await client.post<{ id: string; webhookSecret: string }>(
    '/projects',
    project,
  )
  const repository = { full_name: 'app', clone_url: repositoryUrl }
  const push = (changes: Record<string, unknown> = {}) =>
    sent.github(aPush({ repository, ...changes }), { key: webhookSecret })
  return { id, push }
}

const send = ({ path, headers, body }: Delivery) =>
  fetch(davit.url + path, { method: 'POST', headers, body })

/** The most memory that the server ever had. */
const memory = () => {
  const status = readFileSync(`/proc/${davit.pid}/status`, 'utf8')
  return (Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) * 1024) / MB
}

/** A body is there once; the rest is what is on its way and not collected yet. */
const maxRise = 60

test('a body of 24.9 MB is received in little memory', async () => {
  const { push } = await aProject(await logIn('/auth/register'))
  expect((await send(push())).status).toBe(202) // once before, so that all code is loaded
  const before = memory()
  const large = push({ padding: 'x'.repeat(24.9 * MB) })
  expect((await send(large)).status).toBe(202)
  expect(memory() - before).toBeLessThan(maxRise)
})

test('a larger body is refused, announced or not', async () => {
  const { push } = await aProject(await logIn('/auth/register'))
  const before = memory()
  expect((await send(push({ padding: 'x'.repeat(27 * MB) }))).status).toBe(413)
  expect(await endless()).toStartWith('HTTP/1.1 413')
  expect(memory() - before).toBeLessThan(maxRise)
})

/** Sends chunks until it is answered; resolves with the answer. */
function endless() {
  const { hostname, port } = new URL(davit.url)
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(Number(port), hostname, () => {
    const head = [
      'POST /webhooks/github HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
    ]
    socket.write(`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`)
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', write)
    write()
  })
  socket.on('error', () => {})
  socket.on('data', (data) => {
    resolve(data.toString())
    socket.destroy()
  })
  return promise
}

test('what was answered is there after a kill, and deploys', async () => {
  const client = await logIn('/auth/register')
  const { id, push } = await aProject(client)
  const answered: { id: string }[] = []
  const deliveries: Delivery[] = []
  const sending = Array.from({ length: 8 }, async () => {
    for (;;) {
      const delivery = push()
      const answer = await send(delivery).then((response) => response.json() as any)
      answered.push(...answer.deployments)
      deliveries.push(delivery)
      if (answered.length === 200) process.kill(davit.pid, 'SIGKILL')
    }
  })
  await Promise.allSettled(sending) // each ends as the connection does
  await davit.exited

  davit = await start()
  const again = await logIn('/auth/login')
  const kept = new Map<string, string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const path = `/projects/${id}/deployments?limit=500${cursor && `&cursor=${cursor}`}`
    const page: Page = await again.get(path)
    for (const deployment of page.items) kept.set(deployment.id, deployment.status)
    cursor = page.nextCursor
  }
  expect(answered.length).toBeGreaterThanOrEqual(200)
  expect(answered.filter((deployment) => !kept.has(deployment.id))).toEqual([])
  const newest = [...kept.keys()].sort().at(-1)!
  expect(kept.get(newest)).toMatch(/^(pending|cloning)$/)
  for (const delivery of deliveries.slice(-50)) expect((await send(delivery)).status).toBe(200)
})

type Page = { items: { id: string; status: string }[]; nextCursor: string | null }
