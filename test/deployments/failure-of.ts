import { expect } from 'bun:test'
import { testApp } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { aProject, logOf } from './apps.ts'

type Error = { step: string; code: string; message: string; hint: string }

/** Deploys the files once and returns why it failed, and its log. */
export async function failureOf(
  files: Files,
  settings: Parameters<typeof aProject>[3] = {},
  asked = {},
) {
  const t = testApp({}, { config: { settleTime: 60_000 } }) // which one that fails never waits for
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, files, { healthTimeout: 2, ...settings })
  const deployment = await project.deploy(asked)
  expect(deployment.status).toBe('failed')
  expect(deployment.finishedAt).toBeString()
  expect(deployment).toMatchObject({ containerId: null, image: null })
  expect(await t.docker.listContainers({ labels: [label(t)], all: true })).toEqual([])
  expect(await t.docker.listImages({ labels: [label(t)] })).toEqual([])
  const { error } = deployment as { error: Error }
  for (const text of [error.message, error.hint]) expect(text).toMatch(/^[A-Z“].*\.$/)
  const log = await logOf(ada, deployment)
  expect(log.at(-1)).toBe(`Failed: ${error.message} ${error.hint}`)
  return { ...error, log, deployment }
}

const label = ({ instanceId }: { instanceId: string }) => `davit.instance=${instanceId}`
