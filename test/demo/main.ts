import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { ensureBusyboxImage, ensureEngine } from '../support/machine.ts'
import { DavitClient } from './client.ts'
import { checkApp, watch } from './deploy.ts'
import type { Deployment } from './deploy.ts'
import type { Commit } from './sample.ts'
import { serveSample } from './sample.ts'
import { bold, dim, heading, red, say, success } from './terminal.ts'
import { removeProject } from './tidy.ts'

// The main job, shown: from a git URL to a running app, a change to it, and back again. Davit runs
// as a user would run it and is driven over HTTP alone. `--once` ends by itself, with status 0 only
// if the app answered each time as it should.

const once = process.argv[2] === '--once'
if (process.argv.length > (once ? 3 : 2)) {
  console.error('npm run demo [-- --once]')
  process.exit(2)
}

const end = new AbortController()
const { signal } = end
const interrupted = new Error('Interrupted. Everything that it made is removed.')
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(name, () => end.abort(interrupted))

try {
  await ensureEngine({ say })
  await ensureBusyboxImage({ say })
  signal.throwIfAborted()
  await demonstrate()
  success('Everything that it made is removed.')
  process.exit(0)
} catch (error) {
  const isInterrupted = error === interrupted
  console.error(isInterrupted ? interrupted.message : red(`\nThe demo failed. ${explain(error)}`))
  process.exit(isInterrupted ? 130 : 1)
}

async function demonstrate() {
  await using made = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'davit-demo-'))
  made.defer(() => rm(directory, { recursive: true }))
  const sample = serveSample(join(directory, 'repositories'))
  made.defer(sample.stop)

  const env = { DAVIT_DATA_DIR: join(directory, 'data'), DAVIT_ALLOW_HOSTS: '127.0.0.1' }
  const server = await startDavit({ directory, env, detached: true })
  made.defer(async () => void (await server.stop()))
  void server.exited.then((status) => end.abort(new Error(`Davit ended, with status ${status}.`)))
  success(`Davit runs at ${server.url}`)

  const davit = new DavitClient({ url: server.url, signal })
  const account = { email: 'demo@example.com', password: crypto.randomUUID() }
  await davit.enter('/auth/register', account)
  const project = await davit.post<{ id: string }>('/projects', {
    name: 'hello',
    repositoryUrl: sample.url,
  })
  made.defer(() => removeProject(davit, project.id))
  success(`${account.email} has a project for ${sample.url}`)

  const deployments = `/projects/${project.id}/deployments`
  const follow = async (started: Deployment, commit: Commit) => {
    const deployment = await watch(davit, started)
    await checkApp(deployment, { commit, signal })
    success(`${deployment.url} says “${commit.greeting}”`)
    return deployment
  }

  heading('Deploy the first commit')
  const hello = sample.commit('Hello')
  const first = await follow(await davit.post(deployments), hello)

  heading('Commit a change and deploy again')
  const ahoy = sample.commit('Ahoy')
  await follow(await davit.post(deployments), ahoy)

  heading('Roll back to the first deployment')
  const back = await follow(await davit.post(`${deployments}/${first.id}/rollback`), hello)

  heading('See for yourself')
  say(`  page     ${bold(`${server.url}${deployments}/${back.id}`)}`)
  say(`  app      ${bold(back.url)}`)
  say(`  account  ${account.email}, password ${account.password}`)
  if (once) return
  say(dim('\nCtrl-C ends it and removes everything that it made.'))
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  if (signal.reason !== interrupted) throw signal.reason
}

/** Also what went wrong while tidying up after what went wrong. */
function explain(error: unknown): string {
  if (error instanceof SuppressedError)
    return `${explain(error.suppressed)} ${explain(error.error)}`
  return error instanceof Error ? error.message : String(error)
}
