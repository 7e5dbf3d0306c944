import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { startGitServer } from '../support/git-server.ts'
import { aPush, sent } from '../webhooks/senders.ts'
import type { Row } from './ratio.ts'

const perSecond = 500
const seconds = 10
const runs = 3
const projects = 10

type Project = { id: string; webhookSecret: string; repositoryUrl: string }
type Receipt = { ms: number; deployments: string[] }

/** Signed pushes at a steady rate, while a build is under way: how much longer the slowest answers take. */
export async function benchWebhooks(directory: string, executable: string): Promise<Row> {
  const fresh = join(directory, 'webhooks')
  mkdirSync(fresh)
  const host = startGitServer(fresh)
  host.mode = 'hang' // what is deployed first stays in work, and the others wait behind it
  const env = {
    DAVIT_DATA_DIR: join(fresh, 'data'),
    DAVIT_ALLOW_HOSTS: '127.0.0.1',
    DAVIT_RATE_LIMIT: '1000000',
    DAVIT_RATE_BURST: '1000000',
  }
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(300_000) })
  await client.get('/health') // brings the cookie with the CSRF token
  await client.post('/auth/register', { email: 'bench@example.com', password: Bun.randomUUIDv7() })

  try {
    const receivers = await Promise.all(Array.from({ length: projects }, (_, i) => aProject(i)))
    await storm(receivers, 2) // brings the code up to speed
    const times: number[][] = []
    for (let run = 0; run < runs; run++) {
      const receipts = await storm(receivers, seconds)
      await expectNoneLost(receivers, receipts)
      times.push(receipts.map(({ ms }) => ms).sort((a, b) => a - b))
    }
    return {
      what: `webhook receipts, ${perSecond}/s for ${seconds} s, 99th percentile`,
      against: 'their median',
      unit: 'ms',
      davit: times.map((sorted) => sorted[Math.floor(sorted.length * 0.99)]!),
      floor: times.map((sorted) => sorted[Math.floor(sorted.length / 2)]!),
      aim: '< 10',
    }
  } finally {
    await davit.stop()
    host.stop()
  }

  async function aProject(number: number): Promise<Project> {
    const repositoryUrl = `${host.url}app-${number}.git`
    const project = { name: `bench ${number}`, repositoryUrl, branch: 'main' }
    return client.post<Project>('/projects', project)
  }

  /** Sends on time whatever the answers do, so that one that is late delays no other. */
  async function storm(receivers: Project[], length: number) {
    const receipts: Promise<Receipt>[] = []
    const from = performance.now()
    while (receipts.length < perSecond * length) {
      const due = Math.floor(((performance.now() - from) / 1000) * perSecond) + 1
      while (receipts.length < Math.min(due, perSecond * length)) {
        receipts.push(deliver(receivers[receipts.length % receivers.length]!))
      }
      await Bun.sleep(1)
    }
    return Promise.all(receipts)
  }

  async function deliver({ repositoryUrl, webhookSecret }: Project): Promise<Receipt> {
    const push = aPush({ repository: { full_name: 'bench', clone_url: repositoryUrl } })
    const { path, headers, body } = sent.github(push, { key: webhookSecret })
    const from = performance.now()
    const answer = await fetch(davit.url + path, { method: 'POST', headers, body })
    const text = await answer.text()
    const ms = performance.now() - from
    if (answer.status !== 202) throw new Error(`A push was answered ${answer.status}: ${text}`)
    const { deployments } = JSON.parse(text) as { deployments: { id: string }[] }
    return { ms, deployments: deployments.map(({ id }) => id) }
  }

  async function expectNoneLost(receivers: Project[], receipts: Receipt[]) {
    const kept = new Set<string>()
    for (const { id } of receivers)
      for (let cursor: string | null = ''; cursor !== null;) {
        const path = `/projects/${id}/deployments?limit=500${cursor && `&cursor=${cursor}`}`
        const page: { items: { id: string }[]; nextCursor: string | null } = await client.get(path)
        for (const deployment of page.items) kept.add(deployment.id)
        cursor = page.nextCursor
      }
    const lost = receipts.filter(({ deployments }) => !deployments.every((id) => kept.has(id)))
    if (lost.length > 0) throw new Error(`${lost.length} of ${receipts.length} pushes were lost`)
  }
}
