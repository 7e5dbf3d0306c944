import { expect, onTestFinished, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { anApp } from '../deployments/apps.ts'
import { startDavit } from '../support/davit.ts'
import { commitFiles, git, makeRepository, startGitServer } from '../support/git-server.ts'

test('a git push to a host with a webhook ends in the running app, at the pushed commit', async () => {
  const t = await aHost()
  const commit = commitFiles(t.local, anApp('pushed'))
  const from = performance.now()
  git(t.local, ['push', '--quiet', t.remote, 'main'], t.hookEnvironment)
  const received = performance.now()
  const deployment = await t.finished()
  const running = performance.now()

  expect(deployment).toMatchObject({
    status: 'running',
    trigger: 'webhook',
    commit: { hash: commit },
  })
  expect(await (await fetch(deployment.url)).text()).toBe('pushed')
  const seconds = (until: number) => ((until - from) / 1000).toFixed(2)
  console.log(`git push to its end ${seconds(received)} s, to running ${seconds(running)} s`)
})

type Deployment = { id: string; status: string; url: string }

/** A git host whose repository posts to a Davit after each push, and a clone to push from. */
async function aHost() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-push-'))
  const served = join(directory, 'served')
  const remote = makeRepository(served, 'app.git')
  const local = makeRepository(directory, 'local.git')
  const server = startGitServer(served)
  const davit = await startDavit({
    directory,
    env: {
      DAVIT_DATA_DIR: join(directory, 'data'),
      DAVIT_ALLOW_HOSTS: '127.0.0.1',
      DAVIT_SETTLE_TIME: '1',
    },
  })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(60_000) })
  await client.enter('/auth/register', { email: 'ada@example.com', password: crypto.randomUUID() })
  const repositoryUrl = `${server.url}app.git`
  const project = await client.post<{ id: string; webhookSecret: string }>('/projects', {
    name: 'pushed',
    repositoryUrl,
  })
  onTestFinished(async () => {
    await client.delete(`/projects/${project.id}`)
    await davit.stop()
    server.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const hook = join(remote, 'hooks/post-receive')
  const script = join(import.meta.dir, 'post-receive.ts')
  mkdirSync(join(remote, 'hooks'))
  writeFileSync(hook, `#!/bin/sh\nexec '${process.execPath}' '${script}'\n`)
  chmodSync(hook, 0o755)

  return {
    local,
    remote,
    hookEnvironment: {
      HOOK_URL: `${davit.url}/webhooks/github`,
      HOOK_SECRET: project.webhookSecret,
      HOOK_REPOSITORY: repositoryUrl,
    },
    async finished() {
      const path = `/projects/${project.id}/deployments`
      const { items } = await client.get<{ items: Deployment[] }>(path)
      for await (const _ of await client.stream(`${path}/${items[0]!.id}/logs`, null)) continue
      return client.get<Deployment>(`${path}/${items[0]!.id}`)
    },
  }
}
