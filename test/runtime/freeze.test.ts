import { expect, test } from 'bun:test'
import type { RestartPolicy } from '../../src/docker/index.ts'
import { freeze, standingOf, startAgain } from '../../src/runtime/freeze.ts'
import { isUp } from '../../src/runtime/workload.ts'
import { sandbox } from '../docker/sandbox.ts'

const { docker, options } = sandbox()

async function aContainer(restart: RestartPolicy, { runs }: { runs: boolean }) {
  const command = ['sh', '-c', 'trap "exit 143" TERM; while :; do sleep 0.1; done']
  const id = await docker.createContainer({ ...options(), command })
  await docker.setRestartPolicy(id, restart)
  if (runs) await docker.startContainer(id)
  return id
}

/** What a container is, and what Docker does with it at its own start. */
async function look(id: string) {
  const found = await docker.inspectContainer(id)
  return found && { isUp: isUp(found), policy: found.restartPolicy }
}

const onFailure = { name: 'on-failure', maximumRetries: 3 } as const

test('what stands still isn’t started by Docker, and is put back as it was', async () => {
  const ids = await Promise.all([
    aContainer({ name: 'always' }, { runs: true }),
    aContainer(onFailure, { runs: true }),
    aContainer({ name: 'always' }, { runs: false }),
    aContainer({ name: 'no' }, { runs: false }),
  ])
  const before = await Promise.all(ids.map(look))
  const standing = await standingOf(docker, ids)
  expect(standing.map(({ id, wasUp }) => [id, wasUp])).toEqual([
    [ids[0]!, true],
    [ids[1]!, true],
    [ids[2]!, false],
  ])
  for (const one of standing) await freeze(docker, one)
  const still = { isUp: false, policy: { name: 'no' as const } }
  expect(await Promise.all(ids.map(look))).toEqual([still, still, still, still])
  expect(await standingOf(docker, ids)).toEqual([])
  for (const one of standing) await startAgain(docker, one)
  expect(await Promise.all(ids.map(look))).toEqual(before)
})

test('one that was removed meanwhile is left out', async () => {
  const id = await aContainer({ name: 'always' }, { runs: true })
  const [one] = await standingOf(docker, [id])
  await freeze(docker, one!)
  await docker.removeContainer(id)
  await startAgain(docker, one!)
  expect(await look(id)).toBeNull()
})
