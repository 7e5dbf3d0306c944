import { afterAll, expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { everything } from './everything.ts'
import { testApp } from './app.ts'

const made: string[] = []

afterAll(async () => {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  for (const id of made) expect(await docker.inspectContainer(id)).toBeNull()
})

test('what a test makes on the engine is gone when it ends', async () => {
  const t = testApp()
  const { container } = await everything(t, t.logIn('ada@example.com'))
  made.push(container)
})
