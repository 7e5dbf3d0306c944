import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from '../faults/watch.ts'
import { killContainer } from '../faults/edge.ts'
import { bytesOf, Connection, plainly } from '../load/http1.ts'
import type { Place } from '../load/http1.ts'
import { pathOf } from '../deployments/events.ts'
import { aSite, anEdgeOfItsOwn, ended } from '../load/site.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { mostPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 15
const visitors = 8

/** Milliseconds from the event to the last request to the new version. */
const limit = 50

/** One of two instances of a watched version is killed; the other one gets requests until they go back. */
export async function benchGoingBack(_: string, executable: string): Promise<Row[]> {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = anInstallation({ command: [executable, 'serve'] }, settings)
  const over = new AbortController()
  try {
    const { client } = await davit.start()
    const site = await aSite(davit, { ports, replicas: 2 })
    const slots = join(davit.dataDir, 'edge/slots', site.environmentId)
    const ends = new Map<string, number>()
    void (async () => {
      const filters = { type: ['container'], event: ['die'] }
      for await (const { id, time } of davit.docker.events({ filters, signal: over.signal }))
        if (!ends.has(id)) ends.set(id, time.getTime()) // Docker starts it again, and it is stopped later
    })().catch(() => {}) // the bench is over

    const goBack = async () => {
      const version = site.commit()
      const deployment = await site.trigger(client)
      await ended(client, deployment)
      const sql = "SELECT container_id AS id FROM instances WHERE release_id = ? AND state = 'live'"
      const [first] = davit.rows<{ id: string }>(sql, [deployment.id])
      const requests = visit(site.place)
      await until(() => requests.lastOf(version) > 0)
      await killContainer(first!.id)
      const isBack = async () =>
        (await client.get<Deployment>(pathOf(deployment))).status === 'failed'
      await until(isBack)
      await requests.stop()
      const end = ends.get(first!.id)!
      return {
        switched: lstatSync(slots).ctimeMs - end,
        last: Math.max(0, requests.lastOf(version) - end),
      }
    }

    await goBack() // brings the code up to speed
    const values: Awaited<ReturnType<typeof goBack>>[] = []
    while (values.length < Math.min(pairs, mostPairs)) values.push(await goBack())
    const row = (what: string, of: keyof (typeof values)[number]): Row => ({
      what: `going back in a watch, from the event that decides to ${what}`,
      against: `the ${limit} ms that it may take`,
      unit: 'ms',
      davit: values.map((value) => value[of]),
      floor: values.map(() => limit),
      aim: '≤ 1',
    })
    return [
      row('the last request to the new version', 'last'),
      row('the change of the edge', 'switched'),
    ]
  } finally {
    over.abort()
    await davit.leave()
  }
}

/** Requests one after the other on several connections, and when the last one to each version began. */
function visit(place: Place) {
  const last = new Map<string, number>()
  let isOver = false
  const all = Promise.all(
    Array.from({ length: visitors }, async () => {
      let connection: Connection | null = null
      while (!isOver)
        try {
          if (!connection || connection.isOver) connection = await Connection.open(plainly(place))
          const begun = Date.now()
          connection.ask('GET', '/item?seed=1&length=10')
          const head = await connection.head()
          await bytesOf(connection.body(head))
          const version = head.headers.get('x-version') ?? ''
          last.set(version, Math.max(begun, last.get(version) ?? 0))
        } catch {
          connection?.close()
          connection = null
        }
      connection?.close()
    }),
  )
  return {
    /** In milliseconds since 1970; 0 for never. */
    lastOf: (version: string) => last.get(version) ?? 0,
    async stop() {
      isOver = true
      await all
    },
  }
}
