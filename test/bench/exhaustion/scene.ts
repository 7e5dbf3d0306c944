import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DavitClient } from '../../demo/client.ts'
import { aRepository } from '../../deployments/apps.ts'
import { pathOf } from '../../deployments/events.ts'
import type { Key } from '../../deployments/events.ts'
import type { Files } from '../../support/git-server.ts'
import { anInstallation } from '../../support/installation.ts'

export type Scene = Awaited<ReturnType<typeof aScene>>

/** Milliseconds after which an act that has not ended is given up. */
const patience = 60_000

/** A Davit of its own with one member-like user, and instruments that look at it from outside. */
export async function aScene(command: string[]) {
  const davit = anInstallation({ command })
  const { client, pid, url } = await davit.start()
  const meter = await startMeter(url)

  return {
    davit,
    client,
    url,
    /** A project whose repository holds these files, and its first environment. */
    async project(files: Files, settings: Record<string, unknown> = {}) {
      const repository = aRepository(davit.directory, files, `${Bun.randomUUIDv7()}.git`)
      const body = { name: Bun.randomUUIDv7(), repositoryUrl: repository.url, ...settings }
      const project = await client.post<{ id: string; webhookSecret: string }>('/projects', body)
      const path = `/projects/${project.id}/envs`
      const { items } = await client.get<{ items: { id: string }[] }>(path)
      return { ...project, repository, environmentId: items[0]!.id }
    },
    /** Deploys, and waits until that has ended in whatever way. */
    async deploy({ id }: { id: string }) {
      const key = await client.post<Key>(`/projects/${id}/deployments`)
      await ended(client, key)
      return key
    },
    /**
     * Does it while the meter runs: the longest answer of the health page in milliseconds, the most
     * memory beyond that of before in MiB, and how long it took in seconds; null if it did not end.
     */
    async measure(act: () => Promise<unknown>) {
      await meter.read()
      writeFileSync(`/proc/${pid}/clear_refs`, '5') // the peak begins again from here
      const before = peakMemory(pid)
      const from = performance.now()
      const inTime = await Promise.race([
        act().then(() => true),
        Bun.sleep(patience).then(() => false),
      ])
      const seconds = inTime ? (performance.now() - from) / 1000 : null
      return { pause: (await meter.read()).longest, memory: peakMemory(pid) - before, seconds }
    },
    async leave() {
      meter.stop()
      await Promise.race([davit.stop(), Bun.sleep(5000)])
      await davit.kill().catch(() => {}) // one that hangs ends no other way
      await davit.leave()
    },
  }
}

async function ended(client: DavitClient, key: Key) {
  const body = await client.stream(`${pathOf(key)}/logs`, null)
  for await (const _ of body) continue
}

/** Of Davit's own answers, or those of an app at a host. */
export async function startMeter(url: string, ...host: string[]) {
  const program = join(import.meta.dir, 'pause-meter.ts')
  const child = Bun.spawn([process.execPath, program, url, ...host], {
    stdin: 'pipe',
    stdout: 'pipe',
  })
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const read = async () => {
    child.stdin.write('\n')
    await child.stdin.flush()
    const [longest, median] = (await lines.read()).value!.split(' ').map(Number)
    return { longest: longest!, median: median! }
  }
  await read()
  return { read, stop: () => child.kill() }
}

/** MiB. */
const peakMemory = (pid: number) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
