import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import type { RestartPolicy } from '../../src/docker/index.ts'
import { stayStopped } from '../../src/runtime/freeze.ts'
import { until } from '../support/until.ts'
import { startPrivateEngine } from './private-engine.ts'

const policies: RestartPolicy[] = [
  { name: 'always' },
  { name: 'on-failure', maximumRetries: 0 },
  { name: 'on-failure', maximumRetries: 3 },
  { name: 'unless-stopped' },
]

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'what is to stay stopped isn’t started by an engine that ended by %s, as others are by its policy',
  async (signal) => {
    await using engine = await startPrivateEngine()
    const docker = connectDocker({ host: engine.host })
    const make = async (restart: RestartPolicy) => {
      const id = await docker.createContainer({
        ...{ name: `test-${Bun.randomUUIDv7()}`, image: 'busybox:latest', network: 'bridge' },
        command: ['sh', '-c', 'trap "exit 143" TERM; while :; do sleep 0.1; done'],
        ...{ memoryBytes: 2 ** 25, cpus: 1, pidsLimit: 64, stopTimeout: 5, restart },
      })
      await docker.startContainer(id)
      return id
    }
    const [kept, others] = [
      await Promise.all(policies.map(make)),
      await Promise.all(policies.map(make)),
    ]
    for (const id of [...kept, ...others]) await docker.stopContainer(id)
    for (const id of kept) await stayStopped(docker, id)
    const statesOf = async (ids: string[]) =>
      (await Promise.all(ids.map((id) => docker.inspectContainer(id)))).map((one) => one?.state)

    await engine.stop(signal)
    await engine.start()
    const expected = ['running', 'running', 'running', 'exited']
    await until(async () => Bun.deepEquals(await statesOf(others), expected))
    expect(await statesOf(kept)).toEqual(policies.map(() => 'exited'))
  },
)
