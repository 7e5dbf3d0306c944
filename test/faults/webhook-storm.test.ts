import { expect, onTestFinished, test } from 'bun:test'
import { anInstallation } from '../support/installation.ts'
import { aPush, secret, sent } from '../webhooks/senders.ts'
import type { Delivery } from '../webhooks/senders.ts'

/** Refuses the connection: what is deployed fails at once, and this is not about that. */
const repositoryUrl = 'http://127.0.0.1:1/gordon/hello-world.git'

const repository = {
  full_name: 'gordon/hello-world',
  clone_url: repositoryUrl,
  default_branch: 'main',
}

/** Milliseconds between two deliveries: fifty a second. */
const pace = 20

/** A round begins with those that were not answered, as a provider sends them again. */
test('a delivery that was acknowledged is there after a kill, once, with what it deploys', async () => {
  const davit = anInstallation()
  onTestFinished(() => davit.leave())
  const acknowledged: string[] = []
  let unanswered: Delivery[] = []
  for (let round = 0; round < 3; round++) {
    const { url, client } = await davit.start()
    if (round === 0) {
      const made = { name: 'site', repositoryUrl, branch: 'main' }
      const { id } = await client.post<{ id: string }>('/projects', made)
      await client.put(`/projects/${id}/settings`, { webhookSecret: secret })
    }
    const storm = blow(url, unanswered)
    await Bun.sleep(50 + Math.random() * 450)
    await davit.kill()
    const { answered, open } = await storm.end()
    acknowledged.push(...answered)
    unanswered = open
  }
  const rows = davit.rows<{ id: string; made: string }>(
    'SELECT delivery_id id, deployment_ids made FROM deliveries',
  )
  const deployments = davit.rows<{ id: string; status: string }>('SELECT * FROM deployments')
  const ids = deployments.map(({ id }) => id)
  const stored = rows.map(({ id }) => id)
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([])
  expect(stored).toHaveLength(new Set(stored).size)
  expect(rows.flatMap(({ made }) => JSON.parse(made)).filter((id) => !ids.includes(id))).toEqual([])
  expect(deployments.filter(({ status }) => status === 'pending').length).toBeLessThan(2)
  expect(davit.errors()).toEqual([])
}, 60_000)

/** Sends deliveries until its end: which ones were acknowledged, and which never answered. */
function blow(url: string, again: Delivery[]) {
  const waiting = [...again]
  const answered: string[] = []
  const open = new Set<Delivery>()
  const under: Promise<void>[] = []
  const timer = setInterval(() => {
    const delivery = waiting.shift() ?? sent.github(aPush({ repository }))
    open.add(delivery)
    under.push(send(delivery).catch(() => {})) // Davit was killed
  }, pace)

  async function send(delivery: Delivery) {
    const { path, headers, body } = delivery
    const { ok } = await fetch(url + path, { method: 'POST', headers, body })
    if (!ok) return
    open.delete(delivery)
    answered.push(headers['X-GitHub-Delivery']!)
  }
  return {
    async end() {
      clearInterval(timer)
      await Promise.all(under)
      return { answered, open: [...open, ...waiting] }
    },
  }
}
