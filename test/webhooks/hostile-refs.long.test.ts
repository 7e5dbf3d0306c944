import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { factory } from '../../src/web/factory.ts'
import { clientAddress } from '../../src/web/client-address.ts'
import { webhookRoutes } from '../../src/webhooks/routes.ts'
import { aCommand, finished, logOf } from '../deployments/apps.ts'
import { testApp } from '../support/app.ts'
import { commitFiles, git, makeRepository } from '../support/git-server.ts'
import { aProject, aPush, post, sent } from './senders.ts'

let directory: string
let marker: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'davit-refs-'))
  marker = join(directory, 'm')
})

afterAll(() => rmSync(directory, { recursive: true }))

/** Branches that git has nothing against, and that a shell would run. */
test.each([
  () => `$(touch\${IFS}${marker})`,
  () => `a;touch\${IFS}${marker}`,
  () => `a\`touch\${IFS}${marker}\``,
  () => `a|touch\${IFS}${marker}`,
  () => `'"<script>alert(1)</script>`,
])('a pushed branch that a shell would run is a name and no more (%#)', async (name) => {
  const branch = name()
  const t = testApp()
  const app = factory.createApp().use(clientAddress([]))
  app.route('/', webhookRoutes(t.deps))
  const owner = t.logIn('ada@example.com')
  const path = makeRepository(directory, `${Bun.randomUUIDv7()}.git`)
  const after = commitFiles(path, aCommand('exit 3')) // ends at the gate: the branch has been everywhere by then
  git(path, ['update-ref', `refs/heads/${branch}`, after])
  const repositoryUrl = `file://${path}`
  await aProject(owner, { repositoryUrl, branch })
  const push = aPush({
    ref: `refs/heads/${branch}`,
    after,
    repository: { clone_url: repositoryUrl },
  })

  const { status, json } = await post({ app }, sent.gitea(push))
  expect(status).toBe(202)
  const [deployment] = json.deployments
  const ended = await finished(owner, deployment)
  expect(ended).toMatchObject({ status: 'failed', branch, commit: { hash: after } })
  expect(ended.error.step).toBe('deploying')
  expect(await logOf(owner, deployment)).not.toBeEmpty()
  expect(existsSync(marker)).toBe(false)
})

test('the pushed commit is deployed, not where the branch points by then', async () => {
  const t = testApp()
  const app = factory.createApp().use(clientAddress([]))
  app.route('/', webhookRoutes(t.deps))
  const owner = t.logIn('ada@example.com')
  const path = makeRepository(directory, `${Bun.randomUUIDv7()}.git`)
  const after = commitFiles(path, aCommand('exit 3'), { message: 'The one that was pushed' })
  commitFiles(path, aCommand('exit 4'), { message: 'A later one' })
  const repositoryUrl = `file://${path}`
  await aProject(owner, { repositoryUrl })
  const push = aPush({ after, repository: { clone_url: repositoryUrl } })
  const { json } = await post({ app }, sent.gitea(push))
  const ended = await finished(owner, json.deployments[0])
  expect(ended.commit).toMatchObject({ hash: after, message: 'The one that was pushed' })
})
