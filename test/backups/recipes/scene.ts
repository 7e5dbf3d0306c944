import { afterAll, expect } from 'bun:test'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { compatCapabilities } from '../../../src/docker/index.ts'
import type { ContainerOptions } from '../../../src/docker/index.ts'
import type { Contents } from '../../../src/backups/recipes/contents.ts'
import { dump, inspect, load } from '../../../src/backups/recipes/index.ts'
import type { Source, Target, ToolDeps } from '../../../src/backups/recipes/tool.ts'
import { recipeOf } from '../../../src/backups/recipes/recipe.ts'
import type { Component } from '../../../src/runtime/component.ts'
import { connectDocker } from '../../../src/docker/index.ts'
import { execIn } from '../../support/exec.ts'
import { until } from '../../support/until.ts'

/** Servers of one test file, without network, and what is dumped of them, in memory. */
export function scene() {
  const docker = connectDocker()
  const deps: ToolDeps = {
    docker,
    instanceId: `test-${Bun.randomUUIDv7()}`,
    config: { networkPool: null } as never,
  }
  const labels = { 'davit.instance': deps.instanceId }
  const mine = { labels: [`davit.instance=${deps.instanceId}`], all: true }

  afterAll(async () => {
    for (const { id } of await docker.listContainers(mine))
      await docker.removeContainer(id, { force: true, volumes: true })
  })

  /** Those of tools that still run. */
  const listTools = () =>
    docker.listContainers({ labels: [...mine.labels, 'davit.kind=backup'], all: true })

  return {
    ...{ deps, listTools },
    /** The code that it fails with, if it does, without leaving a tool. */
    async failing(work: Promise<unknown>) {
      const error = await work.then(
        () => null,
        (error) => error,
      )
      expect(await listTools()).toEqual([])
      return (error as { code: string } | null)?.code
    },

    /** Starts a server and waits until it accepts its own credentials. */
    async start(
      image: string,
      { ready, ...options }: Partial<ContainerOptions> & { ready: string[] },
    ): Promise<
      Target & { run: (command: string[], env?: Record<string, string>) => Promise<string> }
    > {
      const given = { image, volumes: [{ name: 'data', path: '/data' }], ...options }
      const component = {
        name: 'db',
        options: given,
        files: [],
        oneShot: false,
      } as never as Component
      const [source] = recipeOf({ id: 'x', components: [component], backup: null }).databases
      const containerId = await docker.createContainer({
        ...{ name: `test-${Bun.randomUUIDv7()}`, image, labels, network: 'none' },
        ...{
          memoryBytes: 512 * 2 ** 20,
          cpus: 2,
          pidsLimit: 256,
          capabilities: compatCapabilities,
        },
        ...options,
      })
      await docker.startContainer(containerId)
      const run = async (command: string[], env: Record<string, string> = {}) => {
        const { exitCode, output } = await execIn(containerId, command, {
          env: { ...source!.env, ...env },
        })
        if (exitCode !== 0) throw new Error(output)
        return output
      }
      await until(() =>
        run(ready).then(
          () => true,
          () => false,
        ),
      )
      return { source: source!, containerId, ownerId: 'ada', run }
    },
  }
}

export type Kept = { contents: Contents; files: Map<string, Buffer> }

const never = new AbortController().signal

export async function dumped(deps: ToolDeps, target: Target, signal = never) {
  const files = new Map<string, Buffer>()
  const { folders, ...contents } = await dump(deps, {
    ...target,
    signal,
    async each({ name, write }) {
      const chunks: Buffer[] = []
      const to = new Writable({
        write(chunk, _, done) {
          chunks.push(Buffer.from(chunk))
          done()
        },
      })
      await write(to, signal)
      files.set(name, Buffer.concat(chunks)) // only now it is complete
    },
  })
  return { contents, files, folders }
}

export const loaded = (
  deps: ToolDeps,
  target: Target,
  { contents, files, database }: Kept & { database?: string },
) =>
  load(deps, {
    ...target,
    contents,
    database,
    signal: never,
    read: (file, to, signal) =>
      pipeline(
        async function* () {
          const bytes = files.get(file)!
          for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
        },
        to,
        { signal, end: false },
      ),
  })

export const inspected = (deps: ToolDeps, target: Target) =>
  inspect(deps, { ...target, signal: never })

export type { Source }
