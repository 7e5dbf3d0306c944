import { anInstallation } from '../support/installation.ts'
import type { Installation, Launch } from '../support/installation.ts'
import { aPush, secret, sent } from '../webhooks/senders.ts'
import type { Delivery } from '../webhooks/senders.ts'
import type { FaultReport } from './report.ts'

/** Refuses the connection: what is deployed fails at once, and this is not about that. */
const repositoryUrl = 'http://127.0.0.1:1/gordon/hello-world.git'

const repository = {
  full_name: 'gordon/hello-world',
  clone_url: repositoryUrl,
  default_branch: 'main',
}

/** Milliseconds between two deliveries: fifty a second. */
const pace = 20

/**
 * Davit is killed at a random moment while signed deliveries come in. The next round begins with those
 * that were not answered, as a provider sends them again.
 */
export async function webhookStorm({
  rounds,
  ...launch
}: Launch & { rounds: number }): Promise<FaultReport> {
  const davit = anInstallation(launch)
  const acknowledged: string[] = []
  let unanswered: Delivery[] = []
  let sentOnes = 0
  try {
    for (let round = 0; round < rounds; round++) {
      const { url, client } = await davit.start()
      if (round === 0) await aProject(client)
      const storm = blow(url, unanswered)
      await Bun.sleep(50 + Math.random() * 450)
      await davit.kill()
      const { answered, open } = await storm.end()
      acknowledged.push(...answered)
      unanswered = open
      sentOnes += answered.length + open.length
    }
    const rows = davit.rows<{ id: string; made: string }>(
      'SELECT delivery_id id, deployment_ids made FROM deliveries',
    )
    const stored = rows.map(({ id }) => id)
    const deployments = davit.rows<{ id: string; status: string }>('SELECT * FROM deployments')
    const known = new Set(deployments.map(({ id }) => id))
    const lost = acknowledged.filter((id) => !stored.includes(id)).length
    const twice = stored.length - new Set(stored).size
    const unmade = rows
      .flatMap(({ made }) => JSON.parse(made))
      .filter((id) => !known.has(id)).length
    const waiting = deployments.filter(({ status }) => status === 'pending').length
    return {
      what: 'Davit killed while webhooks come at 50 a second',
      unit: 'acknowledged deliveries lost, doubled or without their deployment',
      rounds: acknowledged.length,
      bad: lost + twice + unmade + Math.max(0, waiting - 1) + davit.errors().length,
      figures: `${rounds} kills, ${sentOnes} sent; ${lost} lost, ${twice} twice, ${unmade} without deployment, ${waiting} waiting${davit.errors().join('; ')}`,
    }
  } finally {
    await davit.leave()
  }
}

async function aProject(client: Awaited<ReturnType<Installation['start']>>['client']) {
  const asked = { name: 'site', repositoryUrl, branch: 'main' }
  const { id } = await client.post<{ id: string }>('/projects', asked)
  await client.put(`/projects/${id}/settings`, { webhookSecret: secret })
}

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
