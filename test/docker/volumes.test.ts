import { expect, test } from 'bun:test'
import { sandbox } from './sandbox.ts'

const { docker, labels, name, run } = sandbox()

test('a volume keeps what one container wrote for the next', async () => {
  const volume = name()
  await docker.createVolume({ name: volume, labels })
  await docker.createVolume({ name: volume, labels })
  const volumes = [{ name: volume, path: '/data' }]
  await docker.waitForExit(await run('echo kept > /data/file', { volumes }))
  const reader = await run('grep -q kept /data/file', { volumes })
  expect(await docker.waitForExit(reader)).toEqual({ exitCode: 0 })

  const mine = { labels: [Object.entries(labels)[0]!.join('=')] }
  expect(await docker.listVolumes(mine)).toEqual([{ name: volume, labels }])
  expect(await docker.removeVolume(volume).catch((error) => error.status)).toBe(409)
})

test('removing a volume that does not exist is no error', async () => {
  expect(await docker.removeVolume(name())).toBe(false)
})
