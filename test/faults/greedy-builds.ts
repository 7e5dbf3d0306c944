import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DavitClient } from '../demo/client.ts'
import { aBuild, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import type { Key } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import type { Launch } from '../support/installation.ts'
import { startPrivateEngine } from './private-engine.ts'
import type { FaultReport } from './report.ts'
import { watch } from './watch.ts'

type Ended = { status: string; error: { code: string; message: string } | null }

/**
 * A build that wants all memory there is, beside one that wants little: the first must end alone and
 * in words, and Davit answer all the while. Half of the rounds with BuildKit, half with the classic
 * builder, on an engine of their own: what they may use is too little for others.
 */
export async function greedyBuilds({
  command,
  rounds,
}: Launch & { rounds: number }): Promise<FaultReport> {
  await using engine = await startPrivateEngine()
  const problems: string[] = []
  let slowest = 0
  for (const [builder, share] of [
    ['buildkit', Math.ceil(rounds / 2)],
    ['classic', Math.floor(rounds / 2)],
  ] as const) {
    const settings = { DAVIT_BUILDER: builder, DOCKER_HOST: engine.host, ...narrow }
    const installation = anInstallation({ command }, settings)
    try {
      const { client, url } = await installation.start()
      const projects = await twoProjects(client, installation.directory)
      for (let round = 0; round < share; round++) {
        const answers = askAllTheWhile(`${url}/health`)
        const problem = await oneRound(client, projects)
        slowest = Math.max(slowest, await answers.end())
        if (problem) problems.push(`${builder}: ${problem}`)
      }
      for (const { remove } of Object.values(projects)) await remove()
    } finally {
      await installation.leave()
    }
  }
  return {
    what: 'a build that takes all memory, beside another',
    unit: 'builds not ended alone',
    rounds,
    bad: problems.length,
    figures: [`slowest answer of Davit ${slowest.toFixed(0)} ms`, ...problems].join('; '),
  }
}

const narrow = {
  DAVIT_BUILD_MEMORY: '48',
  DAVIT_BUILD_CONCURRENCY: '2',
  DAVIT_SETTLE_TIME: '1',
}

type Projects = Awaited<ReturnType<typeof twoProjects>>

async function twoProjects(client: DavitClient, directory: string) {
  const project = async (name: string, script: string) => {
    mkdirSync(join(directory, name))
    const repository = aRepository(join(directory, name), aBuild(script))
    const { id } = await client.post<{ id: string }>('/projects', {
      name,
      repositoryUrl: repository.url,
    })
    const { items } = await client.get<{ items: { id: string }[] }>(`/projects/${id}/envs`)
    await client.put(`/projects/${id}/envs/${items[0]!.id}`, { port: 0 })
    return {
      async deploy() {
        repository.commit(aBuild(script)) // else the engine has it in its cache
        return client.post<Key>(`/projects/${id}/deployments`)
      },
      remove: () => client.delete(`/projects/${id}`),
    }
  }
  return {
    greedy: await project('greedy', 'tail -c 399m /dev/zero'),
    modest: await project('modest', 'sleep 1'),
  }
}

/** What went wrong; null when nothing did. */
async function oneRound(client: DavitClient, { greedy, modest }: Projects): Promise<string | null> {
  const deployments = [await greedy.deploy(), await modest.deploy()]
  const [hungry, content] = await Promise.all(
    deployments.map(async (deployment) => {
      await watch(client, deployment).ended
      return client.get<Ended>(pathOf(deployment))
    }),
  )
  if (hungry!.error?.code !== 'killed' || !words.test(hungry!.error.message))
    return `the greedy one is ${hungry!.status}: ${hungry!.error?.message}`
  if (content!.status !== 'running')
    return `the modest one is ${content!.status}: ${content!.error?.message}`
  return null
}

const words = /RUN tail -c 399m .*out of memory: a build may use 48\.0 MiB\.$/

/** Asks again and again; `end` gives the milliseconds of the slowest answer. */
function askAllTheWhile(url: string) {
  let slowest = 0
  let isOver = false
  const asking = (async () => {
    while (!isOver) {
      const started = performance.now()
      await (await fetch(url)).text()
      slowest = Math.max(slowest, performance.now() - started)
      await Bun.sleep(50)
    }
  })()
  return {
    async end() {
      isOver = true
      await asking
      return slowest
    },
  }
}
