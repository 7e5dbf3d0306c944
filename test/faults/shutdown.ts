import { aBuild, anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import type { Installation, Launch } from '../support/installation.ts'
import { halfSent } from './half-sent.ts'
import type { FaultReport } from './report.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

type Process = Awaited<ReturnType<Installation['start']>>
type Options = Launch & { rounds: number; viewers: number; requests: number }

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Deployments that wait behind the one that builds. */
const waiting = 10

/**
 * Davit is asked to end while one deployment builds and others wait, viewers follow the log and
 * requests are under way: those are answered, the queue stays, and viewers are told to come again.
 */
export async function shutdowns({ rounds, ...options }: Options): Promise<FaultReport> {
  const davit = anInstallation(options, { DAVIT_BUILD_CONCURRENCY: '1' })
  const bad: string[][] = []
  let slowest = 0
  try {
    let running = await davit.start()
    const repository = aRepository(davit.directory, anApp('site'))
    const projects = await Promise.all(
      Array.from({ length: waiting + 1 }, (_, at) =>
        running.client.post<{ id: string }>('/projects', {
          name: `site ${at}`,
          repositoryUrl: repository.url,
        }),
      ),
    )
    for (let round = 0; round < rounds; round++) {
      davit.newRound()
      repository.commit(aBuild('sleep 2', 'CMD ["httpd", "-f", "-p", "3000"]'))
      const deployments = await begin(running, projects)
      const { seconds, faults } = await end(running, {
        ...options,
        signal: signals[round % signals.length]!,
        building: deployments[0]!,
      })
      slowest = Math.max(slowest, seconds)
      const queue = davit.rows<{ id: string }>(
        "SELECT id FROM deployments WHERE status = 'pending'",
      )
      for (const { id } of deployments)
        if (!queue.some((row) => row.id === id)) faults.push(`deployment ${id} does not wait`)
      faults.push(...davit.errors())

      running = await davit.start()
      faults.push(...(await goOn(running, deployments)))
      if (faults.length > 0) bad.push(faults)
    }
  } finally {
    await davit.leave()
  }
  return {
    what: `a stop with a build, ${waiting} deployments waiting, ${options.viewers} viewers, ${options.requests} requests`,
    unit: 'stops that cut something off',
    rounds,
    bad: bad.length,
    figures: [`the slowest took ${slowest.toFixed(1)} s`, ...bad.flat()].join('; '),
  }
}

/** One that builds, and the others behind it. */
async function begin({ client }: Process, [first, ...others]: { id: string }[]) {
  const trigger = ({ id }: { id: string }) => client.post<Deployment>(`/projects/${id}/deployments`)
  const building = await trigger(first!)
  await watch(client, building).hears('RUN sleep')
  return [building, ...(await Promise.all(others.map(trigger)))]
}

async function end(
  davit: Process,
  {
    signal,
    building,
    ...counts
  }: { signal: NodeJS.Signals; building: Deployment; viewers: number; requests: number },
) {
  const many = <Value>(count: number, make: () => Promise<Value>) =>
    Promise.all(Array.from({ length: count }, make))
  const viewers = await many(counts.viewers, () => listen(davit, building))
  const requests = await many(counts.requests, () => halfSent(davit))
  await davit.client.get('/health') // by now those are in work

  const before = performance.now()
  process.kill(davit.pid, signal)
  const heard = await Promise.all(viewers.map(({ text }) => text))
  const statuses = await Promise.all(requests.map(({ finish }) => finish()))
  const code = await davit.exited
  const seconds = (performance.now() - before) / 1000
  return {
    seconds,
    faults: [
      ...(code === 0 ? [] : [`${signal}: Davit ended with ${code} after ${seconds} s`]),
      ...statuses.filter((status) => status !== '401').map((was) => `a request: ${was}`),
      ...heard
        .filter((text) => !text.endsWith('retry: 1000\n\n') || text.includes('event: done'))
        .map((text) => `a viewer heard at last: ${text.slice(-40)}`),
    ],
  }
}

/** What a viewer of the log hears, to its end. */
async function listen({ client }: Process, deployment: Deployment) {
  const body = await client.stream(`${pathOf(deployment)}/logs`, null)
  return { text: new Response(body).text().catch((error: Error) => error.message) }
}

/** The next process completes the build; the others are called off. */
async function goOn({ client }: Process, [building, ...others]: Deployment[]) {
  const call = (key: Deployment) => client.post(`${pathOf(key)}/cancel`).catch(() => {})
  await Promise.all(others.map(call))
  const viewer = watch(client, building!)
  await viewer.ended
  const { status } = await client.get<Deployment>(pathOf(building!))
  const log = [...viewer.seen.values()].join('\n')
  return [
    ...(status === 'running' ? [] : [`the build that was put back is ${status}`]),
    ...(log.includes('Davit is stopping.') ? [] : ['the log does not tell of the stop']),
    ...(log.includes('Davit crashed') ? ['the log tells of a crash'] : []),
  ]
}
